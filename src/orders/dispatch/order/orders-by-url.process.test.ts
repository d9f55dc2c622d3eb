import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { createLead } from '../../lead/create-lead.js';
import { readRepos } from '../../repos/repos.js';
import { catchCode } from '../../../store/contract/fixtures/open-site.js';
import { openStore } from '../../../store/open-store.js';
import { readChange } from '../../git/read-change.js';
import { startWorker } from '../start-worker.js';
import { waitForOrder } from '../wait-for-order.js';
import { git, installSsh, makeRepository, serveRepositories } from '../../git/fixtures/git-server.js';

const TOKEN = 'correct-horse-battery';
const BASIC = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`;

/** Adds a line to a file of the repository, and records its environment. */
const WORK = `echo "$SLUICE_RUN_ID" >> work.txt
case "$SLUICE_ISSUE_REF" in *lfs) echo "version https://git-lfs.github.com/spec/v1" > a.bin ;; esac
env > "$SLUICE_RUN_DIR/environment"
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;

const SHARED = {
  wrappers: Object.fromEntries(
    ['machine-a', 'machine-b', 'any-machine'].map((type) => [
      type,
      { type, command: ['/bin/sh', '-c', WORK], checks: ['read'] },
    ]),
  ),
  checks: { read: { command: ['cat', 'work.txt'] }, fails: { command: ['false'] } },
} as const;

/** Sets up two workers that share only a database: each has its own data folder, and so its own mirror. */
async function openFleet(settings: readonly unknown[], env: Readonly<Record<string, string>> = {}) {
  const root = await makeFolder({});
  const store = await openStore('memory:');
  onTestFinished(async () => store.close());
  const repos = readRepos(settings, env);
  const start = (machine: string, type: string) => {
    const data = join(root, machine);
    const own = createLead({ store, data, repos, ...SHARED });
    const worker = startWorker({
      store,
      lead: own,
      runs: { data },
      workerTypes: [type],
      kinds: ['orders'],
      pollMs: 100,
    });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    return worker;
  };
  for (const machine of ['machine-a', 'machine-b']) start(machine, machine);
  const lead = createLead({ store, data: join(root, 'server'), repos, ...SHARED });
  const execute = async (issue: string, worker: string, changes: object) => {
    const request = { issue_ref: issue, role: 'qa', worker, instructions: 'Add a line.', ...changes };
    const { order } = await lead.submit(request);
    const name = { issueRef: order.issue_ref, runId: order.run_id };
    const record = await waitForOrder(store, name, { signal: AbortSignal.timeout(50_000) });
    if (record === undefined) throw new Error('the order was not settled');
    return record;
  };
  return { root, store, lead, repos, execute, start };
}

