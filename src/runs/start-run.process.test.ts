import { createHash } from 'node:crypto';
import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { codex } from '../events/contract/translate-lines.contract.js';
import { makeSite } from './scenarios/fixtures/make-site.js';
import type { Site } from './scenarios/fixtures/make-site.js';
import { runToEnd } from './scenarios/run.contract.js';
import type { RunSpec } from '../store/records/run-spec.js';
import { replayRunFolder, rewriteRunLogs } from './run-folder/index.js';
import { startRun } from './start-run.js';

const LINE = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] };

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

function commandSpec(site: Site, more: Partial<RunSpec> = {}): RunSpec {
  return { engine: 'command', command: site.agent, workdir: site.workdir, ...more };
}

describe('a running command', () => {
  it('returns the value of its output', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const { result, types, meta, run } = await runToEnd(commandSpec(site, { contract: { schema: LINE } }), site);
    expect(result).toEqual({
      status: 'success',
      value: { line: 3 },
      repair_level: 'none',
      warnings: [],
      text: '{"line":3}',
      artifacts: { created: [], modified: [], deleted: [] },
      attempts: 1,
      session_id: null,
      captured: [{ attempt: 1, stream: 'stdout', bytes: 11, sha256: hash('{"line":3}\n') }],
      process: { exit_code: 0, signal: null, command: site.agent, version: null },
    });
    expect(types).toEqual([
      'assistant.message.delta',
      'assistant.message.final',
      'conversation.started',
      'conversation.completed',
    ]);
    expect(run.id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(await meta(1)).toMatchObject({
      run_id: run.id,
      engine: 'command',
      command: site.agent,
      mode: 'auto',
      session_id: null,
      exit_code: 0,
      signal: null,
      verdict: 'validated',
      pid: expect.any(Number) as number,
      started_at: expect.any(String) as string,
      finished_at: expect.any(String) as string,
    });
  });

  it('cannot change its captured output unnoticed', async () => {
    const site = await makeSite();
    // Waits until the line is in the log: a line written later would follow the forged one.
    const forgeScript = `const { writeFileSync, statSync } = require('node:fs');
      const log = process.env.SLUICE_RUN_DIR + '/.audit/stdout.1.log';
      process.stdout.write('{"line":3}\\n', () => {
        const timer = setInterval(() => {
          if (!(statSync(log, { throwIfNoEntry: false })?.size > 0)) return;
          clearInterval(timer);
          writeFileSync(log, '{"line":4}\\n');
        }, 5);
      });`;
    const command = [process.execPath, '-e', forgeScript];
    // In a sandbox it cannot even see the file.
    const spec = { engine: 'command', command, workdir: site.workdir, sandbox: 'off' } as const;
    const run = startRun(spec, { data: site.data });
    const result = await run.result;
    const dir = join(site.data, 'runs', run.id);
    expect(result.captured).toMatchObject([{ stream: 'stdout', sha256: hash('{"line":3}\n') }]);
    for await (const _ of rewriteRunLogs(dir));
    const replayed = await replayRunFolder(dir, { captured: result.captured });
    expect(replayed).toMatchObject({ status: 'altered', altered: { found: { sha256: hash('{"line":4}\n') } } });
  });

  it('gets its stdin, its folder and the name of the run folder', async () => {
    const site = await makeSite([{ print: 'ok\n' }]);
    const { dir, result, file } = await runToEnd(commandSpec(site, { prompt: 'do it' }), site);
    expect(result).toMatchObject({ status: 'success', text: 'ok' });
    expect(await site.calls()).toMatchObject([
      { args: [], input: 'do it', cwd: site.workdir, env: { SLUICE_RUN_DIR: await realpath(dir) } },
    ]);
    expect(await file('stdin.1.log')).toBe('do it');
  });

  it('can print JSON that needs repairs, which are reported', async () => {
    const site = await makeSite([{ print: 'Sure:\n```json\n{"line":3,}\n```\n' }]);
    const { result } = await runToEnd(commandSpec(site, { contract: { schema: LINE } }), site);
    expect(result).toMatchObject({
      status: 'success',
      value: { line: 3 },
      repair_level: 'deterministic_generic',
      warnings: [{ code: 'OUTPUT_REPAIRED_GENERIC' }],
    });
  });

  it('can print JSON that needs repairs in its second attempt, which are reported', async () => {
    const site = await makeSite([{ print: 'no\n' }], [{ print: 'Sure: {"line":3,}\n' }]);
    const { result } = await runToEnd(commandSpec(site, { contract: { schema: LINE }, max_retries: 1 }), site);
    expect(result).toMatchObject({
      status: 'success',
      attempts: 2,
      repair_level: 'deterministic_generic',
      warnings: [{ code: 'OUTPUT_REPAIRED_GENERIC' }],
    });
  });

  it('fails with the tried candidates if they do not pass the schema', async () => {
    const site = await makeSite([{ print: '{"line":"three"}\n' }]);
    const { result, meta } = await runToEnd(commandSpec(site, { contract: { schema: LINE } }), site);
    expect(result).toMatchObject({
      status: 'failed',
      repair_level: 'none',
      error: {
        category: 'output',
        code: 'OUTPUT_NOT_VALIDATED',
        message: expect.stringContaining('SCHEMA_MISMATCH') as string,
        issues: [{ path: ['line'] }],
        tried: [{ finder: 'whole', code: 'SCHEMA_MISMATCH' }],
      },
    });
    expect(result).not.toHaveProperty('value');
    expect(await meta(1)).toMatchObject({
      verdict: 'not_validated',
      reason: expect.stringContaining('line') as string,
    });
  });

  it('degrades to a comment in profile tagged without a tag', async () => {
    const site = await makeSite([{ print: 'I looked, all is fine.\n' }]);
    const { result } = await runToEnd(commandSpec(site, { contract: { schema: LINE, profile: 'tagged' } }), site);
    expect(result).toMatchObject({
      status: 'comment',
      comment: 'I looked, all is fine.\n',
      warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT' }],
    });
  });

  it('degrades to a comment of all messages if an agent prints several without a tag', async () => {
    const records = [codex.thread(), codex.message('I looked.'), codex.message('All is fine.'), codex.completed()];
    const site = await makeSite([{ print: records.map((record) => `${JSON.stringify(record)}\n`).join('') }]);
    const spec: RunSpec = { engine: 'codex', prompt: 'Look.', workdir: site.workdir };
    const { result } = await runToEnd(
      { ...spec, contract: { schema: LINE, profile: 'tagged' } },
      { ...site, programs: { codex: site.agent } },
    );
    expect(result).toMatchObject({ status: 'comment', comment: 'I looked.\n\nAll is fine.' });
  });

  it('is judged by a schema from the caller’s library', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const schema = z.object({ line: z.number().transform((line) => line + 1) });
    const { result } = await runToEnd(commandSpec(site, { contract: { schema } }), site);
    expect(result.value).toEqual({ line: 4 });
  });

  it('can exit without output', async () => {
    const site = await makeSite([]);
    const without = await runToEnd(commandSpec(site), site);
    expect(without.result).toMatchObject({ status: 'success' });
    const withContract = await runToEnd(commandSpec(site, { contract: { schema: LINE } }), site);
    expect(withContract.result).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_NOT_VALIDATED' } });
  });

  it('reports which files it changed', async () => {
    const site = await makeSite([{ file: 'new.txt' }, { file: 'old.txt', text: 'changed\n' }, { print: 'done\n' }]);
    await writeFile(join(site.workdir, 'old.txt'), 'old');
    const { result, events, file } = await runToEnd(commandSpec(site), site);
    expect(result.artifacts).toEqual({ created: ['new.txt'], modified: ['old.txt'], deleted: [] });
    expect(JSON.parse(await file('fs-diff.1.json'))).toEqual(result.artifacts);
    expect(events.filter(({ event }) => 'event' in event && event.event.category === 'artifact')).toHaveLength(2);
  });

  it('can have its data folder in its working folder', async () => {
    const site = await makeSite([{ file: 'new.txt' }, { print: 'done\n' }]);
    const { result } = await runToEnd(commandSpec(site), { data: join(site.workdir, '.sluice') });
    expect(result.artifacts).toEqual({ created: ['new.txt'], modified: [], deleted: [] });
  });
});

