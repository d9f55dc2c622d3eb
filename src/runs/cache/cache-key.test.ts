import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { RunSpec } from '../../records/run-spec.js';
import { computeCacheKey } from './cache-key.js';

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

test('the same input has the same key, with any limits', async () => {
  const spec = await makeSpec();
  const key = await computeCacheKey(spec, '1.0.0');
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  const other: RunSpec = {
    ...spec,
    limits: { time_s: 1 },
    cache: 'refresh',
    mode: 'auto',
    permissions: 'safe',
    contract: { schema: { properties: {}, type: 'object' }, profile: 'default', align: false },
  };
  expect(await computeCacheKey(other, '1.0.0')).toBe(key);
});

test.each<[string, Partial<RunSpec>]>([
  ['engine', { engine: 'claude' }],
  ['prompt', { prompt: 'Review b.txt.' }],
  ['model', { model: 'gpt-5.5' }],
  ['command', { engine: 'command', command: ['ls'] }],
  ['schema', { contract: { schema: { type: 'object', properties: { a: true } } } }],
  ['schema of a library', { contract: { schema: z.object({ a: z.number() }) } }],
  ['profile', { contract: { schema: { type: 'object', properties: {} }, profile: 'tagged' } }],
  ['options', { contract: { schema: { type: 'object', properties: {} }, align: true } }],
  ['contract', { contract: {} }],
  ['permissions', { permissions: 'workspace' }],
  ['mode', { mode: 'interactive' }],
  ['input files', { input_files: [] }],
  ['an input file that is not there', { input_files: ['a.txt', 'b.txt'] }],
])('another %s has another key', async (_, change) => {
  const spec = await makeSpec();
  expect(await computeCacheKey({ ...spec, ...change }, '1.0.0')).not.toBe(await computeCacheKey(spec, '1.0.0'));
});

test('another version of the engine has another key', async () => {
  const spec = await makeSpec();
  expect(await computeCacheKey(spec, '1.0.1')).not.toBe(await computeCacheKey(spec, '1.0.0'));
});

test('a changed input file has another key', async () => {
  const spec = await makeSpec();
  const key = await computeCacheKey(spec, '1.0.0');
  await writeFile(join(spec.workdir, 'a.txt'), 'two');
  expect(await computeCacheKey(spec, '1.0.0')).not.toBe(key);
});

test('an input file that is a link is refused', async () => {
  const spec = await makeSpec();
  await symlink('/etc/hostname', join(spec.workdir, 'link'));
  await expect(computeCacheKey({ ...spec, input_files: ['link'] }, '1')).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
});
