import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { run } from '../scripts/run-tool.js';
import { openS3Server } from '../src/runs/archive/fixtures/open-s3-server.js';
import { readSmallFile } from '../src/base/files/index.js';
import { openStore } from '../src/store/index.js';
import { BUNDLED_MAIN } from './command-stage.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

let folder: string;
beforeEach(async () => {
  folder = await makeFolder({});
});

describe('Ctrl-C', () => {
  /** A worker that writes a file when it starts and does not exit by itself. */
  const waiting = (): string[] => {
    const startFile = JSON.stringify(join(folder, 'begun'));
    return [
      process.execPath,
      '-e',
      `require('node:fs').writeFileSync(${startFile}, ''); setInterval(() => undefined, 1000)`,
    ];
  };
  const hasStarted = async (): Promise<boolean> => (await readdir(folder)).includes('begun');

  /** Interrupts a command while it works. */
  async function interrupt(
    args: readonly string[],
    isWorking: (printed: string) => boolean | Promise<boolean>,
    signal: NodeJS.Signals = 'SIGINT',
  ) {
    const { child, printed, exitCode } = startCommand(args, folder);
    await expect.poll(async () => isWorking(printed.stdout + printed.stderr), { timeout: 30_000 }).toBe(true);
    child.kill(signal);
    return { exitCode: await exitCode, ...printed };
  }

  it('cancels a run, whose result is still printed', async () => {
    const { exitCode, stdout } = await interrupt(['run', '--engine', 'command', '--', ...waiting()], hasStarted);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'canceled', error: { code: 'RUN_CANCELED' } });
  });

  it('stops an order and asks a user', async () => {
    const wrappers = { slow: { type: 'script', command: waiting(), inject: 'env', sandbox: 'off' } };
    await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ wrappers }));
    const repo_dir = join(folder, 'folder');
    await mkdir(repo_dir);
    const request = { issue_ref: 'local#1', role: 'qa', repo_dir, worker: 'slow', instructions: 'x' };
    await writeFile(join(folder, 'request.json'), JSON.stringify(request));
    const { exitCode, stdout } = await interrupt(
      ['order', 'request.json', '--config', 'sluice.config.json'],
      hasStarted,
    );
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ action: 'needs-human', state: 'settled' });
    expect(
      JSON.parse(
        (await run(process.execPath, [BUNDLED_MAIN, 'inbox', '--config', 'sluice.config.json'], folder)).stdout,
      ),
    ).toHaveLength(1);
  });

  /** An agent that asks, and accepts any answer. */
  async function writeAskingAgent(): Promise<readonly string[]> {
    const source = `#!/usr/bin/env node
      if (process.argv.includes('--version')) { console.log('codex-cli 0.1.0'); process.exit(); }
      const isAnswered = process.argv.includes('resume');
      const text = isAnswered ? '{"__SKILL_DONE__": true}' : 'Which color?';
      for (const event of [
        { type: 'thread.started', thread_id: '0199a213-81c0-7800-8aa1-bbab2a035a53' },
        { type: 'turn.started' },
        { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text } },
        { type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } },
      ]) console.log(JSON.stringify(event));`;
    const program = join(folder, 'asking.cjs');
    await writeFile(program, source, { mode: 0o755 });
    await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ programs: { codex: program } }));
    return ['run', '--config', 'sluice.config.json', '--engine', 'codex', '--mode', 'interactive', 'Paint it.'];
  }

  it('cancels a run that waits for an answer', async () => {
    const askingAgent = await writeAskingAgent();
    const { exitCode, stdout } = await interrupt(askingAgent, (printed) => printed.includes('? Which color?'));
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'canceled' });
  });

  it('is not needed to exit the command after a reply, although stdin is still open; an empty line is refused as a reply', async () => {
    const { child, printed, exitCode } = startCommand(await writeAskingAgent(), folder);
    await expect.poll(() => printed.stderr, { timeout: 30_000 }).toContain('? Which color?');
    child.stdin.write('\n');
    await expect.poll(() => printed.stderr, { timeout: 30_000 }).toContain('sluice: Invalid reply');
    child.stdin.write('red\n');
    expect(await exitCode).toBe(0);
    expect(JSON.parse(printed.stdout)).toMatchObject({ status: 'success', attempts: 2 });
  });

  it.each([
    ['worker', ['worker'], 'worker started'],
    ['server', ['serve', '--port', '0', '--no-demo'], 'http://'],
  ])('shuts down a %s gracefully', async (_, args, words) => {
    expect(await interrupt(args, (printed) => printed.includes(words))).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['serve', '--port', '0', '--no-demo'],
    ['worker', '--grace', '1'],
  ])("lets %s copy its runs' recordings to the archive before it exits", async (...args) => {
    const s3 = await openS3Server();
    const database = `sqlite:${join(folder, 'sluice.db')}`;
    const store = await openStore(database);
    const spec = { engine: 'command', command: ['sh', '-c', 'echo recorded; sleep 60'], workdir: folder } as const;
    await store.createRun({ id: 'r1', spec: { ...spec, sandbox: 'off' }, state: 'queued', now: Date.now() });
    await store.close();
    const config = { archive: 's3://runs/a', server: { grace_s: 1 } };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    const env = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_ENDPOINT_URL_S3: s3.endpoint };
    const options = ['--config', 'config.json', '--data', 'data', '--database', database];
    const { child, exitCode } = startCommand([...args, ...options], folder, env);
    const recordedFiles = join(folder, 'data', 'runs', 'r1', '.audit', 'stdout.1.log');
    await expect
      .poll(async () => readFile(recordedFiles, 'utf8').catch(() => ''), { timeout: 30_000 })
      .toBe('recorded\n');
    child.kill('SIGTERM');
    expect(await exitCode).toBe(0);
    const archivedFiles = await (await s3.open({ address: config.archive })).openRun('r1');
    expect(await readSmallFile('stdout', 1000, async () => archivedFiles?.openAttempt('stdout', 1))).toBe('recorded\n');
  });

  it('has the same effect as closing the terminal', async () => {
    const args = ['serve', '--port', '0', '--no-demo'];
    const { exitCode, stderr } = await interrupt(args, (printed) => printed.includes('http://'), 'SIGHUP');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('"server shutting down"') });
  });
});
