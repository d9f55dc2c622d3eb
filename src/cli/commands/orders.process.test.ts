import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CommandIo } from '../command-io.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findProjectData } from '../../base/files/index.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-orders-'));
  await mkdir(join(folder, 'repository'));
  const wrappers = {
    honest: createScript(`write(result({ Status: 'ok', Changes: { PR: 'https://example.org/1' }, Tests: 'n/a' }))`),
    silent: createScript(`console.log('all done, trust me')`),
  };
  await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ wrappers }));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Creates a wrapper from a one-line script: `write` writes a result file, `result` fills in the order's ids. */
function createScript(body: string): object {
  const source = `
    const { writeFileSync } = require('node:fs');
    const { SLUICE_ISSUE_REF: IssueRef, SLUICE_RUN_ID: RunId, SLUICE_RUN_DIR: dir } = process.env;
    const result = (fields) => ({ IssueRef, RunId, Summary: 'Did it.', ...fields });
    const write = (value) => writeFileSync(dir + '/work_result.json', JSON.stringify(value));
    ${body}`;
  return { type: 'script', command: [process.execPath, '-e', source], inject: 'env' };
}

async function sluice(...argv: string[]) {
  const memory = createMemoryIo({});
  const io: CommandIo = { ...memory, openFile: (path) => createReadStream(path) };
  const locationArgs = ['--data', join(folder, 'data'), '--config', join(folder, 'sluice.config.json')];
  const exitCode = await run([...argv, ...locationArgs], io);
  return { exitCode, ...memory.printed };
}

async function order(worker: string, issue = 'acme/shop#1', extraFields: Fields = {}) {
  const file = join(folder, 'request.json');
  const request = {
    issue_ref: issue,
    role: 'backend',
    repo_dir: join(folder, 'repository'),
    worker,
    instructions: 'Go.',
    ...extraFields,
  };
  await writeFile(file, JSON.stringify(request));
  const { exitCode, stdout, stderr } = await sluice('order', file);
  return { exitCode, stderr, printed: stdout === '' ? {} : (JSON.parse(stdout) as Fields) };
}

type Fields = Readonly<Record<string, unknown>>;

/** Runs a list command and returns its output. */
async function list(...argv: string[]): Promise<readonly Fields[]> {
  return JSON.parse((await sluice(...argv)).stdout) as readonly Fields[];
}

const listInbox = async () => list('inbox', '--json');
const readComments = async () => readFile(join(folder, 'data', 'comments', 'acme_shop_1.md'), 'utf8');

describe('sluice order', () => {
  it('runs the configured git filters, and refuses an unknown filter', async () => {
    const home = await makeFolder({ '.gitconfig': '[filter "upper"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n' });
    vi.stubEnv('HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const repository = join(folder, 'repository');
    await writeFile(join(repository, '.gitattributes'), '*.txt filter=upper\n');
    await writeFile(join(repository, 'a.txt'), 'HELLO\n');
    const author = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      [...author, 'commit', '-qm', 'Begin'],
    ]) {
      execFileSync('git', ['-C', repository, ...args]);
    }
    // The filter writes the file only in a worktree, so this content shows whether the agent ran in the repository
    // itself.
    await writeFile(join(repository, 'a.txt'), 'changed\n');
    const body = `const Summary = 'It reads ' + require('node:fs').readFileSync('a.txt', 'utf8');
      write(result({ Status: 'blocked', Changes: {}, Tests: 'n/a', Summary }))`;
    const config = { wrappers: { reader: createScript(body) }, git: { filters: ['upper'] } };
    await writeFile(join(folder, 'sluice.config.json'), JSON.stringify(config));
    await order('reader', 'acme/shop#1', { isolation: 'worktree' });
    expect(await readComments()).toContain('It reads HELLO');
    await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ ...config, git: { filters: ['other'] } }));
    const refused = await order('reader', 'acme/shop#2');
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain('The setting "git.filters" names "other"');
  });

  it('prints the decision, and delivers the comment before it exits', async () => {
    const { exitCode, printed } = await order('honest');
    expect(printed).toMatchObject({ action: 'advance', source: 'json', result_code: 'none', state: 'settled' });
    expect(printed['run_id']).toMatch(/^\d{4}-\d\d-\d\d-backend-0001$/);
    expect(await readComments()).toContain(`Trigger: workrun:${String(printed['run_id'])}`);
    expect(exitCode).toBe(0);
  });

  it('exits with 1 if a human has to decide', async () => {
    const { exitCode, printed } = await order('silent');
    expect(printed).toMatchObject({ action: 'needs-human', source: 'none' });
    expect(exitCode).toBe(1);
    expect(await listInbox()).toMatchObject([
      { issue_ref: 'acme/shop#1', run_id: printed['run_id'], resolution: null },
    ]);
  });

  it('exits with 2 for an unknown wrapper, and submits nothing', async () => {
    const { exitCode, stderr } = await order('stranger');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('UNKNOWN_WORKER');
    expect(await list('executions')).toEqual([]);
  });

  it('exits with 2 for an invalid request', async () => {
    const { exitCode, stderr } = await order('honest', 'gid://gitlab/Issue/1');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('issue_ref');
  });
});

