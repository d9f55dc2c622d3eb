import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { RunSpec } from '../../store/records/run-spec.js';
import { computeCacheKey } from './result-caches.js';

const VERSION_1 = { engineVersion: '1.0.0' } as const;

async function makeSpec(): Promise<RunSpec> {
  const workdir = await mkdtemp(join(tmpdir(), 'sluice-key-'));
  onTestFinished(async () => rm(workdir, { recursive: true, force: true }));
  await writeFile(join(workdir, 'a.txt'), 'one');
  return {
    engine: 'codex',
    prompt: 'Review a.txt.',
    workdir,
    input_files: ['a.txt'],
    contract: { schema: { type: 'object', properties: {} } },
  };
}

test('limits, cache settings, explicit defaults and key order do not change the key', async () => {
  const spec = await makeSpec();
  const key = await computeCacheKey(spec, VERSION_1);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  const other: RunSpec = {
    ...spec,
    limits: { time_s: 1 },
    cache: 'refresh',
    mode: 'auto',
    permissions: 'safe',
    contract: { schema: { properties: {}, type: 'object' }, profile: 'default', align: false },
  };
  expect(await computeCacheKey(other, VERSION_1)).toBe(key);
});

test.each<[string, Partial<RunSpec>]>([
  ['engine', { engine: 'claude' }],
  ['prompt', { prompt: 'Review b.txt.' }],
  ['model', { model: 'gpt-5.5' }],
  ['command', { engine: 'command', command: ['ls'] }],
  ['schema', { contract: { schema: { type: 'object', properties: { a: true } } } }],
  ['library schema', { contract: { schema: z.object({ a: z.number() }) } }],
  ['profile', { contract: { schema: { type: 'object', properties: {} }, profile: 'tagged' } }],
  ['contract option', { contract: { schema: { type: 'object', properties: {} }, align: true } }],
  ['contract', { contract: {} }],
  ['permissions', { permissions: 'workspace' }],
  ['mode', { mode: 'interactive' }],
  ['list of input files', { input_files: [] }],
  ['list with a missing input file', { input_files: ['a.txt', 'b.txt'] }],
])('a different %s changes the key', async (_, change) => {
  const spec = await makeSpec();
  expect(await computeCacheKey({ ...spec, ...change }, VERSION_1)).not.toBe(await computeCacheKey(spec, VERSION_1));
});

test('a different engine version changes the key', async () => {
  const spec = await makeSpec();
  expect(await computeCacheKey(spec, { engineVersion: '1.0.1' })).not.toBe(await computeCacheKey(spec, VERSION_1));
});

test('an approval rule in the spec or the configuration changes the key if permissions are requested', async () => {
  const spec = await makeSpec();
  const approvals = [{ tool: 'Bash', decide: 'deny' }] as const;
  const asking: RunSpec = { ...spec, permissions: 'ask' };
  const key = await computeCacheKey(asking);
  expect(await computeCacheKey({ ...asking, approvals })).not.toBe(key);
  expect(await computeCacheKey(asking, { approvals })).not.toBe(key);
  expect(await computeCacheKey({ ...spec, approvals }, { approvals })).toBe(await computeCacheKey(spec));
});

test('a variable changes the key only if the spec names it and its value is not a secret', async () => {
  const spec = { ...(await makeSpec()), env: ['TARGET', 'SHOP_*'] };
  const before = { TARGET: 'test', SHOP_API_KEY: 'k-1', SHOP_URL: 'https://me:one@shop.test', OTHER: '1' };
  const computeKey = async (change: Readonly<Record<string, string>>) =>
    computeCacheKey(spec, { environment: { ...before, ...change } });
  const key = await computeKey({});
  expect(await computeKey({ TARGET: 'production' })).not.toBe(key);
  expect(await computeKey({ SHOP_URL: 'https://me:one@other.test' })).not.toBe(key);
  expect(await computeKey({ SHOP_NEW: '' })).not.toBe(key);
  expect(await computeKey({ SHOP_API_KEY: 'k-2', SHOP_URL: 'https://me:two@shop.test', OTHER: '2' })).toBe(key);
});

test('a changed input file changes the key', async () => {
  const spec = await makeSpec();
  const key = await computeCacheKey(spec);
  await writeFile(join(spec.workdir, 'a.txt'), 'two');
  expect(await computeCacheKey(spec)).not.toBe(key);
});

test('an input file that is a link is rejected', async () => {
  const spec = await makeSpec();
  await symlink('/etc/hostname', join(spec.workdir, 'link'));
  await expect(computeCacheKey({ ...spec, input_files: ['link'] })).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
});
