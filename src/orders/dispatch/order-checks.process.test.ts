import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codex } from '../../events/contract/translate-lines.contract.js';
import type { Check } from '../proof/checks.js';
import { canSandbox } from '../../runs/scenarios/fixtures/make-sandbox-site.js';
import { makeSite } from '../../runs/scenarios/fixtures/make-site.js';
import { setUpWorker } from './fixtures/set-up-worker.js';

const WORKER = `echo "$SLUICE_RUN_ID" > work.txt; git add -A
git -c user.name=w -c user.email=w@example.org commit -q -m Work
printf '{"issue_ref":"%s","run_id":"%s","status":"%s","changes":{"commit":"%s"},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" "$SLUICE_INSTRUCTIONS" "$(git rev-parse HEAD)" > "$SLUICE_RUN_DIR/work_result.json"`;

/** Sets up a worker with a git repository whose orders are checked. */
async function openChecked(checks: Readonly<Record<string, Check>>, policy?: 'proven' | 'reported') {
  const names = Object.keys(checks);
  const wrapper = {
    type: 'script',
    command: ['/bin/sh', '-c', WORKER],
    inject: 'env',
    checks: names,
    ...(policy === undefined ? {} : { policy: { evidence: policy } }),
  } as const;
  const setup = await setUpWorker({ lead: { wrappers: { worker: wrapper }, checks } });
  const repository = join(setup.data, 'repository');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
  const order = async (status = 'ok') => setup.submit('local#1', {}, { worker: 'worker', instructions: status });
  return { ...setup, git, order };
}

/** Returns the verdict of an order's only check. */
async function judge(check: Check, policy?: 'proven' | 'reported') {
  const { start, order, settled, store, data } = await openChecked({ unit: check }, policy);
  start();
  const record = await settled(await order());
  const evidence = record?.decision?.evidence?.find(({ claim, by }) => claim === 'tests' && by === 'sluice');
  return { record, evidence, store, data, action: record?.decision?.action };
}

describe('a check', () => {
  it('runs in a clean checkout of the commit, with a clean environment, as a separate run', async () => {
    const print = [
      'sh',
      '-c',
      'git status --porcelain; ls; echo "$HOME $SLUICE_INSTRUCTIONS $CI"; ls -A "$HOME"; cat work.txt',
    ];
    const { evidence, store, data, record, action } = await judge({ command: print, network: 'host' });
    expect(action).toBe('advance');
    const run = await store.findRun(evidence?.run ?? '');
    expect(run).toMatchObject({ state: 'ended', order: null, spec: { engine: 'command', command: print } });
    const home = join(data, 'checks', record?.run ?? '', 'home');
    expect(run?.result?.text).toBe(`README.md\nwork.txt\n${home}  true\n${record?.order.run_id}`);
    const log = join(data, 'runs', run?.id ?? '', '.audit', 'stdout.1.log');
    expect(await readFile(log, 'utf8')).toContain('work.txt');
    expect(existsSync(home)).toBe(false);
  });

  it('that times out contradicts', async () => {
    const { evidence, action } = await judge({ command: ['sleep', '60'], timeout_s: 0.5 });
    expect(action).toBe('needs-human');
    expect(evidence).toMatchObject({ verdict: 'contradicted', detail: expect.stringContaining('timed out after') });
  });

  it.each<[string, Check, RegExp]>([
    ['whose preparation fails', { command: ['true'], prepare: ['false'] }, /not run: its preparation failed/],
    ['that cannot be started', { command: ['/no/such/program'] }, /could not be started/],
  ])('%s proves nothing: the order advances only if a report is enough', async (_, check, detail) => {
    const proven = await judge(check);
    expect(proven).toMatchObject({ action: 'needs-human', evidence: { verdict: 'unchecked' } });
    expect(proven.evidence?.detail).toMatch(detail);
    expect((await judge(check, 'reported')).action).toBe('advance');
  });

  it('that cannot run because of the file system proves nothing, and the order is settled', async () => {
    const { start, order, settled, data } = await openChecked({ unit: { command: ['true'] } });
    // A file in place of the folder where checks run.
    await writeFile(join(data, 'checks'), 'x');
    start();
    const record = await settled(await order());
    expect(record?.decision?.evidence).toContainEqual(
      expect.objectContaining({
        claim: 'tests',
        verdict: 'unchecked',
        detail: expect.stringMatching(/not run: ENOTDIR/),
      }),
    );
  });

  it('is prepared before it runs, in the same checkout', async () => {
    const { action } = await judge({ command: ['test', '-f', 'ready'], prepare: ['touch', 'ready'] });
    expect(action).toBe('advance');
  });

  it('is retried if configured, each time in a new checkout, and all attempts are shown', async () => {
    const { data } = await setUpWorker();
    const once = join(data, 'once');
    const command = ['sh', '-c', `test ! -e dirt && touch dirt && test -e ${once} || { touch ${once}; exit 3; }`];
    const { action, evidence } = await judge({ command, tries: 3, network: 'host' });
    expect(action).toBe('advance');
    expect(evidence?.detail).toMatch(
      /: try 1 exit code 3 after [\d.]+ s, try 2 exit code 0 after [\d.]+ s\. Not sandboxed\.$/,
    );
  });

  it('does not run for a result with status fail', async () => {
    const { start, order, settled, store } = await openChecked({ unit: { command: ['true'] } });
    start();
    expect((await settled(await order('fail')))?.decision?.action).toBe('blocked');
    expect((await store.listRuns({})).items).toHaveLength(1);
  });

  it('uses no slot, keeps its order running, and stops with it', async () => {
    const { start, order, settled, store } = await openChecked({ unit: { command: ['sleep', '60'] } });
    start({ concurrency: 1 });
    const submitted = await order();
    const findCheck = async () => (await store.listRuns({ state: 'running' })).items.find((run) => run.order === null);
    await expect.poll(async () => (await findCheck())?.started_at ?? null).not.toBeNull();
    const check = await findCheck();
    expect((await store.findRun(submitted.run))?.state).toBe('running');
    await store.requestCancel(submitted.run, Date.now());
    const record = await settled(submitted);
    expect(record?.decision).toMatchObject({ action: 'needs-human' });
    expect(record?.decision?.evidence).toContainEqual(
      expect.objectContaining({ claim: 'tests', by: 'sluice', verdict: 'unchecked', run: check?.id }),
    );
    expect((await store.findRun(check?.id ?? ''))?.result?.status).toBe('canceled');
  });
});