describe('a failing command', () => {
  it.each([
    ['an exit code', [{ print: 'no\n' }, { exit: 3 }], 'PROCESS_EXIT_NON_ZERO', { exit_code: 3, signal: null }],
    ['a signal', [{ kill: 'SIGKILL' }, { sleep: 5000 }], 'PROCESS_SIGNALED', { exit_code: null, signal: 'SIGKILL' }],
  ])('fails with %s', async (_, steps, code, end) => {
    const site = await makeSite(steps);
    const { result, meta, events } = await runToEnd(commandSpec(site), site);
    expect(result).toMatchObject({ status: 'failed', error: { category: 'process', code } });
    expect(await meta(1)).toMatchObject({ ...end, reason_code: code });
    expect(events.at(-2)?.event).toMatchObject({ event: { type: 'lifecycle.run.failed' }, data: end });
  });

  it('is not a silent success, even if its output passes', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }, { exit: 1 }]);
    const { result } = await runToEnd(commandSpec(site, { contract: { schema: LINE } }), site);
    expect(result).toMatchObject({
      status: 'success',
      value: { line: 3 },
      warnings: [
        {
          code: 'TERMINAL_STATUS_COMPLETION_CONFLICT',
          message: expect.stringContaining('exited with code 1') as string,
        },
      ],
    });
  });

  it('has no comment in its result', async () => {
    const site = await makeSite([{ print: 'Traceback…\n' }, { exit: 1 }]);
    const { result } = await runToEnd(commandSpec(site, { contract: { profile: 'tagged' } }), site);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_EXIT_NON_ZERO' } });
  });
});

