import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files/index.js';
import type { Store } from '../store/index.js';
import { RequestError } from './http/problem.js';

/** The checks that must pass before new work is accepted. */
interface ReadyCheckOptions {
  readonly store: Pick<Store, 'listRuns'>;
  /** The folder that this process writes runs to; undefined if it runs no worker. */
  readonly writesTo: string | undefined;
}

/** As much as a short run writes. */
const TRIAL_BYTES = 64 * 1024;
/** How long a check is valid: anyone may request it, and each check costs a write. */
const VALID_MS = 1000;

/**
 * Creates the check behind `/readyz`: the store responds and the data folder is writable. Throws `NOT_READY`.
 *
 * @example
 * const checkReady = createReadyCheck({ store, writesTo: data })
 * await checkReady()
 */
export function createReadyCheck({ store, writesTo }: ReadyCheckOptions): () => Promise<void> {
  let trial: Promise<void> | undefined;

  async function tryOnce(folder: string): Promise<void> {
    trial ??= tryToWrite(folder).finally(() => {
      setTimeout(() => (trial = undefined), VALID_MS).unref();
    });
    return trial;
  }

  return async () => {
    await store.listRuns({ limit: 1 }).catch((cause: unknown) => {
      throw new RequestError(
        'NOT_READY',
        'The store does not respond. See the server log for the reason, then try again.',
        { cause },
      );
    });
    if (writesTo === undefined) return;
    await tryOnce(writesTo).catch((cause: unknown) => {
      throw new RequestError(
        'NOT_READY',
        'Cannot write to the data folder. See the server log for the reason, then try again.',
        {
          cause,
        },
      );
    });
  };
}

/** A new file each time: overwriting an existing one succeeds even on a full disk. */
async function tryToWrite(folder: string): Promise<void> {
  const file = join(folder, `.ready-${process.pid}`);
  await makeFolder(folder);
  await rm(file, { force: true });
  try {
    await writeFile(file, Buffer.alloc(TRIAL_BYTES), { flag: 'wx', flush: true });
  } finally {
    await rm(file, { force: true });
  }
}