describe('an agent in a repository', () => {
  it('gets a worktree by default, and its changes there are committed', async () => {
    const result = {
      issue_ref: 'local#1',
      run_id: '2020-01-01-qa-0001',
      status: 'ok',
      changes: {},
      tests: 'n/a',
      summary: 'Add a file',
    };
    const answer = `<json>${JSON.stringify(result)}</json>`;
    const lines = [codex.thread('t-1'), codex.message(answer), codex.completed(10, 1)];
    const site = await makeSite([
      { file: 'left.txt', text: 'left' },
      { print: lines.map((line) => `${JSON.stringify(line)}\n`).join('') },
    ]);
    const clock = () => Date.parse('2020-01-01T12:00:00Z');
    const { data, start, submit, settled } = await setUpWorker({ lead: { clock } });
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', join(data, 'repository'), ...args], { encoding: 'utf8' });
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
    start({ runs: { data, programs: { codex: site.agent } } });
    const record = await settled(await submit('local#1', {}, { worker: 'codex-cli' }));
    expect(record?.decision?.action).toBe('advance');
    const commit = record?.result?.changes.commit ?? '';
    expect(git('show', '--name-only', '--format=%an%n%B', commit)).toMatch(
      /^sluice\nAdd a file\n[\s\S]*Co-authored-by: codex-cli/,
    );
    expect(git('branch', '--contains', commit)).toContain('sluice/2020-01-01-qa-0001-');
  });
});

describe.runIf(canSandbox)('a check in a sandbox', () => {
  it('has the commit and its objects, and no network; the evidence reports it', async () => {
    const command = ['bash', '-c', 'git log --format=%s -1 && grep -c : /proc/net/dev'];
    const { action, evidence, store } = await judge({ command, sandbox: 'required' });
    const run = await store.findRun(evidence?.run ?? '');
    expect(run?.result?.text).toBe('Work\n1');
    expect(run?.result?.sandbox).toEqual({ used: true, network: 'none' });
    expect(evidence?.detail).toContain('Sandboxed, without network.');
    expect(action).toBe('advance');
  });

  it('has network access if configured, and its preparation always has; both share a home', async () => {
    const prepare = ['bash', '-c', 'grep : /proc/net/dev > "$HOME/devices"'];
    const command = ['bash', '-c', 'diff <(grep : /proc/net/dev | cut -d: -f1) <(cut -d: -f1 "$HOME/devices")'];
    expect(await judge({ command, prepare, network: 'host', sandbox: 'required' })).toMatchObject({
      action: 'advance',
      evidence: { detail: expect.stringContaining('Sandboxed, with network.') },
    });
  });
});
