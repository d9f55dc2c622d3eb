import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SluiceError } from '../../base/index.js';
import type { FolderClaim } from './folder-claim.js';
import { tryClaim } from './folder-claim.js';

/** A lock on a folder. */
export interface FolderLock {
  /** Releases the lock; calling it again does nothing. */
  release(): Promise<void>;
}

export interface FolderLockOptions {
  /**
   * Whether to wait until the folder is free, in call order within this process; otherwise a busy folder is an error.
   */
  readonly wait?: boolean;
  /** Aborts the wait; its reason is thrown. */
  readonly signal?: AbortSignal;
}

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 500;

/**
 * For each folder, a promise that settles when all callers in this process that hold or await its lock have released
 * it.
 */
const queues = new Map<string, Promise<void>>();

/**
 * Locks a folder for one run at a time, across all processes that share `locks`. Links to the same folder share its
 * lock; a folder inside another has its own lock. A lock held by an exited process is ignored.
 *
 * @example
 * const lock = await lockFolder(join(data, 'locks'), workdir, { wait: true, signal });
 * try { … } finally { await lock.release(); }
 */
export async function lockFolder(
  locks: string,
  folder: string,
  { wait = false, signal }: FolderLockOptions = {},
): Promise<FolderLock> {
  signal?.throwIfAborted();
  return lockClaims(findClaimFolder(locks, folder), {
    wait,
    signal,
    createBusyError: (holder) => createBusyError(folder, holder),
  });
}

/**
 * Locks a file for one writer at a time, across all processes that share `locks`, and waits for the lock. The file need
 * not exist yet.
 *
 * @example
 * const lock = await lockFile(join(folder, '.locks'), path, { signal });
 */
export async function lockFile(
  locks: string,
  path: string,
  { signal }: Pick<FolderLockOptions, 'signal'>,
): Promise<FolderLock> {
  signal?.throwIfAborted();
  return lockClaims(getClaimFolder(locks, resolve(path)), {
    wait: true,
    signal,
    createBusyError: (holder) => createBusyError(path, holder),
  });
}

interface LockOptions {
  readonly wait: boolean;
  readonly signal: AbortSignal | undefined;
  /** Creates the error for a caller that does not wait. */
  readonly createBusyError: (holder: number) => SluiceError;
}

async function lockClaims(claimFolder: string, options: LockOptions): Promise<FolderLock> {
  const { wait, signal } = options;
  const previous = queues.get(claimFolder);
  if (previous !== undefined && !wait) throw options.createBusyError(process.pid);
  const turn = new AbortController();
  const queueEnd = Promise.all([previous, once(turn.signal, 'abort')]).then(() => undefined);
  queues.set(claimFolder, queueEnd);
  const leave = (): void => {
    turn.abort();
    if (queues.get(claimFolder) === queueEnd) queues.delete(claimFolder);
  };
  try {
    await waitOrAbort(previous, signal);
    const claim = await waitForClaim(claimFolder, options);
    let released: Promise<void> | undefined;
    return {
      async release() {
        released ??= claim.release().finally(leave);
        await released;
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * Returns the folder that stores the claims on a folder. Its name depends on the real path, which is resolved
 * synchronously, so callers are served in call order.
 */
function findClaimFolder(locks: string, folder: string): string {
  let real: string;
  try {
    real = realpathSync.native(folder);
  } catch (cause) {
    throw new SluiceError(
      'WORKING_FOLDER_UNREADABLE',
      `Cannot read the working folder "${folder}". Create it, or use another folder.`,
      { cause },
    );
  }
  return getClaimFolder(locks, real);
}

function getClaimFolder(locks: string, path: string): string {
  return join(resolve(locks), createHash('sha256').update(path).digest('hex').slice(0, 40));
}

async function waitForClaim(claimFolder: string, options: LockOptions): Promise<FolderClaim> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const claim = await tryClaim(claimFolder);
    if (!('heldBy' in claim)) return claim;
    if (!options.wait) throw options.createBusyError(claim.heldBy);
    // A random pause, so two processes that block each other do not retry simultaneously.
    await waitOrAbort(sleep(pause * (0.5 + Math.random())), options.signal);
  }
}

function createBusyError(folder: string, holder: number): SluiceError {
  return new SluiceError(
    'WORKING_FOLDER_BUSY',
    `Another run is using the folder "${folder}" (process ${holder}). Wait for it to end, or use another folder.`,
  );
}

async function waitOrAbort(waiting: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) {
    await waiting;
    return;
  }
  signal.throwIfAborted();
  const listening = new AbortController();
  const aborted = once(signal, 'abort', { signal: listening.signal }).catch(() => undefined);
  await Promise.race([waiting, aborted]);
  listening.abort();
  signal.throwIfAborted();
}
