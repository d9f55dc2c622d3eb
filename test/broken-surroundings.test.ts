import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT, run } from '../scripts/run-tool.js';
import { closedPlace } from './closed-place.js';
import { makeFolder } from './temporary-folder.js';

const MAIN = join(PROJECT, 'dist/cli/main.js');

let folder: string;
beforeEach(async () => {
  folder = await makeFolder({
    file: '',
    'letter.db': 'A letter to my grandmother. '.repeat(200),
    'request.json': '{}',
    'answer.json': '{"a": 1}',
  });
  await mkdir(join(folder, 'folder'));
});

/** Runs the command; CLOSED stands for a place where nothing can be made. */
async function sluice(...args: readonly string[]) {
  const closed = await closedPlace();
  const words = args.map((word) => word.replace('CLOSED', closed));
  return run(process.execPath, [MAIN, ...words], folder);
}

/** What every refusal looks like: one line with a code, no stack, exit code 2, nothing on stdout. */
function expectRefusal(ended: Awaited<ReturnType<typeof sluice>>, code: string): void {
  const lines = ended.stderr.trimEnd().split('\n');
  expect(lines.at(-1)).toMatch(new RegExp(`^sluice: ${code}: .+`));
  expect(ended.stderr).not.toMatch(/^ {4}at /m);
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
}

const WITH_DATABASE = [
  ['inbox'],
  ['outbox', '--deliver'],
  ['executions'],
  ['order', 'request.json'],
  ['resolve', 'x', '--action', 'retry', '--why', 'x'],
  ['serve', '--port', '0'],
  ['worker'],
  ['demo'],
  ['backup', 'copy.db'],
];

describe('a database that cannot be used', () => {
  it.each(WITH_DATABASE)('is told at once: %s', async (...args) => {
    expectRefusal(await sluice(...args, '--database', 'sqlite:folder'), 'STORE_UNAVAILABLE');
    expectRefusal(await sluice(...args, '--database', 'sqlite:letter.db'), 'STORE_DAMAGED');
  });

  it.each([
    ['sqlite:file/x.db', 'STORE_UNAVAILABLE'],
    ['sqlite:CLOSED/x.db', 'STORE_UNAVAILABLE'],
    ['postgres://someone:secret@127.0.0.1:1/x', 'STORE_UNAVAILABLE'],
    ['postgres://someone:secret@[bad', 'INVALID_STORE_URL'],
    ['mysql://someone:secret@host/x', 'INVALID_STORE_URL'],
  ])('is told wherever it is: %s', async (database, code) => {
    const ended = await sluice('inbox', '--database', database);
    expectRefusal(ended, code);
    expect(ended.stderr).not.toContain('secret');
  });
});

describe('a folder that cannot be made', () => {
  it.each([
    [['run', '--engine', 'command', '--data', 'file/x', '--', process.execPath, '-v'], 'RUN_STORAGE_FAILED'],
    [['run', '--engine', 'command', '--data', 'CLOSED', '--', process.execPath, '-v'], 'RUN_STORAGE_FAILED'],
    [['demo', '--data', 'CLOSED'], 'SYSTEM_REFUSED'],
    [['demo', '--data', 'file'], 'SYSTEM_REFUSED'],
    [['backup', 'CLOSED/copy.db'], 'STORE_UNAVAILABLE'],
  ])('is told at once: %j', async (args, code) => {
    expectRefusal(await sluice(...args), code);
  });

  it('is told by an export, which leaves nothing behind', async () => {
    const { stdout } = await sluice('run', '--engine', 'command', '--', process.execPath, '-v');
    const { run_id } = JSON.parse(stdout) as { run_id: string };
    expectRefusal(await sluice('export', run_id, 'CLOSED/x'), 'SYSTEM_REFUSED');
    expectRefusal(await sluice('export', run_id, 'file/x.tar'), 'SYSTEM_REFUSED');
    expect((await readdir(folder)).toSorted()).toEqual([
      '.sluice',
      'answer.json',
      'file',
      'folder',
      'letter.db',
      'request.json',
    ]);
  });
});

describe('a run whose folder its worker takes away', () => {
  it('is told, and the command ends', async () => {
    const trick = `
      const { renameSync, symlinkSync } = require('node:fs');
      renameSync(process.env.SLUICE_RUN_DIR + '/.audit', process.env.SLUICE_RUN_DIR + '/mine');
      symlinkSync(${JSON.stringify(join(folder, 'folder'))}, process.env.SLUICE_RUN_DIR + '/.audit');`;
    expectRefusal(await sluice('run', '--engine', 'command', '--', process.execPath, '-e', trick), 'UNSAFE_FILE');
    expect(await readdir(join(folder, 'folder'))).toEqual([]);
  });
});

