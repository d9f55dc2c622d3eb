import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, writeFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { terminateOrphans } from './terminate-orphans.js';
import { identifyOwnProcess, identifyProcess, readProcessStat } from './process-identity.js';
import { recordProcess } from './process-record.js';

const OWNER = new URL('fixtures/owner.mjs', import.meta.url);

const isRunning = (pid: number): boolean => readProcessStat(pid)?.isZombie === false;

/**
 * Starts a Sluice process that runs an agent; returns it with the process ids of the agent, its child, and an escaped
 * child.
 */
async function startOwner(folder: string, ...args: string[]): Promise<{ owner: ChildProcess; agents: number[] }> {
  const program = await bundleProgram(OWNER);
  const owner = program.start([join(folder, 'processes'), join(folder, 'runs', 'one'), ...args]);
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const agents = JSON.parse(line.toString()) as number[];
  onTestFinished(() => {
    for (const pid of [owner.pid ?? 0, ...agents].filter(isRunning)) process.kill(pid, 'SIGKILL');
  });
  return { owner, agents };
}

async function kill(owner: ChildProcess): Promise<void> {
  owner.kill('SIGKILL');
  await once(owner, 'exit');
}

describe.runIf(process.platform === 'linux')('after kill -9 of Sluice', () => {
  it.each([[[]], [['unrecorded']]])(
    'its agents are found and terminated, including processes that left the group (%s)',
    async (args) => {
      const folder = await makeFolder({});
      const { owner, agents } = await startOwner(folder, ...args);
      await kill(owner);
      expect(agents.map(isRunning)).toEqual([true, true, true]);

      const terminated = await terminateOrphans(join(folder, 'processes'), { graceMs: 100 });

      expect(new Set(terminated.map(({ pid }) => pid))).toEqual(new Set(agents));
      expect(new Set(terminated.map(({ runDir }) => runDir))).toEqual(new Set([join(folder, 'runs', 'one')]));
      expect(agents.map(isRunning)).toEqual([false, false, false]);
      expect(await readdir(join(folder, 'processes'))).toEqual([]);
      expect(await terminateOrphans(join(folder, 'processes'))).toEqual([]);
    },
  );

  it('processes of a running Sluice process are not touched', async () => {
    const folder = await makeFolder({});
    const { agents } = await startOwner(folder);
    expect(await terminateOrphans(join(folder, 'processes'), { graceMs: 100 })).toEqual([]);
    expect(agents.map(isRunning)).toEqual([true, true, true]);
    expect(await readdir(join(folder, 'processes'))).toHaveLength(1);
  });

  it('a run that a running Sluice process has resumed is not touched', async () => {
    const folder = await makeFolder({});
    const { agents } = await startOwner(folder);
    await writeRecord(folder, { owner: { pid: 4_999_999, started: null }, run_dir: join(folder, 'runs', 'one') });
    expect(await terminateOrphans(join(folder, 'processes'), { graceMs: 100 })).toEqual([]);
    expect(agents.map(isRunning)).toEqual([true, true, true]);
  });
});

async function writeRecord(folder: string, first: object, second?: object): Promise<string> {
  (await recordProcess(join(folder, 'processes'), 'x')).remove();
  const path = join(folder, 'processes', `planted.process`);
  await writeFile(path, [first, second].map((value) => (value === undefined ? '' : JSON.stringify(value))).join('\n'));
  return path;
}

