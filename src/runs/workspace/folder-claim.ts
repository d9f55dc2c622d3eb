import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../files/index.js';
import { getErrorCode } from '../../base/index.js';
import type { ProcessIdentity } from '../process/process-identity.js';
import { identifyOwnProcess, getProcessState } from '../process/process-identity.js';

/** A successful claim. No other running process holds a claim on the same folder. */
export interface FolderClaim {
  release(): Promise<void>;
}

/** How often the owner touches its file, to show processes in other containers that it is alive. */
const HEARTBEAT_MS = 10_000;
const MAX_SILENCE_MS = 60_000;

/**
 * Creates a claim in a folder of claims, then checks for others. Two processes cannot both succeed, because each checks
 * after creating its claim; a process that finds another claim removes its own and returns the owner of the other. No
 * name is used twice, so a dead claim can be removed without the risk of removing a new one.
 */
export async function tryClaim(folder: string): Promise<FolderClaim | { readonly heldBy: number }> {
  const own = formatClaimName(await identifyOwnProcess());
  await createClaim(folder, own);
  const heldBy = await findOtherOwner(folder, own);
  if (heldBy !== undefined) {
    await rm(join(folder, own), { force: true });
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
      await rm(join(folder, own), { force: true });
      // Not empty if another process has created a claim meanwhile.
      await rmdir(folder).catch(() => undefined);
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

async function createClaim(folder: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeFolder(folder);
      await writeFile(join(folder, name), '', { flag: 'wx' });
      return;
    } catch (error) {
      // The previous owner can remove the empty folder at any time.
      if (!/^(?:EEXIST|ENOENT)$/.test(getErrorCode(error) ?? '') || attempt === 10) throw error;
    }
  }
}

/** Returns the process id of another valid claim. */
async function findOtherOwner(folder: string, own: string): Promise<number | undefined> {
  for (const name of await readdir(folder)) {
    if (name === own) continue;
    const holder = readClaim(name);
    if (!(await isDead(join(folder, name), holder))) return holder.pid;
    await rm(join(folder, name), { force: true });
  }
  return undefined;
}

async function isDead(path: string, holder: ProcessIdentity): Promise<boolean> {
  const state = await getProcessState(holder);
  if (state !== 'unknown') return state === 'gone';
  const stats = await stat(path).catch(() => undefined);
  return stats === undefined || Date.now() - stats.mtimeMs > MAX_SILENCE_MS;
}
