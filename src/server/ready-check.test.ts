import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import { openStore } from '../store/open-store.js';
import { createReadyCheck } from './create-server.js';

const notReady = (message: string) => ({ code: 'NOT_READY', message: expect.stringContaining(message) });

async function openCheck(writesTo: string | undefined) {
  const store = await openStore('memory:');
  onTestFinished(async () => store.close());
  return { store, check: createReadyCheck(store, writesTo) };
}

describe('the readiness check', () => {
  it('passes if the store responds and the folder is writable, and removes its test file', async () => {
    const folder = join(await makeFolder({}), 'data');
    const { check } = await openCheck(folder);
    await check();
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not check the folder without a worker', async () => {
    const { check } = await openCheck(undefined);
    await expect(check()).resolves.toBeUndefined();
  });

  it('fails if the store does not respond', async () => {
    const { store, check } = await openCheck(undefined);
    await store.close();
    await expect(check()).rejects.toMatchObject(notReady('store'));
  });

  it('fails while the folder is not writable', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = join(await makeFolder({}), 'data');
    await writeFile(folder, 'a file in its place');
    const { check } = await openCheck(folder);
    await expect(check()).rejects.toMatchObject(notReady('data folder'));
    await rm(folder);
    // The result of a check is reused for all requests shortly after it.
    await expect(check()).rejects.toMatchObject(notReady('data folder'));
    vi.advanceTimersByTime(1000);
    await check();
  });
});
