import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EventSchemas } from '@ag-ui/core/schemas';
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

const RECORDED = fileURLToPath(new URL('../../runs/run-folder/fixtures/codex-resumed', import.meta.url));

async function runCommand(...args: readonly string[]) {
  const io = createMemoryIo({});
  const exitCode = await run(args, io);
  const rows = io.printed.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { exitCode, rows, stderr: io.printed.stderr };
}

async function copyRecording(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-translate-'));
  onTestFinished(async () => rm(dir, { recursive: true, force: true }));
  await cp(RECORDED, dir, { recursive: true });
  return dir;
}

/** Runs the command as a separate process. */
function startProcess(...args: readonly string[]) {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...args]);
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const ended = once(child, 'close').then(([exitCode]: unknown[]) => ({ exitCode, stderr }));
  return { child, ended };
}

describe('sluice translate', () => {
  test('prints FCMP, one event per line', async () => {
    const { exitCode, rows, stderr } = await runCommand('translate', RECORDED);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(rows.map(({ protocol_version }) => protocol_version)).toEqual(rows.map(() => 'fcmp/1.2'));
    expect(rows.at(-1)).toMatchObject({ type: 'conversation.completed', meta: { attempt: 2 } });
  });

  test('prints RASP, AG-UI or ACP with --to', async () => {
    const rasp = await runCommand('translate', RECORDED, '--to', 'rasp', '--engine', 'codex');
    expect(rasp.rows[0]).toMatchObject({ protocol_version: 'rasp/1.1', seq: 1 });
    const agui = await runCommand('translate', RECORDED, '--to', 'agui');
    for (const row of agui.rows) expect(EventSchemas.parse(row)).toEqual(row);
    expect(agui.rows.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    const acp = await runCommand('translate', RECORDED, '--to', 'acp');
    expect(acp.rows[0]).toHaveProperty('update.sessionUpdate');
  });

  test('prints a single attempt', async () => {
    const { rows } = await runCommand('translate', RECORDED, '--attempt', '2');
    expect(new Set(rows.map(({ meta }) => JSON.stringify(meta)))).toEqual(new Set(['{"attempt":2}']));
  });

  test('detects the engine from the output with --engine auto', async () => {
    const { rows } = await runCommand('translate', RECORDED, '--engine', 'auto');
    expect(rows[0]).toMatchObject({ engine: 'codex' });
  });

  test('writes the logs, and also prints the events', async () => {
    const dir = await copyRecording();
    const { exitCode, rows } = await runCommand('translate', dir, '--write');
    expect(exitCode).toBe(0);
    const text = await readFile(join(dir, 'fcmp.jsonl'), 'utf8');
    expect(
      text
        .split('\n')
        .filter(Boolean)
        .map((line): unknown => JSON.parse(line)),
    ).toEqual(rows);
  });

  test('warns on stderr about missing files in the folder', async () => {
    const dir = await copyRecording();
    await rm(join(dir, 'timing.1.jsonl'));
    const { exitCode, stderr } = await runCommand('translate', dir);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^sluice: warning INTERLEAVING_UNKNOWN: .*\n$/);
  });

  test('follows a folder until Ctrl-C', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sluice-translate-'));
    onTestFinished(async () => rm(dir, { recursive: true, force: true }));
    await writeFile(join(dir, 'stdout.1.log'), '');
    const io = createMemoryIo({});
    const done = run(['translate', dir, '--follow', '--engine', 'codex'], io);
    await appendFile(join(dir, 'stdout.1.log'), '{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}\n');
    await expect.poll(() => io.printed.stdout).toContain('conversation.started');
    process.emit('SIGINT');
    expect(await done).toBe(0);
  });

  test('follows a folder to its end and closes the open parts of a projection', async () => {
    const dir = await copyRecording();
    const followOutput = await runCommand('translate', dir, '--follow', '--to', 'agui');
    expect(followOutput).toMatchObject({
      exitCode: 0,
      rows: (await runCommand('translate', dir, '--to', 'agui')).rows,
    });
  });

  test('exits without an error on Ctrl-C and when its reader closes the pipe', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sluice-translate-'));
    onTestFinished(async () => rm(dir, { recursive: true, force: true }));
    await writeFile(join(dir, 'meta.1.json'), '{"engine":"generic","started_at":"2026-01-01T00:00:00.000Z"}');
    await writeFile(join(dir, 'stdout.1.log'), 'a line of text\n'.repeat(20_000));
    const interrupted = startProcess('translate', dir, '--follow');
    interrupted.child.stdout.once('data', () => interrupted.child.kill('SIGINT'));
    const translateProcess = startProcess('translate', dir);
    translateProcess.child.stdout.once('data', () => translateProcess.child.stdout.destroy());
    expect(await interrupted.ended).toEqual({ exitCode: 0, stderr: '' });
    expect(await translateProcess.ended).toEqual({ exitCode: 0, stderr: '' });
  });

  test('stops without an error when its reader closes the pipe', async () => {
    const io = createMemoryIo({});
    const closed = { ...io, stdout: { ...io.stdout, isGone: () => true } };
    expect(await run(['translate', RECORDED], closed)).toBe(0);
    expect(io.printed).toEqual({ stdout: '', stderr: '' });
  });

  test.each([
    [['translate'], 'Missing required argument'],
    [['translate', 'no-such-folder'], 'RUN_FOLDER_NOT_FOUND'],
    [['translate', RECORDED, '--attempt', '9'], 'ATTEMPT_NOT_FOUND'],
    [['translate', RECORDED, '--attempt', 'x'], 'attempt number, starting at 1'],
    [['translate', RECORDED, '--engine', 'hal'], 'codex, gemini'],
    [['translate', RECORDED, '--to', 'xml'], 'rasp, fcmp'],
    [['translate', RECORDED, '--write', '--follow'], 'Omit --follow and --attempt'],
    [['translate', RECORDED, '--write', '--attempt', '1'], 'Omit --follow and --attempt'],
  ])('exits with 2 for %j', async (args, reason) => {
    const { exitCode, stderr } = await runCommand(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(reason);
  });
});

