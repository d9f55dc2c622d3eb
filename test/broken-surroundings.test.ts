import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../scripts/run-tool.js';
import { findUnusableFolder } from './unusable-folder.js';
import { BUNDLED_MAIN } from './command-stage.js';
import { makeFolder } from './temporary-folder.js';

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

/** Runs the command; CLOSED is replaced by a folder that cannot be created. */
async function sluice(...args: readonly string[]) {
  const uncreatablePath = await findUnusableFolder();
  const words = args.map((word) => word.replace('CLOSED', uncreatablePath));
  return run(process.execPath, [BUNDLED_MAIN, ...words], folder);
}

/** Asserts the format of a refusal: one line with a code, no stack, exit code 2, nothing on stdout. */
function expectRefusal(result: Awaited<ReturnType<typeof sluice>>, code: string): void {
  const lines = result.stderr.trimEnd().split('\n');
  expect(lines.at(-1)).toMatch(new RegExp(`^sluice: ${code}: .+`));
  expect(result.stderr).not.toMatch(/^ {4}at /m);
  expect(result).toMatchObject({ exitCode: 2, stdout: '' });
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
  it.each(WITH_DATABASE)('is reported immediately: %s', async (...args) => {
    expectRefusal(await sluice(...args, '--database', 'sqlite:folder'), 'STORE_UNAVAILABLE');
    expectRefusal(await sluice(...args, '--database', 'sqlite:letter.db'), 'STORE_DAMAGED');
  });

  it.each([
    ['sqlite:file/x.db', 'STORE_UNAVAILABLE'],
    ['sqlite:CLOSED/x.db', 'STORE_UNAVAILABLE'],
    ['postgres://someone:secret@127.0.0.1:1/x', 'STORE_UNAVAILABLE'],
    ['postgres://someone:secret@[bad', 'INVALID_STORE_URL'],
    ['mysql://someone:secret@host/x', 'INVALID_STORE_URL'],
  ])('is reported wherever it is: %s', async (database, code) => {
    const result = await sluice('outbox', '--deliver', '--database', database);
    expectRefusal(result, code);
    expect(result.stderr).not.toContain('secret');
  });
});

describe('a folder that cannot be created', () => {
  it.each([
    [['run', '--engine', 'command', '--data', 'file/x', '--', process.execPath, '-v'], 'DATA_FOLDER_UNUSABLE'],
    [['run', '--engine', 'command', '--data', 'CLOSED', '--', process.execPath, '-v'], 'DATA_FOLDER_UNUSABLE'],
    [['demo', '--data', 'CLOSED'], 'DATA_FOLDER_UNUSABLE'],
    [['demo', '--data', 'file'], 'DATA_FOLDER_UNUSABLE'],
    [['backup', 'CLOSED/copy.db'], 'STORE_UNAVAILABLE'],
  ])('is reported immediately: %j', async (args, code) => {
    expectRefusal(await sluice(...args), code);
  });

  it('is reported by an export, which leaves nothing behind', async () => {
    const { stdout } = await sluice('run', '--engine', 'command', '--', process.execPath, '-v');
    const { run_id } = JSON.parse(stdout) as { run_id: string };
    expectRefusal(await sluice('export', run_id, 'CLOSED/x'), 'SYSTEM_REFUSED');
    expectRefusal(await sluice('export', run_id, 'file/x.tar'), 'SYSTEM_REFUSED');
    expect((await readdir(folder)).toSorted()).toEqual(['answer.json', 'file', 'folder', 'letter.db', 'request.json']);
  });
});

describe('an invalid schedule', () => {
  it.each([['worker'], ['serve', '--port', '0'], ['serve', '--port', '0', '--no-worker']])(
    'is reported immediately: %s',
    async (...args) => {
      const schedules = { nightly: { cron: 'at midnight', request: {} } };
      await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ schedules }));
      expectRefusal(await sluice(...args, '--config', 'sluice.config.json'), 'INVALID_SCHEDULE');
    },
  );
});

describe('a run whose agent replaces the folder .audit with a link', () => {
  it('is reported, and the command exits', async () => {
    const agentScript = `
      const { renameSync, symlinkSync } = require('node:fs');
      renameSync(process.env.SLUICE_RUN_DIR + '/.audit', process.env.SLUICE_RUN_DIR + '/mine');
      symlinkSync(${JSON.stringify(join(folder, 'folder'))}, process.env.SLUICE_RUN_DIR + '/.audit');`;
    expectRefusal(
      await sluice('run', '--sandbox', 'off', '--engine', 'command', '--', process.execPath, '-e', agentScript),
      'UNSAFE_FILE',
    );
    expect(await readdir(join(folder, 'folder'))).toEqual([]);
  });
});

/** Runs a command whose output can be opened but not written to. */
async function runOnFullDevice(args: readonly string[], stream: 'stdout' | 'stderr') {
  const file = await open(join(folder, 'file'), 'r');
  onTestFinished(async () => file.close());
  const [stdout, stderr] = stream === 'stdout' ? [file.fd, 'pipe' as const] : ['pipe' as const, file.fd];
  const child = spawn(process.execPath, [BUNDLED_MAIN, ...args], { cwd: folder, stdio: ['ignore', stdout, stderr] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  (child.stdout ?? child.stderr)?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, printed };
}

describe('output to a full device', () => {
  it.each([
    [['parse', 'answer.json']],
    [['--help']],
    [['inbox']],
    [['executions', '--csv']],
    [['run', '--engine', 'command', '--', process.execPath, '-v']],
    [['serve', '--port', '0', '--no-demo']],
  ])('is reported on stderr: %j', async (args) => {
    const { exitCode, printed } = await runOnFullDevice(args, 'stdout');
    expect(printed).toMatch(/sluice: SYSTEM_REFUSED: .+\n$/);
    expect(printed).not.toMatch(/^ {4}at /m);
    expect(exitCode).toBe(2);
  });

  it('for messages has no effect on the result', async () => {
    expect(await runOnFullDevice(['parse', 'answer.json'], 'stderr')).toMatchObject({ exitCode: 0 });
    expect(await runOnFullDevice(['parse', 'gone.json'], 'stderr')).toEqual({ exitCode: 2, printed: '' });
  });
});
