import { expect, it } from 'vitest';
import { readSchemaText } from './locate-path.js';

it('blank input means no schema', () => {
  expect(readSchemaText(' \n')).toEqual({ ok: true, schema: undefined });
});

it('valid input is read as a schema', () => {
  const reading = readSchemaText('{"type": "integer"}');
  expect(reading.ok && reading.schema?.['~standard'].validate('x')).toMatchObject({ issues: [{ path: [] }] });
});

it.each([
  ['a truncated schema', '{"type": "object"', 17],
  ['a trailing comma', '{"type": "object",}', 17],
  ['text after the schema', '{"type": "object"} x', 18],
  ['text before the schema', ' schema = {"type": "object"}', 1],
  ['an unknown type', '{"properties": {"a": {"type": "strin"}}}', 30],
  ['an unknown type below a key with a slash', '{"properties": {"a/b": {"type": 5}}}', 32],
])('%s is reported with its location', (_, text, offset) => {
  const reading = readSchemaText(text);
  expect(reading.ok ? null : reading.problem.offset).toBe(offset);
});

it.each(['[]', '"text"', 'no json at all'])('%s is refused without a location', (text) => {
  expect(readSchemaText(text)).toMatchObject({ ok: false, problem: { offset: null } });
});
