import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { CommandIo } from '../command-io.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

const SECRET = 'hunter2-hunter2-hunter2';
const SCHEMA = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] };

let folder: string;
beforeEach(async () => {
  const write = `require('node:fs').writeFileSync(process.env.SLUICE_RUN_DIR + '/work_result.json', JSON.stringify({
    IssueRef: process.env.SLUICE_ISSUE_REF, RunId: process.env.SLUICE_RUN_ID, Status: 'ok', Summary: 'Did it.',
    Changes: { PR: 'https://example.org/1' }, Tests: 'n/a' }))`;
  const leave = `require('node:fs').writeFileSync('new.txt', 'x'); ${write.replace("Changes: { PR: 'https://example.org/1' }, ", '')}`;
  const createWrapper = (source: string): object => ({
    type: 'script',
    command: [process.execPath, '-e', source],
    inject: 'env',
  });
  folder = await makeFolder({
    'sluice.config.json': JSON.stringify({
      wrappers: {
        honest: createWrapper(write),
        untidy: createWrapper(leave),
        silent: createWrapper(`console.log('all done, trust me ${SECRET}')`),
      },
      secrets: { patterns: ['hunter2'] },
    }),
    'schema.json': JSON.stringify(SCHEMA),
    'repository/readme.txt': 'x',
  });
});

async function sluice(...argv: string[]) {
  const memory = createMemoryIo({});
  const io: CommandIo = { ...memory, openFile: (path) => createReadStream(path) };
  const exitCode = await run(argv, io);
  const { stdout, stderr } = memory.printed;
  return { exitCode, stdout, stderr, json: () => JSON.parse(stdout) as Record<string, never> };
}

const locationArgs = (): string[] => ['--data', join(folder, 'data'), '--config', join(folder, 'sluice.config.json')];
const suiteArgs = (): string[] => ['--suite', join(folder, 'suite')];

/** Executes an order and returns its run id. */
async function order(worker: string): Promise<string> {
  const request = { issue_ref: 'acme/shop#1', role: 'backend', repo_dir: join(folder, 'repository'), worker };
  await writeFile(join(folder, 'request.json'), JSON.stringify({ ...request, instructions: 'Go.' }));
  await sluice('order', join(folder, 'request.json'), ...locationArgs());
  const executions = await sluice('executions', '--json', ...locationArgs());
  const [newest] = JSON.parse(executions.stdout) as { run: string }[];
  return newest?.run ?? '';
}

/** Runs a command that prints the given text, and returns its run id. */
async function runPrinting(text: string): Promise<string> {
  const program = [process.execPath, '-e', `process.stdout.write(${JSON.stringify(text)})`];
  const options = ['--schema', join(folder, 'schema.json'), '--workdir', join(folder, 'repository')];
  const runOutput = await sluice('run', '--engine', 'command', ...options, ...locationArgs(), '--', ...program);
  return String(runOutput.json()['run_id']);
}

const edit = async (file: string, change: (text: string) => string): Promise<void> => {
  const path = join(folder, 'suite', file);
  await writeFile(path, change(await readFile(path, 'utf8')));
};

