import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectError, expectSuccess, listWarnings } from './fixtures/outcome.js';
import { parse, type ParseOptions } from './index.js';

/** The `output.schema` of the document's examples. */
const Digest = z.object({
  digest_path: z.string(),
  references_path: z.string(),
  provenance: z.object({ generated_at: z.string(), input_hash: z.string(), model: z.string() }),
  warnings: z.array(z.string()),
  error: z.null(),
});

const DIGEST = {
  digest_path: '.../artifacts/digest.md',
  references_path: '.../artifacts/references.json',
  provenance: { generated_at: '2026-02-14T00:00:00Z', input_hash: 'sha256:...', model: 'gemini-3-pro-preview' },
  warnings: [],
  error: null,
};
const TEXT = JSON.stringify(DIGEST);
const PROFILES: readonly ParseOptions[] = [{ profile: 'generic' }, { profile: 'default' }];

describe.each(PROFILES)('profile $profile, generic rules', (options) => {
  test('reads the raw text first: valid JSON that matches the schema has repair level none', () => {
    const result = parse(TEXT, Digest, options);
    expect(result).toMatchObject({
      ok: true,
      status: 'success',
      value: DIGEST,
      repairLevel: 'none',
      repairs: [],
      warnings: [],
    });
    expect(expectSuccess(result).candidate).toEqual({ finder: 'whole', start: 0, end: TEXT.length });
  });

  test('reads the raw text first: a fence inside a string is content', () => {
    const result = parse('{"note": "```json\\n{}\\n```"}', undefined, options);
    expect(expectSuccess(result).candidate.finder).toBe('whole');
  });

  test('a list that matches the schema has repair level none', () => {
    expect(expectSuccess(parse(`[${TEXT}]`, z.array(Digest), options)).repairLevel).toBe('none');
  });

  test.each([
    ['a code fence', `任务已完成。\n\`\`\`json\n${TEXT}\n\`\`\``],
    ['the second of two code fences', `\`\`\`sh\nmake\n\`\`\`\n\`\`\`json\n${TEXT}\n\`\`\``],
  ])('strips %s around the JSON', (_, text) => {
    const result = parse(text, Digest, options);
    expect(expectSuccess(result).value).toEqual(DIGEST);
    expect(expectSuccess(result).candidate.finder).toBe('fence');
  });

  test('the response field of an envelope contains the JSON as a string', () => {
    const envelope = JSON.stringify({ session_id: 'xxx', response: TEXT }, undefined, 2);
    const result = parse(envelope, Digest, options);
    expect(expectSuccess(result).value).toEqual(DIGEST);
    expect(expectSuccess(result).candidate).toEqual({ finder: 'envelope', start: 0, end: envelope.length });
  });

  test('an envelope whose content does not match the schema still fails', () => {
    const { error: _, ...incomplete } = DIGEST;
    const envelope = JSON.stringify({ session_id: 'xxx', response: JSON.stringify(incomplete) });
    expect(expectError(parse(envelope, Digest, options)).code).toBe('SCHEMA_MISMATCH');
  });

  test('extracts the first JSON object from the surrounding text', () => {
    const text = `The task is complete.\nResult:\n${TEXT}\n附加统计信息...`;
    const result = parse(text, Digest, options);
    const start = text.indexOf('{');
    expect(expectSuccess(result).value).toEqual(DIGEST);
    expect(expectSuccess(result).candidate).toEqual({ finder: 'prose', start, end: start + TEXT.length });
  });

  test.each([
    ['a fence', `Done.\n\`\`\`json\n${TEXT}\n\`\`\``],
    ['a fence without a language', `\`\`\`\n${TEXT}\n\`\`\``],
    ['an envelope', JSON.stringify({ response: TEXT })],
    ['an envelope between log lines', `[start]\n${JSON.stringify({ response: TEXT })}\n[end]`],
    ['an envelope in an envelope', JSON.stringify({ response: JSON.stringify({ response: TEXT }) })],
    ['an envelope in a fence', `\`\`\`json\n${JSON.stringify({ response: TEXT })}\n\`\`\``],
    ['an envelope with prose', JSON.stringify({ response: `Result:\n${TEXT}\nBye` })],
    ['prose around it', `Result:\n${TEXT}\nBye`],
    ['prose only after it', `${TEXT}\nBye`],
    ['braces before it', `Wrote {digest} and {references}: ${TEXT}`],
  ])('%s: success has repair level deterministic_generic and the warning OUTPUT_REPAIRED_GENERIC', (_, text) => {
    const result = parse(text, Digest, options);
    expect(expectSuccess(result)).toMatchObject({ value: DIGEST, repairLevel: 'deterministic_generic' });
    expect(listWarnings(result)).toEqual(['OUTPUT_REPAIRED_GENERIC']);
    expect(expectSuccess(result).repairs.map(({ kind }) => kind)).toEqual(['extracted']);
  });

  test('a list in a fence is a success too', () => {
    const result = parse(`\`\`\`json\n[${TEXT}]\n\`\`\``, z.array(Digest), options);
    expect(expectSuccess(result)).toMatchObject({ value: [DIGEST], repairLevel: 'deterministic_generic' });
  });

  test('JSON without required fields fails, and nothing is filled in', () => {
    const incomplete = { digest_path: DIGEST.digest_path, references_path: DIGEST.references_path };
    const result = parse(JSON.stringify(incomplete), Digest, options);
    const error = expectError(result);
    expect(result).toMatchObject({ ok: false, status: 'failed', repairLevel: 'none', warnings: [] });
    expect(error.code).toBe('SCHEMA_MISMATCH');
    expect(error.value).toEqual(incomplete);
    expect(error.issues?.map((issue) => issue.path)).toEqual([['provenance'], ['warnings'], ['error']]);
  });

  test('JSON without a field of a nested object fails, and nothing is filled in', () => {
    const incomplete = { ...DIGEST, provenance: { generated_at: '2026-02-14T00:00:00Z', input_hash: 'sha256:...' } };
    const error = expectError(parse(JSON.stringify(incomplete), Digest, options));
    expect(error).toMatchObject({ code: 'SCHEMA_MISMATCH', value: incomplete });
    expect(error.issues?.map((issue) => issue.path)).toEqual([['provenance', 'model']]);
  });

  test.each([
    ['a fence', '```json\n{"digest_path":"a"}\n```'],
    ['an envelope', JSON.stringify({ response: '{"digest_path":"a"}' })],
    ['prose', 'Result: {"digest_path":"a"} Bye'],
  ])('in %s: extraction alone is not a success, the repair level stays none', (_, text) => {
    const result = parse(text, Digest, options);
    expect(expectError(result).code).toBe('SCHEMA_MISMATCH');
    expect(result.repairLevel).toBe('none');
    expect(listWarnings(result)).toEqual([]);
  });

  test('the schema decides between the envelope and its content', () => {
    const envelope = JSON.stringify({ response: TEXT });
    expect(expectSuccess(parse(envelope, z.object({ response: z.string() }), options)).candidate.finder).toBe('whole');
    expect(expectSuccess(parse(envelope, Digest, options)).candidate.finder).toBe('envelope');
  });

  test('an envelope can contain a fence with the JSON', () => {
    const envelope = JSON.stringify({ response: `Here you are:\n\`\`\`json\n${TEXT}\n\`\`\`` });
    expect(expectSuccess(parse(envelope, Digest, options)).value).toEqual(DIGEST);
  });

  test.each([
    ['around', `\n\n  ${TEXT}\n`],
    ['before', `\r\n\t${TEXT}`],
    ['after', `${TEXT} \n`],
  ])('white space %s the JSON needs no repair', (_, text) => {
    expect(expectSuccess(parse(text, Digest, options)).repairLevel).toBe('none');
  });

  test('an answer without JSON fails with NO_JSON', () => {
    expect(expectError(parse('任务已完成，没有输出。', Digest, options)).code).toBe('NO_JSON');
  });
});

