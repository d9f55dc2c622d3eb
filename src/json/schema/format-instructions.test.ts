import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { alignable, formatInstructions, fromJsonSchema } from './index.js';

const SCHEMA = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] } as const;

describe('formatInstructions', () => {
  test("contains the answer's form and the schema, and no Sluice markers", () => {
    expect(formatInstructions(SCHEMA)).toBe(
      [
        'Answer with one JSON object that is valid under this JSON Schema:',
        JSON.stringify(SCHEMA),
        'Write the JSON only: no other text, no Markdown, no code fence.',
      ].join('\n'),
    );
  });

  test.each([
    ['an array', { type: 'array', items: { type: 'string' } }, 'one JSON array'],
    ['any value', { enum: [1, 'x'] }, 'one JSON value'],
    ['a schema in an envelope', { name: 'issue', strict: true, schema: SCHEMA }, 'one JSON object'],
  ])('names the form: %s', (_, schema, form) => {
    expect(formatInstructions(schema)).toContain(form);
  });

  test('requests tags if the answer is parsed with profile tagged', () => {
    expect(formatInstructions(SCHEMA, { profile: 'tagged' })).toContain('between <json> and </json>');
    expect(formatInstructions(SCHEMA)).not.toContain('<json>');
  });

  test.each([
    ['fromJsonSchema', fromJsonSchema(SCHEMA)],
    ['zod', z.object({ line: z.number() })],
    ['zod 3', z3.object({ line: z3.number() })],
    ['valibot', v.object({ line: v.number() })],
    ['arktype', type({ line: 'number' })],
    ['alignable', alignable(z.object({ line: z.number() }))],
  ])('accepts a schema from %s', (_, schema) => {
    const text = formatInstructions(schema);
    expect(text).toContain('one JSON object');
    expect(text).toContain('"line"');
    expect(text).not.toContain('$schema');
  });

  test("uses the schema's input, not its output", () => {
    expect(formatInstructions(z.object({ line: z.string().transform(Number) }))).toContain('{"type":"string"}');
  });

  test.each([
    [5, 'INVALID_SCHEMA'],
    [{ colour: 'red' }, 'INVALID_SCHEMA'],
    [{ '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } }, 'ALIGN_UNSUPPORTED'],
  ])('refuses %o', (schema, code) => {
    expect(() => formatInstructions(schema as object)).toThrow(expect.objectContaining({ code }));
  });
});