describe('sluice replay', () => {
  test('lists the differences of a folder that an older version recorded, and succeeds', async () => {
    const dir = fileURLToPath(new URL('../../runs/run-folder/fixtures/0.1.0/claude-write', import.meta.url));
    const { exitCode, rows } = await runCommand('replay', dir);
    expect(exitCode).toBe(0);
    expect(rows[0]).toMatchObject({ status: 'older_version', message: expect.stringContaining('older version') });
  });

  test('exits with 0 if the logs match the bytes, otherwise with 1 and the position', async () => {
    const dir = await copyRecording();
    await runCommand('translate', dir, '--write');
    expect(await runCommand('replay', dir)).toMatchObject({ exitCode: 0, rows: [{ status: 'same' }], stderr: '' });
    const log = join(dir, 'fcmp.jsonl');
    await writeFile(log, (await readFile(log, 'utf8')).replace('"seq":1,', '"seq":7,'));
    expect(await runCommand('replay', dir)).toMatchObject({
      exitCode: 1,
      rows: [{ status: 'different', difference: { log: 'fcmp.jsonl', row: 1, path: ['seq'], stored: 7, rebuilt: 1 } }],
    });
  });

  test('prints warnings before the error if the folder cannot be read', async () => {
    const dir = await copyRecording();
    await runCommand('translate', dir, '--write');
    await writeFile(join(dir, 'meta.1.json'), 'not JSON');
    const { exitCode, stderr } = await runCommand('replay', dir);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sluice: warning META_IGNORED: .*\n(?:.*\n)*sluice: ENGINE_NOT_NAMED: /);
  });

  test('exits with 2 and names --write if no events are stored', async () => {
    const { exitCode, stderr } = await runCommand('replay', RECORDED);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--write');
  });
});