describe('an order for a repository with a URL', { timeout: 120_000 }, () => {
  it('is executed on any host, each with its own mirror, and its commit is pushed to its own branch', async () => {
    const { url, bare, first } = await makeRepository({ 'work.txt': 'begin\n' });
    const { root, lead, repos, execute } = await openFleet([url]);
    for (const machine of ['machine-a', 'machine-b']) {
      const record = await execute(`local#${machine}`, machine, { repo: url });
      expect(record.order).toMatchObject({ repo: url, repo_dir: url });
      expect(record).toMatchObject({ base_commit: first, decision: { action: 'advance' } });
      const branch = `sluice/${record.order.run_id}-${record.run}`;
      const commit = record.result?.changes.commit ?? '';
      expect(git(bare, 'rev-parse', branch)).toBe(commit);
      expect(git(bare, 'show', `${branch}:work.txt`)).toBe(`begin\n${record.order.run_id}`);
      expect(record.decision?.reason).toContain(`Its commit is on the branch ${branch} of ${url}.`);
      const verdicts = record.decision?.evidence?.map(({ claim, verdict }) => `${claim} ${verdict}`);
      expect(verdicts).toEqual(expect.arrayContaining(['commit confirmed', 'tests confirmed']));
      // A server that has executed nothing shows the change.
      const context = { data: join(root, 'server'), maskText: (text: string) => lead.maskText(text), repos };
      expect(await readChange(context, record)).toMatchObject({ source: 'commit', files: [{ path: 'work.txt' }] });
    }
    expect(git(bare, 'rev-parse', 'main')).toBe(first);
  });

  it('is executed and proven in a repository with sha256 commits that is reached over ssh', async () => {
    const { bare, first } = await makeRepository({ 'work.txt': 'begin\n' }, 'sha256');
    const url = (await installSsh()).createUrl(bare);
    const { root, lead, repos, execute } = await openFleet([url]);
    const record = await execute('local#1', 'machine-a', { repo: url });
    expect(record).toMatchObject({ base_commit: first, decision: { action: 'advance' } });
    const commit = record.result?.changes.commit ?? '';
    expect(commit).toMatch(/^[0-9a-f]{64}$/);
    expect(git(bare, 'rev-parse', `sluice/${record.order.run_id}-${record.run}`)).toBe(commit);
    const verdicts = record.decision?.evidence?.map(({ claim, verdict }) => `${claim} ${verdict}`);
    expect(verdicts).toEqual(expect.arrayContaining(['commit confirmed', 'tests confirmed']));
    const context = { data: join(root, 'server'), maskText: (text: string) => lead.maskText(text), repos };
    expect(await readChange(context, record)).toMatchObject({ source: 'commit', files: [{ path: 'work.txt' }] });
  });

  it('starts from the current commit of the repository', async () => {
    const { url, bare, clone, commit } = await makeRepository({ 'work.txt': 'begin\n' });
    const { execute } = await openFleet([url]);
    await execute('local#1', 'machine-a', { repo: url });
    await writeFile(join(clone, 'work.txt'), 'changed\n');
    const second = commit('Change');
    const record = await execute('local#1', 'machine-b', { repo: url });
    expect(record.base_commit).toBe(second);
    expect(git(bare, 'show', `${record.result?.changes.commit}:work.txt`)).toBe(`changed\n${record.order.run_id}`);
  });

  it('continues on another host from the reviewed commit', async () => {
    const { url, bare } = await makeRepository({ 'work.txt': 'begin\n' });
    const { root, store, lead, execute, start } = await openFleet([url]);
    const worker = start('first', 'any-machine');
    const record = await execute('local#1', 'any-machine', { repo: url, checks: ['fails'] });
    expect(record.decision).toMatchObject({ action: 'needs-human', result_code: 'evidence_contradicted' });
    const reviewed = record.result?.changes.commit ?? '';
    await worker.stop();
    start('second', 'any-machine');
    const [item] = (await store.listInbox({ issueRef: 'local#1' })).items;
    const { order } = await lead.resolve({ id: item?.id ?? '', action: 'retry', who: 'ada', why: 'Once more.' });
    const name = { issueRef: 'local#1', runId: order?.run_id ?? '' };
    const retriedOrder = await waitForOrder(store, name, { signal: AbortSignal.timeout(50_000) });
    expect(retriedOrder?.order).toMatchObject({ repo: url, start_commit: reviewed });
    expect(git(bare, 'rev-parse', `${retriedOrder?.result?.changes.commit}^`)).toBe(reviewed);
    expect(await readdir(join(root, 'second', 'runs'))).toContain(retriedOrder?.run);
  });

  it('needs a token that its agent never gets', async () => {
    const { root: served } = await makeRepository({ 'work.txt': 'begin\n' });
    const server = await serveRepositories(served, { authorization: BASIC });
    const url = `${server.url}/shop.git`;
    const { root, execute } = await openFleet([{ url, token_env: 'SHOP_TOKEN' }], { SHOP_TOKEN: TOKEN });
    const record = await execute('local#1', 'machine-a', { repo: url });
    expect(record.decision?.action).toBe('advance');
    const environment = await readFile(join(root, 'machine-a', 'runs', record.run, 'environment'), 'utf8');
    expect(environment).toContain('SLUICE_RUN_ID');
    expect(environment).not.toContain(TOKEN);
    expect(JSON.stringify(record)).not.toContain(TOKEN);
  });

  it('goes to a human if the URL is dead', async () => {
    const url = 'file:///nowhere/at/all.git';
    const { execute } = await openFleet([url]);
    const { decision } = await execute('local#1', 'machine-a', { repo: url });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'env_unavailable' });
    expect(decision?.reason).toContain(`Cannot fetch "${url}"`);
  });

  it("goes to a human if its commit cannot be pushed, with the commit's location", async () => {
    const { url, bare } = await makeRepository({ 'work.txt': 'begin\n' });
    await writeFile(join(bare, 'hooks', 'pre-receive'), '#!/bin/sh\necho "no pushes today" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const { root, execute } = await openFleet([url]);
    const record = await execute('local#1', 'machine-a', { repo: url });
    expect(record.decision).toMatchObject({ action: 'needs-human', result_code: 'manual_intervention' });
    expect(record.decision?.reason).toContain('no pushes today');
    const mirror = /mirror "(?<folder>[^"]+)"/.exec(record.decision?.reason ?? '')?.groups?.['folder'] ?? '';
    expect(mirror.startsWith(join(root, 'machine-a', 'mirrors'))).toBe(true);
    expect(git(mirror, 'show', `sluice/${record.order.run_id}-${record.run}:work.txt`)).toContain(record.order.run_id);
  });

  it.each([
    ['a branch with its whole hash as its name', 'sha1', 'cat', ''],
    ['a branch with the start of its hash as its name', 'sha256', 'cut -c1-10', ''],
    ['a process that moves its branch after the check', 'sha1', 'cat', 'sluice'],
  ] as const)('pushes the commit that was checked, in spite of %s', async (_, format, shorten, moved) => {
    const { url, bare } = await makeRepository({ 'work.txt': 'begin\n' }, format);
    // The check stands for a process that the agent left and that Sluice did not find.
    const move = `for mirror in "$(dirname "$0")"/data/mirrors/*.git; do
  evil=$(git -C "$mirror" for-each-ref --format='%(objectname) %(subject)' refs/heads | sed -n 's/ Evil//p' | head -1)
  git -C "$mirror" for-each-ref --format="update %(refname) $evil" "refs/heads/${moved}" | git -C "$mirror" update-ref --stdin
done; grep -q good work.txt`;
    const root = await makeFolder({ 'move.sh': move });
    const store = await openStore('memory:');
    onTestFinished(async () => store.close());
    // A second commit, which nothing has checked, gets the name of the first one.
    const work = `echo good > work.txt; git -c user.name=x -c user.email=x@example.org commit --quiet -am Good; good=$(git rev-parse HEAD | ${shorten})
echo evil > work.txt; git -c user.name=x -c user.email=x@example.org commit --quiet -am Evil; git update-ref "refs/heads/$good" HEAD; git reset --quiet --hard HEAD^
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{"commit":"%s"},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" "$good" > "$SLUICE_RUN_DIR/work_result.json"`;
    const lead = createLead({
      store,
      data: join(root, 'data'),
      repos: readRepos([url], {}),
      wrappers: { shell: { type: 'shell', command: ['/bin/sh', '-c', work] } },
      checks: { read: { command: ['sh', join(root, 'move.sh')], sandbox: 'off', network: 'host' } },
    });
    const worker = startWorker({ store, lead, runs: { data: join(root, 'data') }, kinds: ['orders'], pollMs: 100 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    const request = { issue_ref: 'local#1', role: 'qa', worker: 'shell', instructions: '', repo: url };
    const { order } = await lead.submit({ ...request, checks: ['read'] });
    const name = { issueRef: order.issue_ref, runId: order.run_id };
    const record = await waitForOrder(store, name, { signal: AbortSignal.timeout(50_000) });
    expect(record?.decision).toMatchObject({ action: 'advance' });
    const branch = `refs/heads/sluice/${order.run_id}-${record?.run}`;
    expect(git(bare, 'show', `${branch}:work.txt`)).toBe('good');
    expect(git(bare, 'rev-parse', branch)).toBe(record?.result?.changes.commit);
  });

  it('reports that files in Git LFS were not pushed', async () => {
    const { url } = await makeRepository({ 'work.txt': 'begin\n' });
    const { execute } = await openFleet([url]);
    const reason = async (issue: string) => (await execute(issue, 'machine-a', { repo: url })).decision?.reason;
    expect(await reason('local#lfs')).toContain('such as "a.bin", were not pushed: upload them with git lfs push.');
    expect(await reason('local#plain')).not.toContain('LFS');
  });

  it('keeps its commit in the mirror if so configured', async () => {
    const { url, bare } = await makeRepository({ 'work.txt': 'begin\n' });
    const { execute } = await openFleet([{ url, push: false }]);
    const record = await execute('local#1', 'machine-a', { repo: url });
    expect(record.decision?.action).toBe('advance');
    expect(record.decision?.reason).toContain('Its commit is only on the branch');
    expect(git(bare, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('is rejected if it is not configured, or the request contradicts itself', async () => {
    const { url } = await makeRepository();
    const { lead } = await openFleet([url]);
    const request = { issue_ref: 'local#1', role: 'qa', worker: 'machine-a', instructions: '' };
    expect(await catchCode(lead.submit({ ...request, repo: 'https://elsewhere.example.org/x.git' }))).toBe(
      'UNKNOWN_REPO',
    );
    for (const changes of [
      { repo: 'https://ada:secret@git.example.org/x.git' },
      { repo: url, repo_dir: '/srv/shop' },
      { repo: url, isolation: 'repository' },
      {},
    ]) {
      expect(await catchCode(lead.submit({ ...request, ...changes }))).toBe('INVALID_WORK_REQUEST');
    }
  });

  it('can also name a folder', async () => {
    const { clone } = await makeRepository();
    const { lead } = await openFleet([]);
    const request = { issue_ref: 'local#1', role: 'qa', worker: 'machine-a', instructions: '', repo: clone };
    const { order } = await lead.submit(request);
    expect(order.repo_dir).toBe(clone);
    expect(order).not.toHaveProperty('repo');
  });
});
