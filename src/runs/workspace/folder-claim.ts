import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../files/index.js';
import { getErrorCode } from '../../base/index.js';
import type { ProcessIdentity } from '../process/process-identity.js';
import { identifyOwnProcess, getProcessState } from '../process/process-identity.js';

/** A successful claim: no other living process has one. */
export interface FolderClaim {
  takeDown(): Promise<void>;
}

/** How often a holder touches its file, to show that it is alive where its process cannot be checked (another container). */
const HEARTBEAT_MS = 10_000;
const SILENT_MS = 60_000;

/**
 * Creates a claim in a folder of claims, then checks for others. Two cannot both succeed, because each checks after creating its
 * own; a process that finds another claim removes its own and reports the other. No name is used twice, so a dead claim can be
 * removed without removing a new one.
 */
export async function tryClaim(place: string): Promise<FolderClaim | { readonly heldBy: number }> {
  const own = nameClaim(await identifyOwnProcess());
  await putUp(place, own);
  const heldBy = await findOther(place, own);
  if (heldBy !== undefined) {
    await rm(join(place, own), { force: true });
    return { heldBy };
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(join(place, own), now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    async takeDown() {
      clearInterval(heartbeat);
      await rm(join(place, own), { force: true });
      // Not empty when another has claimed meanwhile.
      await rmdir(place).catch(() => undefined);
    },
  };
}

/** The name says whose claim it is, so a claim is never there without its owner. */
function nameClaim({ pid, started }: ProcessIdentity): string {
  return [pid, Buffer.from(started ?? '').toString('base64url'), randomUUID()].join('.');
}

function readClaim(name: string): ProcessIdentity {
  const [pid = '', started = ''] = name.split('.');
  return { pid: Number(pid), started: started === '' ? null : Buffer.from(started, 'base64url').toString() };
}

async function putUp(place: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeFolder(place);
      await writeFile(join(place, name), '', { flag: 'wx' });
      return;
    } catch (error) {
      // The previous holder may remove the empty folder, before or after it is detected.
      if (!/^(?:EEXIST|ENOENT)$/.test(getErrorCode(error) ?? '') || attempt === 10) throw error;
    }
  }
}

/** The process number of another living claim. */
async function findOther(place: string, own: string): Promise<number | undefined> {
  for (const name of await readdir(place)) {
    if (name === own) continue;
    const holder = readClaim(name);
    if (!(await isVoid(join(place, name), holder))) return holder.pid;
    await rm(join(place, name), { force: true });
  }
  return undefined;
}

async function isVoid(path: string, holder: ProcessIdentity): Promise<boolean> {
  const state = await getProcessState(holder);
  if (state !== 'unknown') return state === 'gone';
  const found = await stat(path).catch(() => undefined);
  return found === undefined || Date.now() - found.mtimeMs > SILENT_MS;
}
