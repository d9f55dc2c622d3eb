import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { openStore } from '../../store/index.js';
import type { CommandContext } from '../command-context.js';
import { admitRemoteWorkers } from './serve.js';

const TOKENS = [{ name: 'fleet', scopes: ['worker'], value: 'a-worker-token-with-32-characters' }];

async function openContexts() {
  const store = await openStore('memory:');
  onTestFinished(async () => store.close());
  return (data: string, tokens: readonly object[] = TOKENS) =>
    ({ config: { data, tokens }, store, logger: silentLogger }) as unknown as CommandContext;
}

it('refuses a second server for workers over HTTPS that has another data folder and no archive', async () => {
  const create = await openContexts();
  const first = await admitRemoteWorkers(create('/data/a'), false);
  await expect(admitRemoteWorkers(create('/data/b'), false)).rejects.toThrow('Configure an archive');
  // After a crash, the same server gets its lease back immediately.
  await admitRemoteWorkers(create('/data/a'), false).then(async (restarted) => restarted.stop());
  await first.stop();
  await admitRemoteWorkers(create('/data/b'), false).then(async (second) => second.stop());
});

it('accepts any number of servers with an archive, or without workers over HTTPS', async () => {
  const create = await openContexts();
  const first = await admitRemoteWorkers(create('/data/a'), false);
  await expect(admitRemoteWorkers(create('/data/b'), true)).resolves.toBeDefined();
  await expect(admitRemoteWorkers(create('/data/b', []), false)).resolves.toBeDefined();
  await first.stop();
});
