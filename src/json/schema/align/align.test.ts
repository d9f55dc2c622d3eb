import { describe, expect, test } from 'vitest';
import { parse } from '../../parse.js';
import { ALIGNMENT_CASES } from '../fixtures/alignment-cases/all-cases.js';
import { ANSWERS } from '../fixtures/answers.js';
import { NON_JSON_ANSWERS } from '../fixtures/non-json-answers.js';
import { replayChanges } from '../fixtures/replay-changes.js';
import { fromJsonSchema } from '../from-json-schema.js';
import { RULE_COSTS } from './rules.js';

test('every rule has a case that applies it', () => {
  const valueRules = ALIGNMENT_CASES.flatMap(({ schema, aligned = [], partial = [] }) => {
    const { align } = fromJsonSchema(schema)['~sluice'];
    return [...aligned, ...partial].flatMap(([input]) => align(input).changes.map(({ rule }) => rule));
  });
  const textRules = Object.values({ ...ANSWERS, ...NON_JSON_ANSWERS })
    .flat()
    .map(({ text, schema }) => parse(text, fromJsonSchema(schema), { align: true }))
    .flatMap((result) => (result.ok ? result.alignment.map(({ rule }) => rule) : []));
  expect([...new Set([...valueRules, ...textRules])].toSorted()).toEqual(Object.keys(RULE_COSTS).toSorted());
});

describe.each(ALIGNMENT_CASES)('$title', ({ schema, aligned = [], refused = [], valid = [], partial = [] }) => {
  const alignable = fromJsonSchema(schema);
  const { align } = alignable['~sluice'];
  const isValid = (value: unknown) => 'value' in alignable['~standard'].validate(value);

  test.each(aligned.map(([input, expected]) => ({ input, expected })))(
    '$input becomes $expected',
    ({ input, expected }) => {
      const before = JSON.stringify(input);
      const { value, changes } = align(input);
      expect(value).toEqual(expected);
      expect(isValid(value)).toBe(true);
      expect(changes.length).toBeGreaterThan(0);
      expect(replayChanges(input, changes)).toEqual(expected);
      expect(align(value)).toEqual({ value, changes: [] });
      expect(JSON.stringify(input)).toBe(before);
    },
  );

  test.each(refused.map((input) => ({ input })))('$input is refused', ({ input }) => {
    expect(align(input)).toEqual({ value: input, changes: [] });
    expect(isValid(input)).toBe(false);
  });

  test.each(partial.map(([input, expected]) => ({ input, expected })))(
    '$input is partially aligned, and fails',
    ({ input, expected }) => {
      const { value, changes } = align(input);
      expect(value).toEqual(expected);
      expect(replayChanges(input, changes)).toEqual(expected);
      expect(isValid(value)).toBe(false);
    },
  );

  test.each(valid.map((input) => ({ input })))('$input stays unchanged', ({ input }) => {
    expect(isValid(input)).toBe(true);
    const { value, changes } = align(input);
    expect(value).toBe(input);
    expect(changes).toEqual([]);
  });
});
