import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lockFolder } from '../../runs/index.js';
import { replayRunFolder } from '../../runs/run-folder/index.js';
import type { CommandIo } from '../command-io.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-run-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Uses real files and buffers the output in memory. */
async function runSluice(argv: readonly string[], stdin = '') {
  const memory = createMemoryIo({}, { stdin });
  const io: CommandIo = { ...memory, openFile: (path) => createReadStream(path) };
  const locationArgs = ['--data', join(folder, 'data'), '--workdir', folder];
  const exitCode = await run(['run', ...locationArgs, ...argv], io);
  const result =
    memory.printed.stdout === '' ? undefined : (JSON.parse(memory.printed.stdout) as Record<string, unknown>);
  return { exitCode, result, ...memory.printed };
}

const program = (source: string) => ['--engine', 'command', '--', process.execPath, '-e', source];

async function writeSchema(): Promise<string> {
  const file = join(folder, 'schema.json');
  await writeFile(file, '{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}');
  return file;
}

describe('sluice run', () => {
  it('prints the validated value as JSON on stdout and the conversation on stderr', async () => {
    const schema = await writeSchema();
    const { exitCode, result, stderr } = await runSluice([
      '--schema',
      schema,
      ...program('console.log("so: {a: 1,}")'),
    ]);
    expect(result).toMatchObject({ status: 'success', value: { a: 1 }, repair_level: 'deterministic_generic' });
    expect(stderr).toContain('so: {a: 1,}');
    expect(stderr).toContain('■ completed: OUTPUT_VALIDATED');
    expect(exitCode).toBe(0);
  });

  it('prints the result even if the summary file cannot be written', async () => {
    const summaryFile = join(folder, 'missing', 'summary.md');
    const { exitCode, result, stderr } = await runSluice(['--summary-file', summaryFile, ...program('console.log(1)')]);
    expect({ exitCode, result }).toMatchObject({ exitCode: 2, result: { status: 'success' } });
    expect(stderr).toContain('SYSTEM_REFUSED');
  });

  it('leaves a run folder that replays to the same events', async () => {
    await runSluice(program('console.log("hello")'));
    const runs = join(folder, 'data', 'runs');
    const [id = ''] = await readdir(runs);
    expect(await replayRunFolder(join(runs, id))).toMatchObject({ status: 'same' });
  });

  it('exits with 1 if the schema rejects the answer', async () => {
    const schema = await writeSchema();
    const { exitCode, result } = await runSluice(['--schema', schema, ...program('console.log("no")')]);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_NOT_VALIDATED' } });
    expect(exitCode).toBe(1);
  });

  it('keeps an untagged answer as a comment', async () => {
    const { exitCode, result } = await runSluice(['--profile', 'tagged', ...program('console.log("just words")')]);
    expect(result).toMatchObject({ status: 'comment', comment: 'just words\n' });
    expect(exitCode).toBe(0);
  });

  it('accepts a truncated value only with --allow-partial, even without a schema', async () => {
    const truncated = ['--profile', 'tagged', ...program('console.log("<json>{\\"a\\": 1")')];
    expect(await runSluice(truncated)).toMatchObject({ exitCode: 1, result: { status: 'failed' } });
    expect(await runSluice(['--allow-partial', ...truncated])).toMatchObject({
      exitCode: 0,
      result: { value: { a: 1 } },
    });
  });

  it('says which run uses its folder, and fails instead of waiting with --no-wait', async () => {
    const lock = await lockFolder(join(folder, 'data', 'locks'), folder, { run: 'R1' });
    const refused = await runSluice(['--no-wait', ...program('')]);
    expect(refused).toMatchObject({
      exitCode: 1,
      result: { status: 'failed', error: { message: expect.stringContaining('in use by run R1 (started ') } },
    });
    const { printed, ...io } = createMemoryIo({});
    const waiting = run(['run', '--data', join(folder, 'data'), '--workdir', folder, ...program('')], io);
    const message = /Waiting for the folder ".*", in use by run R1 \(started /u;
    await vi.waitFor(() => expect(printed.stderr).toMatch(message), { timeout: 30_000 });
    await lock.release();
    expect(await waiting).toBe(0);
  });

  it('stops a run that takes too long', async () => {
    const { exitCode, result } = await runSluice(['--timeout', '0.3', ...program('setTimeout(() => {}, 60000)')]);
    expect(result).toMatchObject({ status: 'failed', error: { category: 'timeout' } });
    expect(exitCode).toBe(1);
  });

  it('prints FCMP events as JSON lines with --watch-json', async () => {
    const { stderr } = await runSluice(['--watch-json', ...program('console.log("hello")')]);
    const events = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { protocol_version: string; seq: number });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]?.protocol_version).toBe('fcmp/1.2');
  });

  it('prints run warnings only in the result with --watch-json', async () => {
    const codex = join(folder, 'codex.mjs');
    await writeFile(codex, `if (process.argv.includes('--version')) console.log('codex-cli 9.0.0');`);
    const config = join(folder, 'settings.json');
    await writeFile(config, JSON.stringify({ programs: { codex: [process.execPath, codex] } }));
    const { stderr, result } = await runSluice(['--watch-json', '--config', config, '--engine', 'codex', 'Do it.']);
    expect(result?.['warnings']).toMatchObject([{ code: 'UNPROVEN_VERSION' }]);
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('seq');
  });

  it('passes standard input to a command with --prompt-file -', async () => {
    const echo = program('process.stdin.pipe(process.stdout)');
    const { result } = await runSluice(['--profile', 'tagged', '--prompt-file', '-', ...echo], 'typed words');
    expect(result).toMatchObject({ comment: 'typed words' });
  });

  it('escapes control sequences that an agent prints', async () => {
    const { stderr } = await runSluice(program(String.raw`console.log("\u001b]0;owned\u0007")`));
    // oxlint-disable-next-line no-control-regex -- must not be printed
    expect(stderr).not.toMatch(/[\u001b\u0007]/);
  });

  it('reports a command that cannot be started as a failed run', async () => {
    const { exitCode, result } = await runSluice(['--engine', 'command', '--', join(folder, 'gone')]);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED' } });
    expect(exitCode).toBe(1);
  });

  it('names the command that installs an agent that is missing', async () => {
    const { result } = await runSluice(['--engine', 'iflow', 'words']);
    const message = expect.stringContaining('To install it: iFlow CLI is no longer published; use another engine.');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED', message } });
  });

  it.each([
    ['no engine', ['hello'], '--engine'],
    ['no prompt', ['--engine', 'codex'], 'No prompt given'],
    ['no command', ['--engine', 'command'], 'No command given'],
    ['two prompts', ['--engine', 'codex', '--prompt-file', '-', 'words'], 'twice'],
    ['a missing schema', ['--engine', 'codex', '--schema', 'gone.json', 'words'], 'gone.json'],
    ['an unknown engine', ['--engine', 'skynet', 'words'], 'skynet'],
    ['an invalid time', ['--engine', 'codex', '--timeout', 'soon', 'words'], 'seconds'],
    ['--align without a schema', ['--engine', 'codex', '--align', 'words'], '--align needs --schema'],
    [
      '--allow-partial without a schema or profile',
      ['--engine', 'codex', '--allow-partial', 'words'],
      'needs --schema or --profile',
    ],
    ['--input-file without --cache', ['--engine', 'codex', 'words', '--input-file', 'a'], '--input-file needs --cache'],
    [
      'a prompt that was parsed as a value of --env',
      ['--engine', 'codex', '--env', 'HOME', 'words'],
      'after -- if it follows --env',
    ],
  ])('exits with 2 for %s', async (_, argv, message) => {
    const { exitCode, stdout, stderr } = await runSluice(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
