import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Sandbox } from '../open-sandbox.js';
import { createSidecar, joinSidecar, openSidecar, type SidecarRequest } from './open-sidecar.js';

/** A pod's folders and its sidecar; `user` is that of the agent's container, `isFirst` its place there. */
async function startSidecar({ user, isFirst = false }: { readonly user?: number; readonly isFirst?: boolean } = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-sidecar-')));
  const [socket, workdir, runDir] = [join(root, 's'), join(root, 'data/worktrees/w'), join(root, 'data/runs/r')];
  for (const folder of [workdir, join(runDir, '.audit')]) await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(runDir, 'work_order.json'), '{}', { mode: 0o600 });
  await writeFile(join(runDir, '.audit', 'stdout.1.log'), 'private', { mode: 0o600 });
  if (user !== undefined) {
    await chown(root, 0, GROUP);
    await chmod(root, 0o2770);
    await changeGroup(root);
  }
  const identity = user === undefined ? {} : { uid: user, gid: GROUP };
  const program = [process.execPath, '-e', createSidecar(), '--', socket];
  // The first process of its own namespace, as in a container.
  const words = isFirst ? ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', ...program] : program;
  const sidecar = spawn(words[0] ?? '', words.slice(1), {
    cwd: '/',
    env: { PATH: process.env['PATH'], HOME: '/nowhere', OWN: 'sidecar' },
    stdio: ['ignore', 'inherit', 'inherit'],
    ...identity,
  });
  onTestFinished(async () => {
    sidecar.kill('SIGKILL');
    await rm(root, { recursive: true, force: true });
  });
  const joined = await joinSidecar(socket, 30_000);
  onTestFinished(() => joined.close());
  const open = async (...command: [string, ...string[]]): Promise<Sandbox> => {
    const env = { PATH: '/worker/only', SLUICE_RUN_DIR: runDir, KEY: 'value' };
    const request: SidecarRequest = { command, workdir, runDir, env, network: 'host' };
    return openSidecar(socket, request);
  };
  return { root, socket, workdir, runDir, sidecar, joined, open };
}

const GROUP = 10_000;
const AGENT = 10_002;

async function changeGroup(root: string): Promise<void> {
  for (const path of ['data', 'data/worktrees', 'data/worktrees/w', 'data/runs', 'data/runs/r', 'data/runs/r/.audit'])
    await chown(join(root, path), 0, GROUP);
  for (const path of ['work_order.json', '.audit/stdout.1.log']) await chown(join(root, 'data/runs/r', path), 0, GROUP);
}

function launch({ command: [program, ...args], env }: Sandbox, cwd: string): ChildProcess {
  return spawn(program, args, { cwd, env: { ...env }, stdio: 'pipe' });
}

