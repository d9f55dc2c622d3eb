import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packCase, unpackCase } from './code-panel.js';

test.each([
  { text: '', schemaText: '' },
  { text: '{"a": \'é😀\u0000\u202E\',}', schemaText: '{ "type": "object" }' },
  { text: '<img src=x onerror=alert(1)>'.repeat(2000), schemaText: '' },
])('a case is read unchanged from its link', async (shared) => {
  const fragment = await packCase(shared);
  expect(fragment).toMatch(/^#case=[\w-]*$/);
  expect(await unpackCase(fragment ?? '')).toEqual(shared);
});

test('a case that is too long has no link', async () => {
  const random = Array.from({ length: 60_000 }, (_, index) => String.fromCodePoint(33 + ((index * 7919) % 5000))).join(
    '',
  );
  expect(await packCase({ text: random.repeat(80), schemaText: '' })).toBeNull();
});

const pack = (value: string): string => `#case=${deflateRawSync(value).toString('base64url')}`;

test.each([
  '',
  '#case=',
  '#other=x',
  '#case=%%%',
  '#case=AAAA',
  pack('[]'),
  pack('{"text":1,"schemaText":""}'),
  pack('{"text":"x"'),
  pack('x'.repeat(10_000_000)),
])('a fragment without a case is ignored (%#)', async (fragment) => {
  expect(await unpackCase(fragment)).toBeNull();
});