describe('sluice resolve', () => {
  async function createInboxItem(): Promise<{ readonly id: string; readonly run_id: string }> {
    await order('silent');
    const [item] = await listInbox();
    return { id: String(item?.['id']), run_id: String(item?.['run_id']) };
  }

  it('accepts a corrected result, records who and why, and empties the inbox', async () => {
    const { id, run_id } = await createInboxItem();
    const file = join(folder, 'result.json');
    const result = {
      IssueRef: 'acme/shop#1',
      RunId: run_id,
      Status: 'ok',
      Changes: { PR: '#7' },
      Tests: 'n/a',
      Summary: 'By hand.',
    };
    await writeFile(file, JSON.stringify(result));
    const settled = await sluice(
      'resolve',
      id,
      '--json',
      '--action',
      'edit',
      '--why',
      'I looked',
      '--who',
      'Ada',
      '--result',
      file,
    );
    expect(settled.exitCode).toBe(0);
    expect(await listInbox()).toEqual([]);
    expect(await readComments()).toMatch(new RegExp(`Trigger: resolve:${id}[\\s\\S]*Ada`));
    const [newest] = await list('executions', '--json');
    expect(newest).toMatchObject({ who: 'Ada (unverified local user)', decision: 'advance' });
  });

  it('refuses to accept an unreadable result', async () => {
    const { id } = await createInboxItem();
    const { exitCode, stderr } = await sluice('resolve', id, '--action', 'accept', '--why', 'why not', '--who', 'Ada');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('NOTHING_TO_ACCEPT');
    expect(await listInbox()).toHaveLength(1);
  });

  it('queues a new run for a retry, and refuses to do so a second time', async () => {
    const { id } = await createInboxItem();
    const retryArgs = ['resolve', id, '--action', 'retry', '--why', 'once more', '--who', 'Ada'];
    const first = await sluice(...retryArgs);
    expect(JSON.parse(first.stdout)).toMatchObject({ new_run: { run_id: expect.stringMatching(/-backend-0002$/) } });
    const { exitCode, stderr } = await sluice(...retryArgs);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('CONFLICT');
  });

  it('passes line comments to the new run, and refuses invalid comments', async () => {
    const { id } = await createInboxItem();
    const file = join(folder, 'comments.json');
    const retry = ['resolve', id, '--action', 'retry', '--why', 'nearly', '--who', 'Ada', '--comments', file];
    await writeFile(file, '[{ "path": "a.ts", "line": 0, "side": "new", "text": "Why?" }]');
    const refused = await sluice(...retry);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('INVALID_RESOLUTION')]);
    await writeFile(file, '[{ "path": "a.ts", "line": 3, "side": "new", "text": "Why?" }]');
    const { new_run } = JSON.parse((await sluice(...retry)).stdout) as { readonly new_run: { instructions: string } };
    expect(new_run.instructions).toContain('- a.ts, line 3: Why?');
  });

  it('refuses an item whose run was superseded', async () => {
    const { id } = await createInboxItem();
    await order('honest');
    const { exitCode, stderr } = await sluice('resolve', id, '--action', 'reject', '--why', 'too late', '--who', 'Ada');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('CONFLICT');
    expect(await listInbox()).toEqual([]);
  });
});

describe('sluice inbox', () => {
  it('shows one item with its reason and its evidence, and rejects an unknown id', async () => {
    await order('silent');
    const [item] = await listInbox();
    const shown = await sluice('inbox', String(item?.['id']), '--json');
    expect(JSON.parse(shown.stdout)).toEqual(item);
    const terminal = createMemoryIo({}, { isTerminal: true });
    await run(['inbox', String(item?.['id']), '--data', join(folder, 'data')], terminal);
    expect(terminal.printed.stdout).toContain(`${String(item?.['reason'])}\n`);
    const unknown = await sluice('inbox', '01J00000000000000000000000');
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('not found')]);
  });
});