/** Runs a command whose output can be opened, but not written. */
async function withoutRoom(args: readonly string[], stream: 'stdout' | 'stderr') {
  const file = await open(join(folder, 'file'), 'r');
  onTestFinished(async () => file.close());
  const [stdout, stderr] = stream === 'stdout' ? [file.fd, 'pipe' as const] : ['pipe' as const, file.fd];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, stdio: ['ignore', stdout, stderr] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  (child.stdout ?? child.stderr)?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, said };
}

describe('output that has no room', () => {
  it.each([
    [['parse', 'answer.json']],
    [['--help']],
    [['inbox']],
    [['executions', '--csv']],
    [['run', '--engine', 'command', '--', process.execPath, '-v']],
    [['serve', '--port', '0', '--no-demo']],
  ])('is told on stderr: %j', async (args) => {
    const { exitCode, said } = await withoutRoom(args, 'stdout');
    expect(said).toMatch(/sluice: SYSTEM_REFUSED: .+\n$/);
    expect(said).not.toMatch(/^ {4}at /m);
    expect(exitCode).toBe(2);
  });

  it('of talk changes nothing', async () => {
    expect(await withoutRoom(['parse', 'answer.json'], 'stderr')).toMatchObject({ exitCode: 0 });
    expect(await withoutRoom(['parse', 'gone.json'], 'stderr')).toEqual({ exitCode: 2, said: '' });
  });
});

describe('Ctrl-C', () => {
  /** A worker that leaves a sign that it has begun, and does not end by itself. */
  const waiting = (): string[] => {
    const sign = JSON.stringify(join(folder, 'begun'));
    return [
      process.execPath,
      '-e',
      `require('node:fs').writeFileSync(${sign}, ''); setInterval(() => undefined, 1000)`,
    ];
  };
  const hasBegun = async (): Promise<boolean> => (await readdir(folder)).includes('begun');

  /** Interrupts a command when it is at its work. */
  async function interrupt(
    args: readonly string[],
    isAtWork: (printed: string) => boolean | Promise<boolean>,
    signal: NodeJS.Signals = 'SIGINT',
  ) {
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder });
    onTestFinished(() => void child.kill('SIGKILL'));
    const printed = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
    const closed = once(child, 'close') as Promise<[number | null]>;
    await expect.poll(async () => isAtWork(printed.stdout + printed.stderr), { timeout: 30_000 }).toBe(true);
    child.kill(signal);
    const [exitCode] = await closed;
    return { exitCode, ...printed };
  }

  it('cancels a run, whose result is still told', async () => {
    const { exitCode, stdout } = await interrupt(['run', '--engine', 'command', '--', ...waiting()], hasBegun);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'canceled', error: { code: 'RUN_CANCELED' } });
  });

  it('stops an order and asks a person', async () => {
    const wrappers = { slow: { type: 'script', command: waiting(), inject: 'env' } };
    await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ wrappers }));
    const repo_dir = join(folder, 'folder');
    const request = { issue_ref: 'local#1', role: 'qa', repo_dir, worker: 'slow', instructions: 'x' };
    await writeFile(join(folder, 'request.json'), JSON.stringify(request));
    const { exitCode, stdout } = await interrupt(['order', 'request.json'], hasBegun);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ action: 'needs-human', state: 'settled' });
    expect(JSON.parse((await sluice('inbox')).stdout)).toHaveLength(1);
  });

  /** An agent that asks, and is content with any answer. */
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
    return ['run', '--engine', 'codex', '--mode', 'interactive', 'Paint it.'];
  }

  it('cancels a run that waits for an answer', async () => {
    const asks = await writeAskingAgent();
    const { exitCode, stdout } = await interrupt(asks, (printed) => printed.includes('? Which color?'));
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'canceled' });
  });

  it('is not needed once the answer was given: an empty line is none, and the open input keeps nobody waiting', async () => {
    const child = spawn(process.execPath, [MAIN, ...(await writeAskingAgent())], { cwd: folder });
    onTestFinished(() => void child.kill('SIGKILL'));
    const printed = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
    const closed = once(child, 'close') as Promise<[number | null]>;
    await expect.poll(() => printed.stderr, { timeout: 30_000 }).toContain('? Which color?');
    child.stdin.write('\n');
    await expect.poll(() => printed.stderr, { timeout: 30_000 }).toContain('sluice: The reply cannot be handed on');
    child.stdin.write('red\n');
    expect((await closed)[0]).toBe(0);
    expect(JSON.parse(printed.stdout)).toMatchObject({ status: 'success', attempts: 2 });
  });

  it.each([
    ['worker', ['worker'], 'worker started'],
    ['server', ['serve', '--port', '0', '--no-demo'], 'http://'],
  ])('ends a %s in order', async (_, args, words) => {
    expect(await interrupt(args, (printed) => printed.includes(words))).toMatchObject({ exitCode: 0 });
  });

  it('is what a terminal that closes does, too', async () => {
    const args = ['serve', '--port', '0', '--no-demo'];
    const { exitCode, stderr } = await interrupt(args, (printed) => printed.includes('http://'), 'SIGHUP');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('"server ends"') });
  });
});
