import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostname } from 'node:os';
import { createJsonLogger } from '../../base/logger.js';
import { VERSION } from '../../base/files/folders.js';
import { openStore } from '../../store/open-store.js';
import { lockFolder } from '../../runs/workspace/folder-lock.js';
import { readChange } from '../git/read-change.js';
import { createLead } from '../lead/create-lead.js';
import { setUpWorker } from './fixtures/set-up-worker.js';

describe('a worker', () => {
  it('executes an order from the claim to the comment', async () => {
    const { start, submit, settled, store, effects, data } = await setUpWorker();
    const worker = start();
    const order = await submit('local#1', { result: 'ok' });
    expect(await settled(order)).toMatchObject({ state: 'settled', decision: { action: 'advance' } });
    await worker.stop();
    expect(await effects()).toHaveLength(2);
    expect((await store.findIssue('local#1'))?.state).toBe('review');
    expect((await store.listOutbox({})).items).toMatchObject([{ state: 'delivered' }]);
    expect(existsSync(join(data, 'comments', 'local_1.md'))).toBe(true);
  });

  it.each([0, -1, 1.5, Number.NaN])('rejects a concurrency of %j', async (concurrency) => {
    const { start } = await setUpWorker();
    expect(() => start({ concurrency })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  it('records an execution with type, command, duration, exit code, encoding and status', async () => {
    const { start, submit, settled, store } = await setUpWorker();
    start();
    await settled(await submit('local#1', { result: 'ok', exit: 3 }));
    const [execution] = (await store.listExecutions({})).items;
    expect(execution).toMatchObject({
      worker: 'scripted',
      worker_type: 'script',
      command: [process.execPath, expect.stringContaining('worker.mjs')],
      exit_code: 3,
      signal: null,
      result_encoding: 'json',
      parse_path: 'work_result.json',
      parse_status: 'parsed',
      decision: 'needs-human',
      reason: expect.stringContaining('exited with code 3'),
    });
    expect(execution?.duration_ms).toBeGreaterThan(0);
  });

  it('lists the run of an order, with its events and its end', async () => {
    const { start, submit, settled, store } = await setUpWorker();
    const worker = start();
    const { run, order, ...rest } = await submit('local#1', { print: 'hello', result: 'ok' });
    await settled({ run, order, ...rest });
    await worker.stop();
    expect(await store.findRun(run)).toMatchObject({
      state: 'ended',
      order: { issue_ref: 'local#1', run_id: order.run_id },
      result: { status: 'success', process: { exit_code: 0 } },
    });
    const events = await store.read({ runId: run, protocol: 'fcmp', limit: 100 });
    expect(events.map(({ event }) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.length).toBeGreaterThan(1);
  });

  it('executes queued runs too, under their ids', async () => {
    const { start, store, data } = await setUpWorker();
    const spec = { engine: 'command', command: [process.execPath, '-e', 'console.log(42)'], workdir: data } as const;
    await store.createRun({ id: 'RUN1', spec, state: 'queued', now: Date.now() });
    start();
    await expect.poll(async () => (await store.findRun('RUN1'))?.state).toBe('ended');
    expect((await store.findRun('RUN1'))?.result).toMatchObject({ status: 'success' });
    expect(existsSync(join(data, 'runs', 'RUN1', '.audit', 'stdout.1.log'))).toBe(true);
  });

  it('ends a queued run that cannot be started with the reason', async () => {
    const { start, store, data } = await setUpWorker();
    await store.createRun({ id: 'RUN1', spec: { engine: 'command', workdir: data }, state: 'queued', now: Date.now() });
    start();
    await expect.poll(async () => (await store.findRun('RUN1'))?.state).toBe('ended');
    expect((await store.findRun('RUN1'))?.result).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_RUN_SPEC' },
    });
  });

  it('reports to the fleet while it works, even while it shuts down, and leaves the list at the end', async () => {
    const { start, submit, store } = await setUpWorker();
    const worker = start({ concurrency: 3, leaseMs: 200 });
    await expect
      .poll(async () => store.listWorkers(store.now()))
      .toMatchObject([{ id: worker.id, host: hostname(), version: VERSION, capacity: 3, busy: 0, state: 'alive' }]);
    await submit('local#1', { sleep: 2000, result: 'ok' });
    await expect.poll(async () => store.listWorkers(store.now())).toMatchObject([{ busy: 1, state: 'alive' }]);
    const stopped = worker.stop();
    await expect.poll(async () => store.listWorkers(store.now())).toMatchObject([{ busy: 1, state: 'stopping' }]);
    await stopped;
    expect(await store.listWorkers(store.now())).toEqual([]);
  });

  it("warns when the host's clock differs from the store's, and follows the store's", async () => {
    const memory = await openStore('memory:');
    const store = { ...memory, now: () => Date.now() - 60_000 };
    const { start, submit, settled } = await setUpWorker({ store });
    const lines: string[] = [];
    start({ logger: createJsonLogger((line) => lines.push(line)) });
    const order = await settled(await submit('local#1', { result: 'ok' }));
    expect(Date.parse(order?.created_at ?? '')).toBeLessThan(Date.now() - 50_000);
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ skew_ms: expect.closeTo(-60_000, -3) }),
    );
  });

  it('cancels a run on request', async () => {
    const { start, store, data } = await setUpWorker();
    const command = [process.execPath, '-e', 'setTimeout(() => {}, 60_000)'];
    await store.createRun({
      id: 'RUN1',
      spec: { engine: 'command', command, workdir: data },
      state: 'queued',
      now: Date.now(),
    });
    start();
    await expect.poll(async () => (await store.findRun('RUN1'))?.started_at).not.toBeUndefined();
    await store.requestCancel('RUN1', Date.now());
    await expect.poll(async () => (await store.findRun('RUN1'))?.state).toBe('ended');
    expect((await store.findRun('RUN1'))?.result?.status).toBe('canceled');
  });

  it('leaves a run whose folder is in use in the queue, without a slot, until the folder is free', async () => {
    const { start, store, data } = await setUpWorker();
    const wait = "process.stdin.resume(); process.on('SIGTERM', () => process.exit(0)); setTimeout(() => {}, 60_000)";
    const sleeping = { engine: 'command', command: [process.execPath, '-e', wait], workdir: data } as const;
    const quick = { engine: 'command', command: [process.execPath, '-e', ''] } as const;
    await store.createRun({ id: 'HOLDER', spec: sleeping, state: 'queued', now: Date.now() });
    await store.createRun({ id: 'WAITS', spec: { ...quick, workdir: data }, state: 'queued', now: Date.now() });
    await store.createRun({
      id: 'IDLE',
      spec: { ...quick, workdir: join(data, 'repository') },
      state: 'queued',
      now: Date.now(),
    });
    const worker = start({ concurrency: 2 });
    // With two slots, one of them permanently in use, the run for an idle folder is still executed.
    await expect.poll(async () => (await store.findRun('IDLE'))?.state).toBe('ended');
    expect(await store.findRun('WAITS')).toMatchObject({
      state: 'queued',
      started_at: null,
      waiting_for: { reason: 'folder', run: 'HOLDER' },
    });
    await expect.poll(() => worker.busy).toBe(1);
    await store.requestCancel('HOLDER', Date.now());
    await expect.poll(async () => (await store.findRun('WAITS'))?.state).toBe('ended');
    const [holder, waited] = [await store.findRun('HOLDER'), await store.findRun('WAITS')];
    expect(Date.parse(waited?.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(holder?.ended_at ?? ''));
  });

  it('returns a run to the queue if a process outside the store uses its folder', async () => {
    const { start, store, data } = await setUpWorker();
    const outside = await lockFolder(join(data, 'locks'), data);
    const spec = { engine: 'command', command: [process.execPath, '-e', ''], workdir: data } as const;
    await store.createRun({ id: 'RUN1', spec, state: 'queued', now: Date.now() });
    const worker = start();
    const waitingState = { state: 'queued', waiting_for: { reason: 'folder', run: null } };
    await expect.poll(async () => store.findRun('RUN1')).toMatchObject(waitingState);
    await expect.poll(() => worker.busy).toBe(0);
    await outside.release();
    await expect.poll(async () => (await store.findRun('RUN1'))?.state).toBe('ended');
    expect((await store.findRun('RUN1'))?.result?.status).toBe('success');
  });

  it('stops a replaced run, and archives its result', async () => {
    const { start, submit, settled, store, effects } = await setUpWorker();
    start({ leaseMs: 600 });
    const oldOrder = await submit('local#1', { sleep: 60_000, result: 'ok' });
    await expect.poll(effects).toHaveLength(1);
    const current = await submit('local#1', { result: 'ok' });
    expect(await settled(oldOrder)).toMatchObject({ decision: { action: 'archive', result_code: 'stale_run' } });
    expect(await settled(current)).toMatchObject({ decision: { action: 'advance' } });
    expect(await store.findIssue('local#1')).toMatchObject({ state: 'review', active_run_id: current.order.run_id });
  });

  it('executes one order at a time per repository, and orders in different repositories concurrently', async () => {
    const { start, submit, settled, effects, data } = await setUpWorker();
    start({ concurrency: 3 });
    const orders = [
      await submit('local#1', { sleep: 150, result: 'ok' }),
      await submit('local#2', { sleep: 150, result: 'ok' }),
      await submit('local#3', { sleep: 600, result: 'ok' }, { repo_dir: data }),
    ];
    await Promise.all(orders.map(settled));
    const lines = (await effects()).map((line) => line.replaceAll(/local#| 20\S+/g, ''));
    const inRepository = lines.filter((line) => !line.startsWith('3'));
    expect(inRepository).toEqual(['1 start', '1 end', '2 start', '2 end']);
    expect(lines.indexOf('3 start')).toBeLessThan(lines.indexOf('2 end'));
  });

  it('respects the limit of a wrapper type', async () => {
    const { start, submit, settled, effects, data } = await setUpWorker();
    start({ concurrency: 4, concurrencyByType: { script: 1 } });
    const folders = [join(data, 'repository'), data];
    const orders = await Promise.all(
      folders.map(async (repo_dir, index) => submit(`local#${index}`, { sleep: 100, result: 'ok' }, { repo_dir })),
    );
    await Promise.all(orders.map(settled));
    expect((await effects()).map((line) => line.split(' ')[2])).toEqual(['start', 'end', 'start', 'end']);
  });

  it('claims the order with the higher priority first', async () => {
    const { start, submit, settled, effects } = await setUpWorker();
    const orders = [
      await submit('local#low', { result: 'ok' }, { priority: -1 }),
      await submit('local#high', { result: 'ok' }, { priority: 5 }),
    ];
    start();
    await Promise.all(orders.map(settled));
    expect((await effects())[0]).toContain('local#high');
  });

  it('does not start orders that depend on unresolved issues', async () => {
    const { start, submit, settled, effects } = await setUpWorker();
    start();
    const order = await submit('local#2', { result: 'ok' }, { depends_on: ['local#1'] });
    expect(await settled(order)).toMatchObject({ decision: { action: 'blocked', result_code: 'dep_unresolved' } });
    expect(await effects()).toEqual([]);
  });

  it('passes an order to a human if its wrapper is no longer configured, and starts nothing', async () => {
    const { start, submit, settled, store, data } = await setUpWorker({
      lead: { wrappers: { true: { type: 'script', command: ['true'] } } },
    });
    const order = await submit('local#1', {}, { worker: 'true' });
    start({ lead: createLead({ store, data, wrappers: {} }) });
    expect(await settled(order)).toMatchObject({
      decision: { action: 'needs-human', result_code: 'env_unavailable', reason: expect.stringContaining('"true"') },
    });
  });

  it('passes an order to a human if its executable cannot be started', async () => {
    const { start, submit, settled } = await setUpWorker({
      lead: { wrappers: { scripted: { type: 'script', command: ['/no/such/program'] } } },
    });
    start();
    expect(await settled(await submit('local#1', {}))).toMatchObject({
      decision: { action: 'needs-human', result_code: 'env_unavailable', reason: expect.stringContaining('/no/such') },
    });
  });

  it('stop() waits for running work and claims nothing more', async () => {
    const { start, submit, store, effects } = await setUpWorker();
    const worker = start({ concurrency: 1 });
    const first = await submit('local#1', { sleep: 300, result: 'ok' });
    const second = await submit('local#2', { result: 'ok' });
    await expect.poll(effects).toHaveLength(1);
    await worker.stop();
    expect(await effects()).toHaveLength(2);
    expect((await store.findOrder('local#1', first.order.run_id))?.decision?.action).toBe('advance');
    expect((await store.findOrder('local#2', second.order.run_id))?.state).toBe('queued');
    expect((await store.listOutbox({})).items).toMatchObject([{ state: 'delivered' }]);
  });

  it('stop({ graceMs }) ends longer work, which goes to a human', async () => {
    const { start, submit, store, effects } = await setUpWorker();
    const worker = start();
    const { order, run } = await submit('local#1', { sleep: 60_000, result: 'ok' });
    await expect.poll(effects).toHaveLength(1);
    await worker.stop({ graceMs: 50 });
    expect((await store.findOrder('local#1', order.run_id))?.decision).toMatchObject({
      action: 'needs-human',
      reason: expect.stringContaining('SIGTERM'),
    });
    expect((await store.findRun(run))?.result?.error?.message).toBe(
      `The run was ended: its worker on ${hostname()} was shut down before the run was done. Start it again.`,
    );
  });

  it('stop() can be called again with a shorter grace period', async () => {
    const { start, submit, effects } = await setUpWorker();
    const worker = start();
    await submit('local#1', { sleep: 60_000 });
    await expect.poll(effects).toHaveLength(1);
    await Promise.all([worker.stop(), worker.stop({ graceMs: 10 })]);
    expect(worker.busy).toBe(0);
  });

  it('tolerates wake-ups that are late, repeated or unnecessary', async () => {
    const { start, submit, settled, effects } = await setUpWorker();
    const worker = start();
    const order = await submit('local#1', { sleep: 100, result: 'ok' });
    for (let times = 0; times < 200; times++) worker.wake();
    await settled(order);
    for (let times = 0; times < 200; times++) worker.wake();
    await worker.stop();
    expect(await effects()).toHaveLength(2);
  });

  it('ends recorded runs whose worker is gone', async () => {
    const { start, store, data } = await setUpWorker();
    const spec = { engine: 'command', command: ['true'], workdir: data } as const;
    await store.createRun({ id: 'RUN1', spec, state: 'running', workerId: 'gone', leaseMs: 1, now: Date.now() - 1000 });
    start();
    await expect.poll(async () => (await store.findRun('RUN1'))?.state).toBe('ended');
    expect((await store.findRun('RUN1'))?.result?.error?.code).toBe('WORKER_GONE');
  });

  it('settles an order once when multiple workers share the store', async () => {
    const { start, submit, settled, effects, data } = await setUpWorker();
    for (let number = 0; number < 3; number++) start({ concurrency: 2 });
    const orders = await Promise.all(
      Array.from({ length: 12 }, async (_, number) =>
        submit(`local#${number}`, { result: 'ok' }, { repo_dir: number % 2 === 0 ? data : join(data, 'repository') }),
      ),
    );
    const records = await Promise.all(orders.map(settled));
    expect(new Set(records.map((record) => record?.decision?.action))).toEqual(new Set(['advance']));
    expect((await effects()).filter((line) => line.endsWith('start'))).toHaveLength(12);
  });
});

describe('an order in a worktree', () => {
  /** Sets up a worker with a git repository. */
  async function setUpGitWorker() {
    const setup = await setUpWorker();
    const repository = join(setup.data, 'repository');
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
    return { ...setup, git, getWorktree: (ulid: string) => join(setup.data, 'worktrees', ulid) };
  }

  it('runs alongside other orders in its repository, and its commit stays when the worktree is gone', async () => {
    const { start, submit, settled, effects, git, getWorktree } = await setUpGitWorker();
    start();
    const isolation = { isolation: 'worktree' };
    const orders = [
      await submit('local#1', { commit: true, sleep: 500, result: 'ok' }, isolation),
      await submit('local#2', { commit: true, sleep: 500, result: 'ok' }, isolation),
    ];
    const records = await Promise.all(orders.map(settled));
    const advance = expect.stringMatching(/^advance: /);
    const decided = records.map((record) => `${record?.decision?.action}: ${record?.decision?.reason}`);
    expect(decided).toEqual([advance, advance]);
    expect((await effects()).map((line) => line.split(' ')[2])).toEqual(['start', 'start', 'end', 'end']);
    for (const { run, order } of orders) {
      expect(existsSync(getWorktree(run))).toBe(false);
      expect(git('branch', '--list', `sluice/${order.run_id}-${run}`)).not.toBe('');
    }
    expect(git('status', '--porcelain')).toBe('');
  });

  it('leaves neither worktree nor branch when nothing was committed', async () => {
    const { start, submit, settled, git, getWorktree } = await setUpGitWorker();
    start();
    const order = await submit('local#1', { result: 'ok' }, { isolation: 'worktree' });
    await settled(order);
    expect(existsSync(getWorktree(order.run))).toBe(false);
    expect(git('branch', '--list', 'sluice/*')).toBe('');
  });

  it("commits the changes in the worktree on its own branch, as the result's commit", async () => {
    const { start, submit, settled, git, getWorktree } = await setUpGitWorker();
    start();
    const order = await submit('local#1', { write: 'unsaved.txt', result: 'ok' }, { isolation: 'worktree' });
    const record = await settled(order);
    expect(existsSync(getWorktree(order.run))).toBe(false);
    const branch = `sluice/${order.order.run_id}-${order.run}`;
    expect(record?.result?.changes.commit).toBe(git('rev-parse', branch).trim());
    expect(git('log', '-1', '--format=%an: %B', branch)).toContain('sluice: Followed the instructions.');
    expect(git('log', '-1', '--format=%B', branch)).toContain('Co-authored-by: scripted <scripted@localhost>');
    expect(git('show', '--stat', '--format=', branch)).toContain('unsaved.txt');
    expect(git('status', '--porcelain')).toBe('');
    expect(record?.decision?.evidence).toContainEqual({
      claim: 'commit',
      by: 'sluice',
      verdict: 'confirmed',
      detail: expect.stringContaining('1 file changed, committed by Sluice'),
    });
  });

  it('continues from the reviewed commit when it is retried with line comments', async () => {
    const { start, submit, settled, git, store, lead, data } = await setUpGitWorker();
    start();
    const first = await submit('local#1', { commit: true, result: 'ok', exit: 3 }, { isolation: 'worktree' });
    const reviewed = await settled(first);
    const commit = reviewed?.result?.changes.commit ?? '';
    const maskText = (text: string): string => text;
    expect(reviewed === undefined ? undefined : await readChange({ data, maskText }, reviewed)).toMatchObject({
      source: 'commit',
      commit,
      files: [{ path: 'work.txt', change: 'added' }],
    });
    const [item] = (await store.listInbox({ open: true })).items;
    const comments = [{ path: 'work.txt', line: 1, side: 'new', text: 'Say more.' }] as const;
    const retryRequest = { action: 'retry', who: 'Ada', why: 'Nearly.', comments } as const;
    const { order } = await lead.resolve({ id: item?.id ?? '', ...retryRequest });
    expect(order).toMatchObject({
      start_commit: commit,
      instructions: expect.stringContaining('work.txt, line 1: Say more.'),
    });
    const record = await store.findOrder('local#1', order?.run_id ?? '');
    const second = await settled({ ...first, order: record?.order ?? first.order, run: record?.run ?? '' });
    expect(second).toMatchObject({ base_commit: reviewed?.base_commit, decision: { action: 'needs-human' } });
    expect(git('rev-parse', `${second?.result?.changes.commit}^`).trim()).toBe(commit);
    expect(second?.decision?.evidence).toContainEqual(
      expect.objectContaining({ claim: 'commit', verdict: 'confirmed' }),
    );
  });

  it('needs a repository', async () => {
    const { start, submit, settled } = await setUpWorker();
    start();
    const order = await submit('local#1', { result: 'ok' }, { isolation: 'worktree' });
    expect(await settled(order)).toMatchObject({
      decision: {
        action: 'needs-human',
        result_code: 'env_unavailable',
        reason: expect.stringContaining('git repository'),
      },
    });
  });
});
