import { DEFAULT_OPTIONS } from './examples.js';
import { expect, test } from 'vitest';
import { parse } from '../../../src/json/index.js';
import { fromJsonSchema } from '../../../src/json/schema/index.js';
import { toParseOptions, suggestOptions } from './inspect.js';
import type { WorkbenchOptions } from './inspection.js';

const SCORE = fromJsonSchema({
  type: 'object',
  properties: { score: { type: 'integer' }, note: { type: 'string' } },
  required: ['score'],
});

function suggest(text: string, schema?: typeof SCORE, changes: Partial<WorkbenchOptions> = {}) {
  const options = { ...DEFAULT_OPTIONS, ...changes };
  const result = parse(text, schema, toParseOptions(options, schema));
  return suggestOptions(text, schema, options, result).map(({ name }) => name);
}

test('a truncated value suggests allowing partial values', () => {
  expect(suggest('{"a": [1, 2')).toEqual(['partial']);
});

test('a near miss suggests aligning', () => {
  expect(suggest('{"score": "7"}', SCORE)).toEqual(['align']);
});

test('a truncated near miss suggests both, because neither alone helps', () => {
  expect(suggest('{"score": "7", "note": "unfin', SCORE)).toEqual(['both']);
});

test('a profile that does not search the input suggests the default one', () => {
  expect(suggest('Here it is: {"score": 7,}', SCORE, { profile: 'generic' })).toContain('profile');
});

test('nothing is suggested if nothing would help', () => {
  expect(suggest('no answer at all')).toEqual([]);
  expect(suggest('{"score": 7}', SCORE)).toEqual([]);
});

test('different values that match suggest the last one', () => {
  expect(suggest('First {"score": 1}, then {"score": 2}.', SCORE)).toEqual(['last']);
});

test('input that takes long to parse is not tried again', () => {
  expect(suggest(`{"a": ["${'x'.repeat(200_000)}"`)).toEqual([]);
});