describe('sluice suite with an order', () => {
  it('keeps the human verdict, and fails if the decision changes', async () => {
    const id = await order('silent');
    const [item] = JSON.parse((await sluice('inbox', '--json', ...locationArgs())).stdout) as { id: string }[];
    await sluice(
      'resolve',
      item?.id ?? '',
      '--action',
      'reject',
      '--why',
      'no proof',
      '--who',
      'ada',
      ...locationArgs(),
    );

    const added = await sluice('suite', 'add', id, ...suiteArgs(), ...locationArgs());
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
    expect(added.json()).toMatchObject({
      reading: { source: 'none', problems: [{ code: 'RESULT_MISSING' }] },
      decision: { action: 'needs-human', code: 'output_unparseable' },
      verdict: { action: 'reject', who: 'ada (unverified local user)', why: 'no proof' },
    });
    const name = String(added.json()['name']);
    expect(name).toMatch(/^acme_shop_1-\d{4}-\d{2}-\d{2}-backend-0001$/);
    expect(await sluice('suite', 'run', ...suiteArgs())).toMatchObject({ exitCode: 0 });

    await edit(`${name}/expected.json`, (text) => text.replace('needs-human', 'advance'));
    const changedRun = await sluice('suite', 'run', ...suiteArgs());
    expect(changedRun.exitCode).toBe(1);
    expect(changedRun.json()).toMatchObject({
      cases: 1,
      failed: 1,
      reports: [
        {
          name,
          status: 'changed',
          changes: [{ part: 'decision', path: ['action'], expected: 'advance', found: 'needs-human' }],
        },
      ],
    });
    expect(await sluice('suite', 'accept', name, ...suiteArgs())).toMatchObject({ exitCode: 0 });
    expect(await sluice('suite', 'run', ...suiteArgs())).toMatchObject({ exitCode: 0 });
  });

  it('keeps the result file, and fails if it is parsed differently', async () => {
    const id = await order('honest');
    const added = await sluice('suite', 'add', id, '--name', 'honest', ...suiteArgs(), ...locationArgs());
    expect(added.json()).toMatchObject({
      reading: { source: 'json', result: { status: 'ok' } },
      decision: { action: 'advance', code: 'none' },
    });
    await edit('honest/work_result.json', (text) => text.replace('"ok"', '"fail"'));
    const changedRun = await sluice('suite', 'run', ...suiteArgs());
    expect(changedRun.exitCode).toBe(1);
    expect(changedRun.stdout).toContain('"part":"reading"');
    expect(changedRun.stdout).toContain('"part":"decision"');
  });

  it('keeps the commit that Sluice has made of what the agent left', async () => {
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', join(folder, 'repository'), '-c', 'user.name=x', '-c', 'user.email=x@y', ...args]);
    for (const step of ['init --quiet', 'add .', 'commit --quiet -m Begin']) git(...step.split(' '));
    const id = await order('untidy');
    const added = await sluice('suite', 'add', id, '--name', 'untidy', ...suiteArgs(), ...locationArgs());
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
    expect(added.json()).toMatchObject({
      reading: { result: { changes: { commit: expect.stringMatching(/^[\da-f]{40}$/) as unknown } }, problems: [] },
      decision: { action: 'advance' },
    });
    expect(await sluice('suite', 'run', ...suiteArgs())).toMatchObject({ exitCode: 0 });
  });

  it('masks secrets in every file', async () => {
    const id = await order('silent');
    await sluice('suite', 'add', id, '--name', 'silent', ...suiteArgs(), ...locationArgs());
    for (const file of await readdir(join(folder, 'suite', 'silent'), { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toContain('hunter2');
    }
  });
});

describe('sluice suite with a run', () => {
  it('fails if the bytes yield another value, or the schema rejects them', async () => {
    const id = await runPrinting('Here: ```json\n{"line": 3,}\n```');
    const schema = ['--schema', join(folder, 'schema.json')];
    const added = await sluice('suite', 'add', id, '--name', 'cut', ...schema, ...suiteArgs(), ...locationArgs());
    expect(added.json()).toMatchObject({
      reading: { value: { line: 3 }, repair_level: 'deterministic_generic', verdicts: ['validated'] },
      decision: { action: 'success', code: 'none' },
    });
    expect(await sluice('suite', 'run', 'cut', ...suiteArgs())).toMatchObject({ exitCode: 0 });

    await edit('cut/expected.json', (text) => text.replace('"line": 3', '"line": 4'));
    expect((await sluice('suite', 'run', ...suiteArgs())).json()).toMatchObject({
      reports: [{ changes: [{ part: 'reading', path: ['value', 'line'], expected: 4, found: 3 }] }],
    });
    await edit('cut/expected.json', (text) => text.replace('"line": 4', '"line": 3'));
    await edit('cut/schema.json', (text) => text.replace('integer', 'string'));
    expect((await sluice('suite', 'run', ...suiteArgs())).json()).toMatchObject({
      failed: 1,
      reports: [{ changes: [{ part: 'reading' }, { part: 'decision', path: ['action'], found: 'failed' }] }],
    });
  });

  it('requires the schema if no database has it', async () => {
    const id = await runPrinting('{"line": 3}');
    expect(await sluice('suite', 'add', id, ...suiteArgs(), ...locationArgs())).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/CASE_INVALID: .*--schema/),
    });
  });

  it('keeps the given verdict, and lists it', async () => {
    const id = await runPrinting('{"line": 3}');
    const verdict = ['--verdict', 'reject', '--why', 'wrong line', '--who', 'ada'];
    await sluice(
      'suite',
      'add',
      id,
      '--schema',
      join(folder, 'schema.json'),
      ...verdict,
      ...suiteArgs(),
      ...locationArgs(),
    );
    expect(JSON.parse((await sluice('suite', 'list', ...suiteArgs())).stdout)).toMatchObject([
      {
        name: id,
        kind: 'run',
        engine: 'command',
        verdict: { action: 'reject', who: 'ada (unverified local user)' },
        expected: { action: 'success' },
      },
    ]);
    const secondAdd = await sluice(
      'suite',
      'add',
      id,
      '--schema',
      join(folder, 'schema.json'),
      ...suiteArgs(),
      ...locationArgs(),
    );
    expect(secondAdd).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('TARGET_EXISTS') });
  });
});