async function finish(child: ChildProcess, input: string | null = '') {
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (data: Buffer) => (output.stdout += data.toString()));
  child.stderr?.on('data', (data: Buffer) => (output.stderr += data.toString()));
  if (input !== null) child.stdin?.end(input);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, ...output };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a process in the container of the agent', () => {
  it('has the streams, the exit code, the folder and the variables that the worker gives it', async () => {
    const { open, workdir } = await startSidecar();
    const script = 'cat; pwd; echo "$KEY $OWN $HOME" >&2; exit 3';
    const { exitCode, stdout, stderr } = await finish(launch(await open('sh', '-c', script), workdir), 'input\n');
    expect([exitCode, stdout, stderr]).toEqual([3, `input\n${workdir}\n`, 'value  /nowhere\n']);
  });

  it('reports a signal as 128 and its number, and a missing program', async () => {
    const { open, workdir } = await startSidecar();
    expect(await finish(launch(await open('sh', '-c', 'kill -9 $$'), workdir))).toMatchObject({ exitCode: 137 });
    expect(await finish(launch(await open('not-there'), workdir))).toMatchObject({
      exitCode: 127,
      stderr: expect.stringContaining('Cannot launch "not-there"') as unknown,
    });
  });

  it('passes large output unchanged', async () => {
    const { open, workdir } = await startSidecar();
    const { exitCode, stdout } = await finish(
      launch(await open('sh', '-c', 'yes 12345678 | head -c 9000000'), workdir),
    );
    expect([exitCode, stdout.length, stdout.slice(-9)]).toEqual([0, 9_000_000, '12345678\n']);
  });

  it('leaves no process behind, even if one keeps its output open', async () => {
    const { open, workdir } = await startSidecar();
    const { exitCode, stdout } = await finish(launch(await open('sh', '-c', 'sleep 600 & echo $!'), workdir));
    expect(exitCode).toBe(0);
    expect(isAlive(Number(stdout))).toBe(false);
  });

  it('is ended on request, at the latest after the grace period', async () => {
    const { open, workdir } = await startSidecar();
    const sandbox = await open('sh', '-c', 'trap "echo asked" TERM; echo $$; while true; do sleep 0.1; done');
    const child = launch(sandbox, workdir);
    const ended = finish(child);
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    await sandbox.container?.terminate(300);
    expect(isAlive(Number(line.toString()))).toBe(false);
    expect(await ended).toMatchObject({ exitCode: 137, stdout: expect.stringContaining('asked') as unknown });
  });

  it('ends with the process that represents it, and with the worker', async () => {
    const { open, workdir, joined, sidecar } = await startSidecar();
    const start = async () => {
      const child = launch(await open('sh', '-c', 'echo $$; exec sleep 600'), workdir);
      const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
      return { child, pid: Number(line.toString()) };
    };
    const first = await start();
    first.child.kill('SIGKILL');
    await expect.poll(() => isAlive(first.pid)).toBe(false);
    const second = await start();
    const [exited, ended] = [once(sidecar, 'exit'), finish(second.child, null)];
    joined.close();
    await exited;
    await expect.poll(() => isAlive(second.pid)).toBe(false);
    expect(await ended).toMatchObject({ exitCode: 125 });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'ends with everything else in its container, even what left its session',
    async () => {
      const { open, workdir } = await startSidecar({ isFirst: true });
      const script = 'setsid sh -c "sleep 600 & exec sleep 600" & sleep 0.2; echo started';
      expect(await finish(launch(await open('sh', '-c', script), workdir))).toMatchObject({ stdout: 'started\n' });
      const { stdout } = await finish(
        launch(await open('sh', '-c', 'ps -eo stat=,args= | grep -c "^[^Z].*sleep 60[0]"'), workdir),
      );
      expect(stdout).toBe('0\n');
    },
  );

  it('is refused if the network must be limited', async () => {
    const { socket, workdir, runDir } = await startSidecar();
    const request: SidecarRequest = { command: ['true'], workdir, runDir, env: {}, network: 'none' };
    await expect(openSidecar(socket, request)).rejects.toThrow(/network policies/);
  });

  it.skipIf(process.getuid?.() !== 0)('is another user: it writes to its folders, and reads nothing else', async () => {
    const { open, workdir, runDir, root } = await startSidecar({ user: AGENT });
    await writeFile(join(workdir, 'file'), 'a', { mode: 0o600 });
    await chown(join(workdir, 'file'), 0, GROUP);
    const script = [
      'id -u',
      'echo b > file && echo new > made && echo result > $SLUICE_RUN_DIR/work_result.json && echo written',
      `cat $SLUICE_RUN_DIR/.audit/stdout.1.log || echo denied`,
      `ls ${join(root, 'data')} || echo denied`,
      'kill -0 $PPID; cat /proc/$WORKER/environ || echo denied',
    ].join('\n');
    const child = launch(await open('env', `WORKER=${process.pid}`, 'sh', '-c', script), workdir);
    const { stdout } = await finish(child);
    expect(stdout.split('\n')).toEqual([String(AGENT), 'written', 'denied', 'denied', 'denied', '']);
    expect(await readFile(join(workdir, 'file'), 'utf8')).toBe('b\n');
    expect((await stat(join(workdir, 'made'))).mode & 0o777).toBe(0o660);
    expect(await readFile(join(runDir, 'work_result.json'), 'utf8')).toBe('result\n');
  });
});
