import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openServer } from '../fixtures/open-server.js';

/** Opens a server with enough runs that a list is worth compressing. */
async function openWithRuns() {
  const server = await openServer();
  for (let count = 0; count < 20; count += 1)
    await server.post('/v1/runs', { engine: 'codex', prompt: `Task ${count}: ${'words '.repeat(20)}` });
  return server;
}

it('a polled list is sent once: without a change, the response is 304 without a body', async () => {
  const { app, post } = await openWithRuns();
  const first = await app.request('/v1/runs');
  const tag = first.headers.get('etag') ?? '';
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
  const poll = async () => app.request('/v1/runs', { headers: { 'if-none-match': `"other", ${tag}` } });
  const second = await poll();
  expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([304, '', tag]);
  await post('/v1/runs', { engine: 'codex', prompt: 'Another one.' });
  const third = await poll();
  expect(third.status).toBe(200);
  expect(third.headers.get('etag')).not.toBe(tag);
});

it.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)('a list is compressed with %s if the client accepts it', async (encoding, decompress) => {
  const { app } = await openWithRuns();
  const plain = await app.request('/v1/runs');
  const compressed = await app.request('/v1/runs', { headers: { 'accept-encoding': encoding } });
  expect(compressed.headers.get('content-encoding')).toBe(encoding);
  expect(compressed.headers.get('etag')).toBe(plain.headers.get('etag'));
  const text = await plain.text();
  const bytes = Buffer.from(await compressed.arrayBuffer());
  expect(decompress(bytes).toString()).toBe(text);
  expect(bytes.length * 5).toBeLessThan(text.length);
});

it('small responses, other methods and event streams are sent as they are', async () => {
  const { app, post } = await openWithRuns();
  const headers = { 'accept-encoding': 'br, gzip' };
  const health = await app.request('/healthz', { headers });
  const parsed = await post('/v1/parse', { text: JSON.stringify('x'.repeat(5000)) }, headers);
  for (const response of [health, parsed]) expect(response.headers.get('content-encoding')).toBeNull();
  expect(parsed.headers.get('etag')).toBeNull();
});