describe('generic rules: deterministic, and no others', () => {
  test.each([
    ['a repaired success', `Done.\n\`\`\`json\n${TEXT}\n\`\`\``],
    ['a failure after several candidates', '```\n{"digest_path": 1}\n```\n```\n{"digest_path": 2}\n```'],
  ])('the same input has the same result every time: %s', (_, text) => {
    expect(parse(text, Digest, { profile: 'generic' })).toEqual(parse(text, Digest, { profile: 'generic' }));
  });

  test.each([
    '{"digest_path": "a",}',
    "{'digest_path': 'a'}",
    '{digest_path: "a"}',
    '{"digest_path": "a"',
    '{"a": None}',
    '{"digest_path": "a\tb"}',
  ])('profile generic does not repair the JSON itself: %s', (text) => {
    const error = expectError(parse(text, undefined, { profile: 'generic' }));
    expect(['SYNTAX', 'TRUNCATED']).toContain(error.code);
  });

  test('profile generic does not repair the JSON in an envelope either', () => {
    const text = JSON.stringify({ response: `${TEXT.slice(0, -1)},}` });
    expect(expectError(parse(text, Digest, { profile: 'generic' })).code).toBe('SCHEMA_MISMATCH');
  });

  test('profile generic tries only the first JSON object in running text', () => {
    const error = expectError(parse(`First {"draft": 1}, then ${TEXT}`, Digest, { profile: 'generic' }));
    expect(error).toMatchObject({ code: 'SCHEMA_MISMATCH', value: { draft: 1 } });
  });

  test('a lone brace in running text does not hide the first JSON object', () => {
    const result = parse(`The object starts with { as usual: ${TEXT}`, Digest, { profile: 'generic' });
    expect(expectSuccess(result)).toMatchObject({ value: DIGEST, repairLevel: 'deterministic_generic' });
  });

  test.each(['{"a": {"b": 1}', '{\n  "a": {"b": 1},', '{a: {"b": 1}', '{'])(
    'a part of a truncated object is not the first JSON object: Result: %s',
    (text) => {
      expect(expectError(parse(`Result: ${text}`, undefined, { profile: 'generic' })).code).toBe('NO_JSON');
    },
  );

  test('finishes quickly on a fence followed by many spaces', () => {
    const text = `\`\`\`${' '.repeat(100_000)}x`;
    expect(expectError(parse(text, undefined, { profile: 'generic' })).code).toBe('NO_JSON');
  });

  test('reports the issues of the best candidate, not the last', () => {
    const text = `Log {not json} and {"digest_path": 7} and more`;
    const error = expectError(parse(text, z.object({ digest_path: z.string() })));
    expect(error.code).toBe('SCHEMA_MISMATCH');
    expect(error.issues?.[0]?.path).toEqual(['digest_path']);
  });
});
