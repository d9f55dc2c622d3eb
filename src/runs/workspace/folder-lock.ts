import { createHash, randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { once } from 'node:events';
import { readFile, stat, utimes } from 'node:fs/promises';
import { readdirSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode, SluiceError } from '../../base/index.js';
import { makeFolder, parseJson } from '../../base/files/index.js';
import { get, isRecord } from '../../events/index.js';
import { type ProcessIdentity, getProcessState, identifyOwnProcess } from '../process/process-identity.js';

export interface FolderLock {
  /** Releases the lock; calling it again does nothing. */
  release(): Promise<void>;
}

export interface FolderLockOptions {
  /** Whether to wait until the folder is free, in call order; otherwise a busy folder is an error. */
  readonly wait?: boolean;
  /** Aborts the wait; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** The run that needs the lock, for others that wait for it. */
  readonly run?: string;
  /** Called once if the lock is not free. */
  readonly onBusy?: (holder: LockHolder) => void;
}

export interface LockHolder {
  readonly pid: number;
  /** Null if it is not a run, or unknown. */
  readonly run: string | null;
  /** When it was locked, as an ISO time; null if unknown. */
  readonly since: string | null;
}

export function describeHolder({ pid, run, since }: LockHolder): string {
  return run === null ? `process ${pid}` : `run ${run}${since === null ? '' : ` (started ${since})`}`;
}

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 500;

/** For each folder, a promise that settles when all holders and waiters in this process have left. */
const queues = new Map<string, Promise<void>>();

/**
 * Locks a folder for one run at a time, across all processes that share `locks`. Links to the same folder share its
 * lock; a folder inside another has its own lock. A lock held by an exited process is ignored.
 */
export async function lockFolder(locks: string, folder: string, options: FolderLockOptions = {}): Promise<FolderLock> {
  options.signal?.throwIfAborted();
  return lockClaims(findClaimFolder(locks, folder), folder, options);
}

/** Waits for the lock on a file, across all processes that share `locks`. The file need not exist yet. */
export async function lockFile(
  locks: string,
  path: string,
  options: Pick<FolderLockOptions, 'signal'>,
): Promise<FolderLock> {
  options.signal?.throwIfAborted();
  return lockClaims(getClaimFolder(locks, resolve(path)), path, { ...options, wait: true });
}

const holders = new Map<string, LockHolder>();

async function lockClaims(claimFolder: string, path: string, options: FolderLockOptions): Promise<FolderLock> {
  const { wait, signal, run = null } = options;
  const previous = queues.get(claimFolder);
  if (previous !== undefined) {
    const holder = holders.get(claimFolder) ?? { pid: process.pid, run: null, since: null };
    if (wait !== true) throw createBusyError(path, holder);
    options.onBusy?.(holder);
  }
  let endTurn: (() => void) | undefined;
  const turn = new Promise<void>((settle) => {
    endTurn = settle;
  });
  const queueEnd = Promise.all([previous, turn]).then(() => undefined);
  queues.set(claimFolder, queueEnd);
  const leave = (): void => {
    endTurn?.();
    if (queues.get(claimFolder) === queueEnd) queues.delete(claimFolder);
  };
  try {
    await waitOrAbort(previous, signal);
    const holder = { pid: process.pid, run, since: new Date().toISOString() };
    const claim = await waitForClaim(claimFolder, holder, path, {
      ...options,
      onBusy: (found) => previous === undefined && options.onBusy?.(found),
    });
    holders.set(claimFolder, holder);
    let released: Promise<void> | undefined;
    return {
      async release() {
        if (released === undefined) holders.delete(claimFolder);
        released ??= claim.release().finally(leave);
        await released;
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Returns the folder for the claims on a folder, by its real path; synchronous, so callers keep their order. */
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

async function waitForClaim(claimFolder: string, holder: LockHolder, path: string, options: FolderLockOptions) {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const claim = await tryClaim(claimFolder, holder);
    if (!('heldBy' in claim)) return claim;
    if (options.wait !== true) throw createBusyError(path, claim.heldBy);
    if (pause === FIRST_PAUSE_MS) options.onBusy?.(claim.heldBy);
    // A random pause, so two processes that block each other do not retry simultaneously.
    await waitOrAbort(sleep(pause * (0.5 + Math.random())), options.signal);
  }
}

function createBusyError(folder: string, holder: LockHolder): SluiceError {
  return new SluiceError(
    'WORKING_FOLDER_BUSY',
    `The folder "${folder}" is in use by ${describeHolder(holder)}. Wait for it to end, or use another folder.`,
  );
}

async function waitOrAbort(waiting: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (signal === undefined || waiting === undefined) return void (await waiting);
  const listening = new AbortController();
  const aborted = once(signal, 'abort', { signal: listening.signal }).catch(() => undefined);
  await Promise.race([waiting, aborted]);
  listening.abort();
  signal.throwIfAborted();
}

/** How often the owner touches its file, to show processes in other containers that it is alive. */
const HEARTBEAT_MS = 10_000;
const MAX_SILENCE_MS = 60_000;

/**
 * Creates a claim in a folder of claims, then checks for others. Two processes cannot both succeed, because each checks
 * after creating its claim; a process that finds another claim removes its own and returns the owner of the other. No
 * name is used twice, so a dead claim can be removed without the risk of removing a new one. The calls are synchronous,
 * because they take microseconds and the thread pool ten times as long.
 */
export async function tryClaim(
  folder: string,
  { run, since }: Pick<LockHolder, 'run' | 'since'> = { run: null, since: null },
): Promise<FolderLock | { readonly heldBy: LockHolder }> {
  const own = formatClaimName(await identifyOwnProcess());
  await createClaim(folder, own, JSON.stringify({ run, since }));
  const heldBy = await findOtherOwner(folder, own);
  if (heldBy !== undefined) {
    rmSync(join(folder, own), { force: true });
    return { heldBy };
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(join(folder, own), now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    async release() {
      clearInterval(heartbeat);
      rmSync(join(folder, own), { force: true });
      try {
        rmdirSync(folder);
      } catch {
        // Another process has created a claim meanwhile.
      }
    },
  };
}

/** The owner is part of the name, so a claim never exists without its owner. */
function formatClaimName({ pid, started }: ProcessIdentity): string {
  return [pid, Buffer.from(started ?? '').toString('base64url'), randomUUID()].join('.');
}

function readClaim(name: string): ProcessIdentity {
  const [pid = '', started = ''] = name.split('.');
  return { pid: Number(pid), started: started === '' ? null : Buffer.from(started, 'base64url').toString() };
}

async function createClaim(folder: string, name: string, content: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeFolder(folder);
      writeFileSync(join(folder, name), content, { flag: 'wx' });
      return;
    } catch (error) {
      // The previous owner can remove the empty folder at any time.
      if (!/^(?:EEXIST|ENOENT)$/.test(getErrorCode(error) ?? '') || attempt === 10) throw error;
    }
  }
}

/** Returns the owner of another valid claim. */
async function findOtherOwner(folder: string, own: string): Promise<LockHolder | undefined> {
  for (const name of readdirSync(folder)) {
    if (name === own) continue;
    const holder = readClaim(name);
    if (!(await isDead(join(folder, name), holder)))
      return { pid: holder.pid, ...(await readHolder(join(folder, name))) };
    rmSync(join(folder, name), { force: true });
  }
  return undefined;
}

async function isDead(path: string, holder: ProcessIdentity): Promise<boolean> {
  const state = await getProcessState(holder);
  if (state !== 'unknown') return state === 'gone';
  const stats = await stat(path).catch(() => undefined);
  return stats === undefined || Date.now() - stats.mtimeMs > MAX_SILENCE_MS;
}

/** Reads which run a claim belongs to. Its file can be empty, because it is created before it is written. */
async function readHolder(path: string): Promise<Pick<LockHolder, 'run' | 'since'>> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const content = parseJson(text);
  return isRecord(content)
    ? { run: get.name(content, 'run'), since: get.name(content, 'since') }
    : { run: null, since: null };
}
