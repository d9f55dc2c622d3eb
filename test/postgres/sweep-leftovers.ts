import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Test server folders are named with this prefix, their creator's pid, a dash and a random suffix. */
export const FOLDER_PREFIX = 'sluice-postgres-';

/** Kills servers and removes folders in `parent` whose creators exited without cleaning up. */
export async function sweepLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const creator = Number(name.slice(FOLDER_PREFIX.length).split('-')[0]);
    if (!(creator > 0) || isRunning(creator)) continue;
    const folder = join(parent, name);
    await killServer(join(folder, 'data'));
    // Another user's folder is removed by that user's next test run.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Kills a server. Since pids are reused, the process must have been started with this folder. */
async function killServer(data: string): Promise<void> {
  const pid = Number((await readText(join(data, 'postmaster.pid'))).split('\n')[0]);
  if (!(pid > 0) || !isRunning(pid)) return;
  const command = await readText(`/proc/${pid}/cmdline`);
  if (command.split('\0').includes(data)) process.kill(pid, 'SIGKILL');
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return '';
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
