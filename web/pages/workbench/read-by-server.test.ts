import { expect, it } from 'vitest';
import { toParseOutput } from '../../../src/api/parse-output.js';
import { parse } from '../../../src/json/index.js';
import { DEFAULT_OPTIONS } from './examples.js';
import { readByServer } from './read-by-server.js';
import type { AskServer } from './read-by-server.js';
import { readSchemaText } from './read-schema-text.js';

/** Answers as the server does: the same floor, told in the shape of the wire. */
const ask: AskServer = async ({ text, schema, profile = 'default' }) => {
  const reading = readSchemaText(schema === undefined ? '' : JSON.stringify(schema));
  const result = parse(text, reading.ok ? reading.schema : undefined, { profile });
  return JSON.parse(JSON.stringify(toParseOutput(result)));
};
const input = { text: 'So: {"a": 1,}', schemaText: '{"type": "object"}', options: DEFAULT_OPTIONS };

it('tells the value, its candidate and its repairs', async () => {
  const reading = await readByServer(input, ask);
  expect(reading.ok && reading.inspection).toMatchObject({
    outcome: { status: 'success', repairLevel: 'deterministic_generic' },
    candidates: { items: [{ finder: 'prose', start: 4, state: 'taken' }] },
    repairs: { total: 2 },
  });
  expect(reading.ok && reading.writeValue()).toBe('{\n  "a": 1\n}');
});

it('tells why there is no value', async () => {
  const reading = await readByServer({ ...input, schemaText: '{"type": "array"}' }, ask);
  expect(reading.ok && reading.inspection).toMatchObject({
    outcome: { status: 'failed', code: 'SCHEMA_MISMATCH' },
    notes: { items: [{ place: '', message: 'expected array, got object' }] },
  });
});

it('tells a comment', async () => {
  const reading = await readByServer({ ...input, options: { ...DEFAULT_OPTIONS, profile: 'tagged' } }, ask);
  expect(reading.ok && reading.inspection.outcome).toEqual({ status: 'comment' });
});

it('does not ask with a schema that cannot be used', async () => {
  const never: AskServer = async () => {
    throw new Error('asked');
  };
  expect(await readByServer({ ...input, schemaText: '{' }, never)).toMatchObject({ ok: false });
});