describe('sluice executions', () => {
  it('lists, filters and exports executions', async () => {
    await order('honest');
    await order('silent', 'acme/shop#2');
    const all = await list('executions');
    expect(all.map(({ decision }) => decision)).toEqual(['needs-human', 'advance']);
    const at = String(all[0]?.['at']);
    expect(await list('executions', '--since', at)).toEqual(all.slice(0, 1));
    expect(await list('executions', '--until', at)).toEqual(all.slice(1));
    const filtered = await list('executions', '--decision', 'advance');
    expect(filtered).toMatchObject([
      { issue_ref: 'acme/shop#1', worker: 'honest', exit_code: 0, parse_path: expect.any(String) },
    ]);
    const csv = (await sluice('executions', '--csv')).stdout.split('\r\n');
    expect(csv[0]).toMatch(/^at,issue_ref,run_id,decision,/);
    expect(csv).toHaveLength(4);
  });

  it.each([
    [['--since', 'yesterday'], 'Use a date (2026-11-15) or a time'],
    [['--until', '2026-02-31'], 'Use a date (2026-11-15) or a time'],
    [['--json', '--csv'], "'--csv' cannot be used with option '--json'"],
    [['--limit', '0'], 'Use a whole number from 1'],
  ])('exits with 2 for %j', async (args, message) => {
    const { exitCode, stdout, stderr } = await sluice('executions', ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('sluice outbox', () => {
  it('lists delivered comments', async () => {
    await order('honest');
    expect(await list('outbox')).toMatchObject([
      { sink: 'markdown', state: 'delivered', delivered_to: expect.stringContaining('acme_shop_1.md') },
    ]);
  });
});

describe('sluice demo', () => {
  it('delivers three results, and leaves one inbox item', async () => {
    const memory = createMemoryIo({});
    await run(['demo', '--json', '--data', join(folder, 'demo')], memory);
    const report = JSON.parse(memory.printed.stdout) as { orders: readonly Fields[]; inbox: readonly Fields[] };
    expect(report.orders.map(({ worker, source, action }) => [worker, source, action])).toEqual([
      ['json-agent', 'json', 'advance'],
      ['text-agent', 'text', 'advance'],
      ['print-only-agent', 'streams', 'needs-human'],
      ['codex-cli', 'json', 'advance'],
    ]);
    expect(report.inbox).toHaveLength(1);
  });

  it('leaves an inbox item that can be retried, because its wrappers are registered in its data folder', async () => {
    const locationArgs = ['--data', join(folder, 'demo')];
    const demo = createMemoryIo({});
    await run(['demo', '--json', ...locationArgs], demo);
    const { inbox: waiting } = JSON.parse(demo.printed.stdout) as { inbox: readonly Fields[] };
    const secondIo = createMemoryIo({});
    const words = ['resolve', String(waiting[0]?.['id']), '--action', 'retry', '--why', 'once more', '--who', 'Ada'];
    expect(await run([...words, ...locationArgs], secondIo)).toBe(0);
    expect(JSON.parse(secondIo.printed.stdout)).toMatchObject({ new_run: { worker: 'print-only-agent' } });
  });

  it('does not register its wrappers in other data folders', async () => {
    const { exitCode, stderr } = await order('print-only-agent');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('UNKNOWN_WORKER');
  });
});

/** The commands that list records, and what they print without any. */
const LISTS: readonly (readonly [command: string, output: string])[] = [
  ['inbox', '[]\n'],
  ['inbox --all', '[]\n'],
  ['executions', '[]\n'],
  ['executions --since 2026-01-01', '[]\n'],
  ['outbox', '[]\n'],
  ['outbox --state dead', '[]\n'],
  ['workers', '[]\n'],
  ['budgets', '{"items":[],"waiting":[]}\n'],
];

describe('a missing database', () => {
  it.each(LISTS)(
    'counts as empty for %s with a note if it was named explicitly, and is not created',
    async (command, output) => {
      const { exitCode, stdout, stderr } = await sluice(...command.split(' '));
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: output });
      expect(stderr).toContain('There is no database at');
      expect(existsSync(join(folder, 'data'))).toBe(false);
    },
  );

  it.each(LISTS)('counts as empty for %s at the default location', async (command, output) => {
    const project = await makeFolder({});
    vi.spyOn(process, 'cwd').mockReturnValue(project);
    onTestFinished(() => void vi.restoreAllMocks());
    const io = createMemoryIo({});
    expect(await run(command.split(' '), io)).toBe(0);
    expect(io.printed).toEqual({ stdout: output, stderr: '' });
    expect(existsSync(findProjectData(project, process.env))).toBe(false);
  });
});

it.each(LISTS)('an empty database is an empty list for %s', async (command, output) => {
  await sluice('outbox', '--deliver');
  expect(existsSync(join(folder, 'data'))).toBe(true);
  expect(await sluice(...command.split(' '))).toEqual({ exitCode: 0, stdout: output, stderr: '' });
  const terminal = createMemoryIo({}, { isTerminal: true });
  expect(await run([...command.split(' '), '--data', join(folder, 'data')], terminal)).toBe(0);
  expect(terminal.printed.stdout.split('\n')).toHaveLength(2);
});

describe('sluice worker', () => {
  it('refuses to start if a wrapper has no command', async () => {
    await writeFile(join(folder, 'sluice.config.json'), JSON.stringify({ wrappers: { broken: { type: 'script' } } }));
    const { exitCode, stderr } = await sluice('worker');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('broken.command');
  });
});

describe('sluice replay with an order’s run', () => {
  it('compares the bytes with the digests in the database, and detects changes', async () => {
    await order('silent');
    const [id = ''] = await readdir(join(folder, 'data/runs'));
    const dir = join(folder, 'data/runs', id);
    const intact = await sluice('replay', dir);
    expect(intact.exitCode).toBe(0);
    expect(JSON.parse(intact.stdout)).toMatchObject({ status: 'same', captured: 1 });
    await appendFile(join(dir, '.audit/stdout.1.log'), 'Approve everything.');
    const altered = await sluice('replay', dir);
    expect(altered.exitCode).toBe(1);
    expect(JSON.parse(altered.stdout)).toMatchObject({ status: 'altered', altered: { file: 'stdout.1.log' } });
  });
});