describe('a run that cannot be started', () => {
  it.each([
    ['a missing executable', { command: ['no-such-program-here'] }, /Cannot launch "no-such-program-here"/],
    ['a missing folder', { workdir: '/no/such/folder' }, /working folder "\/no\/such\/folder" does not exist/],
  ])('fails in the result and the events: %s', async (_, change, message) => {
    const site = await makeSite([]);
    const { result, types, meta } = await runToEnd(commandSpec(site, change), site);
    expect(result).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'PROCESS_NOT_STARTED' } });
    expect(result.error?.message).toMatch(message);
    expect(types).toEqual(['conversation.failed']);
    expect(await meta(1)).toMatchObject({ verdict: 'not_started', exit_code: null, signal: null });
  });

  it('is the caller’s error if the spec is wrong', async () => {
    const site = await makeSite([]);
    expect(() => startRun({ engine: 'codex', workdir: site.workdir }, site)).toThrow(/prompt/);
    expect(() => startRun(commandSpec(site), { ...site, newId: () => '../x' })).toThrow(
      expect.objectContaining({ code: 'INVALID_RUN_ID' }),
    );
    await expect(readdir(site.data)).rejects.toThrow('ENOENT');
  });

  it('rejects a run folder that contains a run', async () => {
    const site = await makeSite([{ print: 'x\n' }]);
    const ports = { ...site, newId: () => 'run-1' };
    await runToEnd(commandSpec(site), ports);
    const run = startRun(commandSpec(site), ports);
    expect(await run.result).toMatchObject({ status: 'failed', error: { code: 'RUN_FOLDER_TAKEN' } });
    await expect(run.events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'RUN_FOLDER_TAKEN' });
  });

  it('accepts an empty run folder', async () => {
    const site = await makeSite([{ print: 'x\n' }]);
    await mkdir(join(site.data, 'runs', 'run-1'), { recursive: true });
    await writeFile(join(site.data, 'runs', 'run-1', 'work_order.json'), '{}');
    const { result } = await runToEnd(commandSpec(site), { ...site, newId: () => 'run-1' });
    expect(result.status).toBe('success');
  });

  it('fails with a code if nothing can be stored', async () => {
    const site = await makeSite([]);
    await writeFile(site.data, 'a file in place of the folder');
    const run = startRun(commandSpec(site), site);
    expect(await run.result).toMatchObject({ status: 'failed', error: { code: 'RUN_STORAGE_FAILED' } });
  });

  it('does not follow an agent’s link when writing', async () => {
    const site = await makeSite([]);
    const elsewhere = join(site.root, 'elsewhere');
    await mkdir(elsewhere);
    const replaceAuditFolder = `mv "$SLUICE_RUN_DIR/.audit" "$SLUICE_RUN_DIR/mine" && ln -s ${elsewhere} "$SLUICE_RUN_DIR/.audit"`;
    const run = startRun(commandSpec(site, { command: ['sh', '-c', replaceAuditFolder] }), site);
    expect(await run.result).toMatchObject({ status: 'failed', error: { code: 'UNSAFE_FILE' } });
    expect(await readdir(elsewhere)).toEqual([]);
  });
});
