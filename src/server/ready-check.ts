import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files/index.js';
import type { Store } from '../store/index.js';
import { RequestError } from './request-error.js';

/** What must be in order for new work to be done. */
export interface ReadyCheckOptions {
  readonly store: Pick<Store, 'listRuns'>;
  /** The folder that runs of this process are written to; undefined if others do the work. */
  readonly writesTo: string | undefined;
}

/** As much as a short run leaves. */
const TRIAL_BYTES = 64 * 1024;
/** How long a trial counts: anyone may ask as often as they like, and it costs a write. */
const COUNTS_MS = 1000;

/**
 * Makes the check behind `/readyz`: the store answers, and the disk takes what runs leave there. Throws `NOT_READY`.
 *
 * @example
 * const checkReady = createReadyCheck({ store, writesTo: '.sluice' })
 * await checkReady()
 */
export function createReadyCheck({ store, writesTo }: ReadyCheckOptions): () => Promise<void> {
  let trial: Promise<void> | undefined;

  async function tryOnce(folder: string): Promise<void> {
    trial ??= tryToWrite(folder).finally(() => {
      setTimeout(() => (trial = undefined), COUNTS_MS).unref();
    });
    return trial;
  }

  return async () => {
    await store.listRuns({ limit: 1 }).catch((cause: unknown) => {
      throw new RequestError('NOT_READY', 'The store does not answer; the log says why. Ask again.', { cause });
    });
    if (writesTo === undefined) return;
    await tryOnce(writesTo).catch((cause: unknown) => {
      throw new RequestError('NOT_READY', 'The data folder takes nothing more; the log says why. Ask again.', {
        cause,
      });
    });
  };
}

/** A file of its own each time: in one that is there already, a full disk would take the same bytes again. */
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