describe('sluice suite with an answer', () => {
  it('keeps an answer that fails, and reports when it passes', async () => {
    await writeFile(join(folder, 'answer.txt'), '{"line": "three"}');
    const contentArgs = ['--answer', join(folder, 'answer.txt'), '--schema', join(folder, 'schema.json')];
    const added = await sluice('suite', 'add', ...contentArgs, '--name', 'three', ...suiteArgs(), ...locationArgs());
    expect(added.json()).toMatchObject({
      reading: { issues: ['line'] },
      decision: { action: 'failed', code: 'SCHEMA_MISMATCH' },
    });
    await writeFile(join(folder, 'suite', 'three', 'answer.txt'), '{"line": 3}');
    expect(await sluice('suite', 'run', ...suiteArgs())).toMatchObject({ exitCode: 1 });
  });
});

describe('a suite that cannot be used', () => {
  it('is not a success if it has no cases', async () => {
    expect(await sluice('suite', 'run', ...suiteArgs())).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('CASE_NOT_FOUND'),
    });
  });

  it('is not reported as empty if its folder cannot be read', async () => {
    const file = join(folder, 'schema.json');
    for (const command of [['run'], ['run', 'name'], ['list'], ['accept', '--all']]) {
      expect(await sluice('suite', ...command, '--suite', file)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`SUITE_UNREADABLE: Cannot read the suite "${file}": ENOTDIR`),
      });
    }
  });

  it.each([
    ['invalid JSON', async (dir: string) => writeFile(join(dir, 'case.json'), '{')],
    ['another shape', async (dir: string) => writeFile(join(dir, 'case.json'), '{"format":"sluice-suite/9"}')],
    ['no expectation', async (dir: string) => rm(join(dir, 'expected.json'))],
    [
      'a link instead of a file',
      async (dir: string) => {
        await rm(join(dir, 'answer.txt'));
        await symlink('/etc/hostname', join(dir, 'answer.txt'));
      },
    ],
  ])('reports a case with %s, and continues with the others', async (_, damage) => {
    await writeFile(join(folder, 'answer.txt'), '{"line": 3}');
    for (const name of ['bad', 'good'])
      await sluice(
        'suite',
        'add',
        '--answer',
        join(folder, 'answer.txt'),
        '--name',
        name,
        ...suiteArgs(),
        ...locationArgs(),
      );
    await damage(join(folder, 'suite', 'bad'));
    const runOutput = await sluice('suite', 'run', ...suiteArgs(), '--junit', join(folder, 'report.xml'));
    expect(runOutput.exitCode).toBe(1);
    expect(runOutput.json()).toMatchObject({
      reports: [
        { name: 'bad', status: 'broken' },
        { name: 'good', status: 'same' },
      ],
    });
    const xml = await readFile(join(folder, 'report.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="sluice-suite" tests="2" failures="0" errors="1">');
  });

  it('is not partially accepted if one of its cases cannot be read', async () => {
    await writeFile(join(folder, 'answer.txt'), '{"line": 3}');
    const answerArgs = ['--answer', join(folder, 'answer.txt')];
    for (const name of ['a-changed', 'b-broken'])
      await sluice('suite', 'add', ...answerArgs, '--name', name, ...suiteArgs(), ...locationArgs());
    await edit('a-changed/answer.txt', () => '{"line": 4}');
    await edit('b-broken/case.json', () => '{');
    expect(await sluice('suite', 'accept', '--all', ...suiteArgs())).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('No case was accepted, because "b-broken" cannot be read: CASE_INVALID: '),
    });
    const expected = await readFile(join(folder, 'suite', 'a-changed', 'expected.json'), 'utf8');
    expect(JSON.parse(expected)).toMatchObject({ reading: { value: { line: 3 } } });
  });

  it.each(['../outside', '.hidden', ''])('refuses the name %j', async (name) => {
    await mkdir(join(folder, 'suite'));
    await writeFile(join(folder, 'answer.txt'), '{}');
    const added = await sluice(
      'suite',
      'add',
      '--answer',
      join(folder, 'answer.txt'),
      '--name',
      name,
      ...suiteArgs(),
      ...locationArgs(),
    );
    expect(added).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('CASE_INVALID') });
    expect(await readdir(join(folder, 'suite'))).toEqual([]);
  });
});
