import { describe, expect, test } from 'vitest';
import { parse } from '../json/parse.js';
import { ANSWERS } from './fixtures/answers.js';
import { fromJsonSchema } from './from-json-schema.js';

describe.each(Object.entries(ANSWERS))('align: %s', (_kind, answers) => {
  const read = answers.filter((answer) => 'value' in answer);
  const refused = answers.filter((answer) => !('value' in answer));

  test.each(read)('reads $title', ({ text, schema, value, allowPartial = false }) => {
    const result = parse(text, fromJsonSchema(schema), { align: true, allowPartial });
    expect(result).toMatchObject({ ok: true, value });
    expect(result).toHaveProperty('value', value);
  });

  test.each(refused)('refuses $title', ({ text, schema, allowPartial = false }) => {
    expect(parse(text, fromJsonSchema(schema), { align: true, allowPartial }).ok).toBe(false);
  });
});
