import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from '../../json/index.js';
import { toParseOutput } from '../api/shapes/parse.js';
import { readJson, openServer } from '../fixtures/open-server.js';

const schema = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] };

describe('POST /v1/parse', () => {
  it.each([
    ['clean input', { text: '{"line": 3}' }],
    ['input that needs repairs', { text: 'Sure!\n```json\n{line: 3,}\n```' }],
    ['input without JSON', { text: 'I could not find it.' }],
    ['empty input', { text: '' }],
    ['untagged input in profile tagged', { text: 'no tag here', profile: 'tagged' as const }],
    ['truncated input', { text: '<json>{"line": 3, "na', profile: 'tagged' as const, allow_partial: true }],
    ['input that is nested too deeply', { text: '['.repeat(100_000) }],
  ])('returns the same result as the command for %s', async (_, body) => {
    const { post } = await openServer();
    const { text, profile, allow_partial: allowPartial } = { profile: undefined, allow_partial: undefined, ...body };
    const response = await post('/v1/parse', body);
    expect(response.status).toBe(200);
    const expected = toParseOutput(
      parse(text, undefined, { profile: profile ?? 'default', allowPartial: allowPartial ?? false }),
    );
    expect(await readJson(response)).toEqual(JSON.parse(JSON.stringify(expected)));
  });

  it.each([undefined, { type: 'object' }])('returns valid JSON unchanged, with schema %j', async (anySchema) => {
    const { post } = await openServer();
    const text = ' {"price": 2.50, "id": 98765432109876543210, "note": "$& \\u00e9"}\n';
    const response = await (await post('/v1/parse', { text, ...(anySchema && { schema: anySchema }) })).text();
    expect(response).toContain(`"value":${text}`);
    expect(JSON.parse(response)).toEqual(JSON.parse(JSON.stringify(toParseOutput(parse(text)))));
  });

  it('selects the value that the request asks for', async () => {
    const { post } = await openServer();
    const text = 'First {"line": 1}, then {"line": 2}.';
    for (const [ambiguous, line] of [
      ['first', 1],
      ['last', 2],
    ] as const) {
      expect(await readJson(post('/v1/parse', { text, schema, ambiguous }))).toMatchObject({ value: { line } });
    }
    expect(await readJson(post('/v1/parse', { text, ambiguous: 'best' }))).toMatchObject({ code: 'INVALID_BODY' });
  });

  it('checks the value against a schema, and reports its issues', async () => {
    const { post } = await openServer();
    expect(await readJson(post('/v1/parse', { text: '{"line": 3}', schema }))).toMatchObject({
      status: 'success',
      value: { line: 3 },
      repair_level: 'none',
    });
    expect(await readJson(post('/v1/parse', { text: '{"line": "3"}', schema }))).toMatchObject({
      status: 'failed',
      error: { code: 'SCHEMA_MISMATCH', issues: [{ path: ['line'] }] },
    });
    expect(await readJson(post('/v1/parse', { text: '{"line": "3"}', schema, align: true }))).toMatchObject({
      status: 'success',
      value: { line: 3 },
      alignment: [{ path: ['line'], from: '3', to: 3 }],
    });
  });

  it.each([
    ['an invalid schema', { schema: { type: 'objekt' } }, 'INVALID_SCHEMA'],
    ['a schema with an external reference', { schema: { $ref: 'https://example.org/x.json' } }, 'INVALID_SCHEMA'],
    ['alignment without a schema', { align: true }, 'INVALID_BODY'],
  ])('refuses %s', async (_, fields, code) => {
    const { post } = await openServer();
    const response = await post('/v1/parse', { text: '{}', ...fields });
    expect(response.status).toBe(400);
    expect(await readJson(response)).toMatchObject({ code });
  });

  it('refuses a schema that is nested too deeply', async () => {
    const { post } = await openServer();
    const deepSchema = `${'{"not":'.repeat(50_000)}{}${'}'.repeat(50_000)}`;
    const response = await post('/v1/parse', `{"text": "1", "schema": ${deepSchema}}`);
    expect(response.status).toBe(400);
    expect(await readJson(response)).toMatchObject({ code: 'INVALID_SCHEMA' });
  });

  it('treats keys such as __proto__ as ordinary keys', async () => {
    const { post } = await openServer();
    const body = '{"text": "{\\"__proto__\\": {\\"polluted\\": true}, \\"constructor\\": 1}"}';
    const response = await (await post('/v1/parse', body)).text();
    expect(response).toContain('"value":{"__proto__": {"polluted": true}, "constructor": 1}');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('returns quickly for a pattern with exponential backtracking', async () => {
    const { post } = await openServer();
    const slowSchema = { type: 'string', pattern: '^(a+)+$' };
    const response = await post('/v1/parse', { text: `"${'a'.repeat(50_000)}!"`, schema: slowSchema });
    expect(await readJson(response)).toMatchObject({ status: 'failed' });
  });

  it.each([
    [
      'a pattern without characters',
      { type: 'string', pattern: `(?:${'\\B|'.repeat(1600)}\\B)x` },
      `"${'a'.repeat(40_000)}"`,
    ],
    ['a schema with exponentially many branches', { $defs: createBranches(40), $ref: '#/$defs/n40' }, '"x"'],
    ['input that needs a repair for every character', undefined, `[${"'".repeat(600_000)}`],
  ])('does not delay other requests with %s', async (_, slowSchema, text) => {
    const { post } = await openServer();
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    onTestFinished(() => clearInterval(timer));
    const response = await post('/v1/parse', { text, ...(slowSchema === undefined ? {} : { schema: slowSchema }) });
    expect(response.status).toBe(200);
    expect(ticks).toBeGreaterThan(20);
  });

  it('rejects a response that would be far larger than the request', async () => {
    const { post } = await openServer();
    const response = await post('/v1/parse', { text: `[${'1e20,'.repeat(1_600_000)}1,]` });
    expect(response.status).toBe(422);
    expect(await readJson(response)).toMatchObject({ code: 'ANSWER_TOO_LARGE' });
  });

  it('lists the first thousand alignment changes, and counts all', async () => {
    const { post } = await openServer();
    const numbers = { type: 'array', items: { type: 'number' } };
    const response = await readJson(
      post('/v1/parse', { text: `[${'"1",'.repeat(1999)}"1"]`, schema: numbers, align: true }),
    );
    expect(response).toMatchObject({ status: 'success', alignment_count: 2000 });
    expect(response['alignment']).toHaveLength(1000);
  });

  it('is counted in the metrics', async () => {
    const statuses: unknown[] = [];
    const { post } = await openServer({
      meter: {
        countParse: ({ status }) => void statuses.push(status),
        countRequest: () => undefined,
        render: async () => '',
      },
    });
    await post('/v1/parse', { text: '{}' });
    await post('/v1/parse', { text: 'no' });
    expect(statuses).toEqual(['success', 'failed']);
  });
});

/** Creates definitions that each refer to the previous definition twice. */
function createBranches(depth: number): Record<string, object> {
  const definitions: [string, object][] = [['n0', { type: 'number' }]];
  for (let level = 1; level <= depth; level += 1) {
    const next = { $ref: `#/$defs/n${level - 1}` };
    definitions.push([`n${level}`, { anyOf: [next, next] }]);
  }
  return Object.fromEntries(definitions);
}
