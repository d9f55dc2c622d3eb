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
  /** Waits until the folder is free, first come first served within this process; otherwise a busy folder is an error. */
  readonly wait?: boolean;
  /** Ends the waiting; its reason is thrown. */
  readonly signal?: AbortSignal;
}

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 500;

/** For each folder a promise that settles when everyone in this process who holds or waits for its lock has released it. */
const lines = new Map<string, Promise<void>>();

/**
 * Locks a folder for one run at a time, across all processes that share `locks`. Links to the same folder are the same
 * folder; a folder inside another has its own lock. The lock of a process that died does not count.
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
  return lockPlace(getPlace(locks, folder), { wait, signal, busy: (holder) => busy(folder, holder) });
}

/**
 * Locks a file for one writer at a time, across all processes that share `locks`, and waits for the lock. The file need not
 * exist yet.
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
  return lockPlace(formatPlace(locks, resolve(path)), { wait: true, signal, busy: (holder) => busy(path, holder) });
}

interface Waiting {
  readonly wait: boolean;
  readonly signal: AbortSignal | undefined;
  /** The error of one that does not wait. */
  readonly busy: (holder: number) => SluiceError;
}

async function lockPlace(place: string, waiting: Waiting): Promise<FolderLock> {
  const { wait, signal } = waiting;
  const ahead = lines.get(place);
  if (ahead !== undefined && !wait) throw waiting.busy(process.pid);
  const turn = new AbortController();
  const line = Promise.all([ahead, once(turn.signal, 'abort')]).then(() => undefined);
  lines.set(place, line);
  const leave = (): void => {
    turn.abort();
    if (lines.get(place) === line) lines.delete(place);
  };
  try {
    await orAbort(ahead, signal);
    const claim = await claimPlace(place, waiting);
    let released: Promise<void> | undefined;
    return {
      async release() {
        released ??= claim.takeDown().finally(leave);
        await released;
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Claims are stored by the real path, which is resolved synchronously, so that callers are served in the order of their calls. */
function getPlace(locks: string, folder: string): string {
  let real: string;
  try {
    real = realpathSync.native(folder);
  } catch (cause) {
    throw new SluiceError(
      'WORKING_FOLDER_UNREADABLE',
      `Cannot read the working folder "${folder}". Create it, or use another.`,
      { cause },
    );
  }
  return formatPlace(locks, real);
}

function formatPlace(locks: string, path: string): string {
  return join(resolve(locks), createHash('sha256').update(path).digest('hex').slice(0, 40));
}

async function claimPlace(place: string, { wait, signal, busy: refuse }: Waiting): Promise<FolderClaim> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const claim = await tryClaim(place);
    if (!('heldBy' in claim)) return claim;
    if (!wait) throw refuse(claim.heldBy);
    // A random pause, so that of two processes that block each other one tries again sooner.
    await orAbort(sleep(pause * (0.5 + Math.random())), signal);
  }
}

function busy(folder: string, holder: number): SluiceError {
  return new SluiceError(
    'WORKING_FOLDER_BUSY',
    `Another run uses the folder "${folder}" (process ${holder}). Wait for it, or give this run another folder.`,
  );
}

async function orAbort(waiting: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<void> {
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
