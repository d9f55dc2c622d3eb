import { expect, it } from 'vitest';
import { readSchemaText } from './read-schema-text.js';

it('a blank text means no schema', () => {
  expect(readSchemaText(' \n')).toEqual({ ok: true, schema: undefined });
});

it('returns a schema that can be used', () => {
  const reading = readSchemaText('{"type": "integer"}');
  expect(reading.ok && reading.schema?.['~standard'].validate('x')).toMatchObject({ issues: [{ path: [] }] });
});

it.each([
  ['cut off', '{"type": "object"', 17],
  ['a trailing comma', '{"type": "object",}', 17],
  ['something behind', '{"type": "object"} x', 18],
  ['an unknown type', '{"properties": {"a": {"type": "strin"}}}', 30],
  ['an unknown type behind an escaped name', '{"properties": {"a/b": {"type": 5}}}', 32],
])('%s is reported with its location', (_what, text, offset) => {
  const reading = readSchemaText(text);
  expect(reading.ok ? null : reading.problem.offset).toBe(offset);
});

it.each(['[]', '"text"', 'no json at all'])('%s is not a schema, without a location', (text) => {
  expect(readSchemaText(text)).toMatchObject({ ok: false, problem: { offset: null } });
});
