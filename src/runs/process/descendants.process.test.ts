import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { startRun } from '../start-run.js';
import { openCgroup, trackTree } from './descendants.js';
import { waitUntilGone } from './process-group.js';
import { readProcessStat } from './process-identity.js';

const isRunning = (pid: number): boolean => readProcessStat(pid)?.isZombie === false;

/**
 * Leaves its group and session, clears its environment, and prints its process id; its parent waits until stdin is
 * closed.
 */
const ESCAPE = `env -i setsid sh -c 'echo $$; exec sleep 600' & read line`;

async function startEscapingProcess() {
  const child = spawn('sh', ['-c', ESCAPE], { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  const pid = child.pid ?? 0;
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    pid,
    escaped: new Promise<number>((resolve) => {
      child.stdout.once('data', (bytes: Buffer) => {
        const escaped = Number(bytes.toString());
        onTestFinished(() => {
          if (isRunning(escaped)) process.kill(escaped, 'SIGKILL');
        });
        resolve(escaped);
      });
    }),
    escape: async () => {
      child.stdin.end();
      await waitUntilGone(() => !isRunning(pid), 10_000);
    },
  };
}

function spawnBystander(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

describe.runIf(process.platform === 'linux')('descendants without a sandbox', () => {
  it('are terminated with their process tree, even if they left it with a new environment', async () => {
    const { pid, escaped, escape } = await startEscapingProcess();
    const tree = trackTree(pid);
    const escapedPid = await escaped;
    const bystander = spawnBystander();
    const other = trackTree(bystander);
    tree.scan();
    await escape();
    expect(isRunning(escapedPid)).toBe(true);
    await tree.end();
    expect(isRunning(escapedPid)).toBe(false);
    expect(isRunning(bystander)).toBe(true);
    await other.end();
  });

  it('are terminated with a run that is not sandboxed', async () => {
    const folder = await makeFolder({});
    const command = ['sh', '-c', `env -i setsid sh -c 'echo $$; exec sleep 600' & sleep 1`];
    const run = startRun(
      { engine: 'command', command, workdir: folder, sandbox: 'off' },
      { data: join(folder, 'data') },
    );
    const { text } = await run.result;
    expect(Number(text)).toBeGreaterThan(1);
    expect(isRunning(Number(text))).toBe(false);
  });
});

/** Mounts a writable cgroup file system; false if this process is not allowed to. */
function mountCgroups(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'cgroup2', 'none', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(process.platform === 'linux')('a cgroup', () => {
  it('kills everything started in it, and is removed', async ({ skip }) => {
    const folder = await makeFolder({});
    if (!mountCgroups(folder)) skip('no writable cgroups');
    onTestFinished(() => void execFileSync('umount', [folder]));
    const { pid, escaped, escape } = await startEscapingProcess();
    const cgroup = await openCgroup(pid, folder);
    const escapedPid = await escaped;
    await escape();
    expect(isRunning(escapedPid)).toBe(true);
    await cgroup?.end();
    expect(isRunning(escapedPid)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.includes(`-${process.pid}-`))).toEqual([]);
  });

  it('of a killed Sluice process is removed by the next process', async ({ skip }) => {
    const folder = await makeFolder({});
    if (!mountCgroups(folder)) skip('no writable cgroups');
    onTestFinished(() => void execFileSync('umount', [folder]));
    const place = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
    const left = join(folder, `sluice-${place}-${process.pid}-1-1`);
    mkdirSync(left);
    const { pid } = await startEscapingProcess();
    writeFileSync(join(left, 'cgroup.procs'), String(pid));
    const cgroup = await openCgroup(spawnBystander(), folder);
    expect(await waitUntilGone(() => !isRunning(pid), 10_000)).toBe(true);
    await cgroup?.end();
    // Another Sluice process on this host might already have removed the empty cgroup.
    if (existsSync(left)) rmdirSync(left);
  });

  it('is not used if it cannot be written to', async () => {
    expect(await openCgroup(process.pid, '/proc/self')).toBeUndefined();
  });
});