describe.runIf(process.platform === 'linux')('a record', () => {
  const deadOwner = { pid: 4_999_999, started: null };

  it('terminates nothing if its process id belongs to another process', async () => {
    const folder = await makeFolder({});
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const pid = bystander.pid ?? 0;
    const identity = await identifyProcess(pid);
    const earlier = { pid, started: `${identity?.started ?? ''}0` };
    await writeRecord(folder, { owner: deadOwner, run_dir: join(folder, 'runs', 'one') }, { process: earlier });
    expect(await terminateOrphans(join(folder, 'processes'))).toEqual([]);
    expect(isRunning(pid)).toBe(true);
  });

  it.each([
    ['for a run in this data folder', 'runs/one'],
    ['for another folder', 'elsewhere/one'],
  ])('forged by an agent terminates no process that Sluice did not start: %s', async (_, run) => {
    const folder = await makeFolder({});
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const pid = bystander.pid ?? 0;
    const targetProcess = await identifyProcess(pid);
    await writeRecord(folder, { owner: deadOwner, run_dir: join(folder, run) }, { process: targetProcess });
    expect(await terminateOrphans(join(folder, 'processes'), { graceMs: 100 })).toEqual([]);
    expect(isRunning(pid)).toBe(true);
  });

  it('terminates nothing of a claimed run, for any record', async () => {
    const folder = await makeFolder({});
    const env = { ...process.env, SLUICE_RUN_DIR: join(folder, 'runs/one') };
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, env });
    onTestFinished(() => void agent.kill('SIGKILL'));
    const pid = agent.pid ?? 0;
    await expect.poll(() => readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('SLUICE_RUN_DIR=');
    const record = [
      { owner: deadOwner, run_dir: env.SLUICE_RUN_DIR },
      { process: await identifyProcess(pid) },
    ] as const;
    await writeRecord(folder, ...record);
    const checkedRunDirs: string[] = [];
    const isOrphan = (answer: boolean) => async (found: { readonly runDir: string }) => {
      checkedRunDirs.push(found.runDir);
      return answer;
    };
    expect(await terminateOrphans(join(folder, 'processes'), { isOrphan: isOrphan(false), graceMs: 100 })).toEqual([]);
    expect(isRunning(pid)).toBe(true);
    expect(await terminateOrphans(join(folder, 'processes'), { isOrphan: isOrphan(true), graceMs: 100 })).toHaveLength(
      1,
    );
    expect(isRunning(pid)).toBe(false);
    expect(checkedRunDirs).toEqual([env.SLUICE_RUN_DIR, env.SLUICE_RUN_DIR]);
  });

  it('terminates nothing without a start time', async () => {
    const folder = await makeFolder({});
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const pid = bystander.pid ?? 0;
    await writeRecord(
      folder,
      { owner: deadOwner, run_dir: join(folder, 'runs', 'one') },
      { process: { pid, started: null } },
    );
    expect(await terminateOrphans(join(folder, 'processes'))).toEqual([]);
    expect(isRunning(pid)).toBe(true);
  });

  it.each([
    ['torn', '{"owner":{"pi'],
    ['malicious', '{"owner":{"pid":-1},"run_dir":"/"}'],
    ['empty', ''],
  ])('that is %s is removed after a day', async (_how, text) => {
    const folder = await makeFolder({ 'processes/planted.process': text });
    const path = join(folder, 'processes/planted.process');
    expect(await terminateOrphans(join(folder, 'processes'))).toEqual([]);
    expect(await readdir(join(folder, 'processes'))).toEqual(['planted.process']);
    await utimes(path, 0, 0);
    await terminateOrphans(join(folder, 'processes'));
    expect(await readdir(join(folder, 'processes'))).toEqual([]);
  });

  it('can belong to a Sluice process that was its container’s first process', async () => {
    const folder = await makeFolder({});
    const namespace = (await identifyOwnProcess()).started?.replace(/\d+$/, '') ?? '';
    await writeRecord(folder, {
      owner: { pid: 1, started: `${namespace}999999999999` },
      run_dir: join(folder, 'runs', 'one'),
    });
    await terminateOrphans(join(folder, 'processes'));
    expect(await readdir(join(folder, 'processes'))).toEqual([]);
  });

  it('from another boot or container is not touched', async () => {
    const folder = await makeFolder({});
    await writeRecord(folder, {
      owner: { pid: process.pid, started: 'boot/1/1' },
      run_dir: join(folder, 'runs', 'one'),
    });
    expect(await terminateOrphans(join(folder, 'processes'))).toEqual([]);
    expect(await readdir(join(folder, 'processes'))).toHaveLength(1);
  });

  it('is removed with the process', async () => {
    const folder = await makeFolder({});
    const record = await recordProcess(join(folder, 'processes'), join(folder, 'runs', 'one'));
    record.addProcess(await identifyOwnProcess());
    expect(await readdir(join(folder, 'processes'))).toHaveLength(1);
    record.remove();
    expect(await readdir(join(folder, 'processes'))).toEqual([]);
  });

  it('need not exist', async () => {
    expect(await terminateOrphans(join(await makeFolder({}), 'processes'))).toEqual([]);
  });
});
