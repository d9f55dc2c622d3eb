import { DEFAULT_OPTIONS } from './examples.js';
import { expect, test } from 'vitest';
import { buildCaseRequest } from './workbench-page.js';

const build = (schemaText: string, options = {}) =>
  buildCaseRequest('a', { text: '{"a": 1}', schemaText, options: { ...DEFAULT_OPTIONS, ...options } });

test('the request for a case contains the input, the options and any schema', () => {
  const body = { name: 'a', text: '{"a": 1}', profile: 'default', allow_partial: true };
  expect(build(' \n', { allowPartial: true, align: true })).toEqual(body);
  expect(build('{"type": "object"}', { allowPartial: true, align: true })).toEqual({
    ...body,
    schema: { type: 'object' },
    align: true,
  });
});

test('the option "Prefer" is refused, because a case would silently be parsed without it', () => {
  expect(() => build('', { ambiguous: 'last' })).toThrow('a case has no option "If ambiguous"');
});

test.each([
  ['{"type"', 'the schema is not valid JSON'],
  ['true', 'the schema must be an object'],
  ['[]', 'the schema must be an object'],
])('the schema %s is refused', (schemaText, message) => {
  expect(() => build(schemaText)).toThrow(message);
});
