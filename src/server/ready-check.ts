import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../base/files/index.js';
import type { Store } from '../store/index.js';
import { RequestError } from './http/problem.js';

/** Options for the readiness check. */
interface ReadyCheckOptions {
  readonly store: Pick<Store, 'listRuns'>;
  /** The folder that this process writes runs to; undefined if it runs no worker. */
  readonly writesTo: string | undefined;
}

/** The size of the test file: as much as a short run writes. */
const TEST_BYTES = 64 * 1024;
/** How long a result is reused, because every check writes a file and anyone can request one. */
const VALID_MS = 1000;

/**
 * Creates the check for `/readyz`, which throws `NOT_READY` unless the store responds and the data folder is writable.
 *
 * @example
 * const checkReady = createReadyCheck({ store, writesTo: data })
 * await checkReady()
 */
export function createReadyCheck({ store, writesTo }: ReadyCheckOptions): () => Promise<void> {
  let pending: Promise<void> | undefined;

  async function checkWritable(folder: string): Promise<void> {
    pending ??= tryToWrite(folder).finally(() => {
      setTimeout(() => (pending = undefined), VALID_MS).unref();
    });
    return pending;
  }

  return async () => {
    await store.listRuns({ limit: 1 }).catch((cause: unknown) => {
      throw new RequestError(
        'NOT_READY',
        'The store does not respond. See the server log for the reason, fix it, then try again.',
        { cause },
      );
    });
    if (writesTo === undefined) return;
    await checkWritable(writesTo).catch((cause: unknown) => {
      throw new RequestError(
        'NOT_READY',
        'Cannot write to the data folder. See the server log for the reason, fix it, then try again.',
        {
          cause,
        },
      );
    });
  };
}

/** Writes a test file. It must be a new file, because overwriting an existing one succeeds even on a full disk. */
async function tryToWrite(folder: string): Promise<void> {
  const file = join(folder, `.ready-${process.pid}`);
  await makeFolder(folder);
  await rm(file, { force: true });
  try {
    await writeFile(file, Buffer.alloc(TEST_BYTES), { flag: 'wx', flush: true });
  } finally {
    await rm(file, { force: true });
  }
}
