import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { identifyProcess } from '../../runs/process/process-identity.js';
import type { WorkerIdentity } from '../../store/records/run-record.js';
import type { WorkRequest } from '../../store/records/work-order.js';
import { whileInProgress } from './hold-claim.js';
import { reconcileExpired, reconcile } from './reconcile.js';
import type { ReconcileOptions } from './reconcile.js';
import { goodResult, makeRequest, startLead } from '../lead/fixtures/start-lead.js';

/** Returns a process that has exited. */
async function makeDeadWorker(): Promise<WorkerIdentity> {
  const child = spawn(process.execPath, ['-e', '']);
  const identity = await identifyProcess(child.pid ?? 0);
  await new Promise((resolve) => {
    child.on('exit', resolve);
  });
  return { worker_id: 'dead', host: hostname(), pid: identity?.pid ?? 0, pid_started: identity?.started ?? null };
}

/** Resumes what can be resumed; returns the runs whose container is gone. */
async function listLost(...input: Parameters<typeof reconcileExpired>): Promise<readonly string[]> {
  const lost: string[] = [];
  for await (const { id } of reconcileExpired(...input)) lost.push(id);
  return lost;
}

/** Starts a process that runs until the end of the test. */
async function makeLivingWorker(): Promise<WorkerIdentity> {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const identity = await identifyProcess(child.pid ?? 0);
  return { worker_id: 'alive', host: hostname(), pid: child.pid ?? 0, pid_started: identity?.started ?? null };
}

/** Starts a process with this host's name in another PID namespace, as a container does, and identifies it as it would itself. */
async function makeWorkerInContainer(): Promise<WorkerIdentity> {
  const program =
    'const fs = require("fs"); console.log(fs.readlinkSync("/proc/self/ns/pid")); setTimeout(() => {}, 60_000)';
  const child = spawn('unshare', [
    '--user',
    '--map-root-user',
    '--pid',
    '--fork',
    '--kill-child',
    process.execPath,
    '-e',
    program,
  ]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [namespace] = (await once(child.stdout, 'data')) as [Buffer];
  const identity = await identifyProcess(child.pid ?? 0);
  const [boot = '', , ticks = ''] = (identity?.started ?? '').split('/');
  const started = `${boot}/${String(namespace).replaceAll(/\D/g, '')}/${ticks}`;
  return { worker_id: 'in-container', host: hostname(), pid: 1, pid_started: started };
}

/** Sets up a lead, and an order that another worker has claimed with a one-minute lease. */
async function withClaim(
  worker: WorkerIdentity,
  isStarted: boolean,
  request: Partial<WorkRequest> = {},
  options: Partial<ReconcileOptions> = {},
) {
  let now = Date.now();
  const site = await startLead({ clock: () => now });
  const submitted = await site.lead.submit(makeRequest(request));
  await site.store.claimRun({ worker, leaseMs: 60_000, now });
  if (isStarted) await site.store.markStarted({ id: submitted.run, workerId: worker.worker_id, now });
  const pass = (ms: number) => {
    now += ms;
  };
  const record = async () => site.store.findOrder('acme/shop#12', submitted.order.run_id);
  const run = async () => site.store.findRun(submitted.run);
  const reconcileAll = async () => {
    const report = await reconcile({
      store: site.store,
      lead: site.lead,
      data: site.data,
      clock: () => now,
      ...options,
    });
    await site.lead.deliver();
    return report;
  };
  return { ...site, submitted, pass, record, run, reconcileAll };
}

describe('reconcile', () => {
  it('requeues a claim that never started', async () => {
    const { reconcileAll, pass, run } = await withClaim(await makeDeadWorker(), false);
    expect(await reconcileAll()).toMatchObject({ requeued: 0 });
    pass(60_001);
    expect(await reconcileAll()).toEqual({ requeued: 1, ended: 0, held: 0, adopted: 0, processes: 0 });
    expect(await run()).toMatchObject({ state: 'queued', owner: null });
  });

  it("sends an orphaned run's order to a human, with the result it left, and comments on the issue", async () => {
    const { reconcileAll, pass, record, submitted, report, inbox, findState, comments } = await withClaim(
      await makeDeadWorker(),
      true,
    );
    await report(submitted, 'work_result.json', goodResult(submitted));
    pass(60_001);
    expect(await reconcileAll()).toMatchObject({ ended: 1 });
    expect(await record()).toMatchObject({ state: 'settled', decision: { action: 'needs-human' } });
    expect(await inbox()).toMatchObject([
      { exit_code: null, signal: null, reading: { source: 'json', result: { status: 'ok' } } },
    ]);
    expect(await findState()).toBe('needs-human');
    expect(await comments()).toContain('Status: needs-human');
  });

  it('does not trust an exit code in the run folder', async () => {
    const { reconcileAll, pass, record, submitted, report } = await withClaim(await makeDeadWorker(), true);
    await report(submitted, 'work_result.json', goodResult(submitted));
    await report(submitted, 'meta.1.json', { exit_code: 0, finished_at: new Date().toISOString() });
    pass(60_001);
    await reconcileAll();
    expect((await record())?.decision?.action).toBe('needs-human');
  });

  it('waits until the lease has expired', async () => {
    const { reconcileAll, record } = await withClaim(await makeDeadWorker(), true);
    expect(await reconcileAll()).toMatchObject({ ended: 0 });
    expect((await record())?.state).toBe('running');
  });

  it('does not touch a run whose worker is alive, even if its lease has expired', async () => {
    const { reconcileAll, pass, record } = await withClaim(await makeLivingWorker(), true);
    pass(3_600_000);
    expect(await reconcileAll()).toMatchObject({ ended: 0, held: 1 });
    expect((await record())?.state).toBe('running');
  });

  it('does not touch a run that this process is executing', async () => {
    const ownWorker = { ...(await makeDeadWorker()), worker_id: 'mine', pid: process.pid };
    const { reconcileAll, pass } = await withClaim(ownWorker, true);
    pass(60_001);
    await whileInProgress('mine', async () => {
      expect(await reconcileAll()).toMatchObject({ ended: 0, held: 1 });
    });
    expect(await reconcileAll()).toMatchObject({ ended: 1, held: 0 });
  });

  it('uses only the lease for another host', async () => {
    const { reconcileAll, pass } = await withClaim({ ...(await makeLivingWorker()), host: 'another-host' }, true);
    pass(60_001);
    expect(await reconcileAll()).toMatchObject({ ended: 1 });
  });

  it('uses only the lease for a worker with the same host name in another PID namespace', async () => {
    let isAbandoned = false;
    const options = { isAbandoned: () => isAbandoned, workerLostRetries: 2 };
    const { reconcileAll, pass, run, store } = await withClaim(await makeWorkerInContainer(), true, {}, options);
    pass(60_001);
    expect(await reconcileAll()).toMatchObject({ requeued: 0, ended: 0, held: 1 });
    expect(await run()).toMatchObject({ state: 'running' });
    isAbandoned = true;
    expect(await reconcileAll()).toMatchObject({ requeued: 0, ended: 1 });
    // No second agent is started: the first one could still be running.
    expect((await store.listOrders({ issueRef: 'acme/shop#12', limit: 10 })).items).toHaveLength(1);
  });

  it('does not kill the agent of such a worker after a process of this host that ran it before', async () => {
    const { reconcileAll, data, submitted } = await withClaim(await makeWorkerInContainer(), true);
    const { pid, pid_started: started } = await makeDeadWorker();
    const runDir = join(data, 'runs', submitted.run);
    await mkdir(join(data, 'processes'), { recursive: true });
    await writeFile(
      join(data, 'processes', 'a.process'),
      `${JSON.stringify({ owner: { pid, started }, run_dir: runDir })}\n`,
    );
    const agent = spawn('sleep', ['60'], { env: { SLUICE_RUN_DIR: runDir } });
    onTestFinished(() => void agent.kill('SIGKILL'));
    await once(agent, 'spawn');
    expect(await reconcileAll()).toMatchObject({ processes: 0 });
    expect(agent.signalCode).toBeNull();
  });

  it.each([
    ['running', 'another PID namespace', 0],
    ['waiting', 'another PID namespace', 1],
    ['running', 'this PID namespace', 1],
  ] as const)('adopts a %s run of a lost worker in %s: %i', async (state, place, count) => {
    const worker = await (place === 'this PID namespace' ? makeDeadWorker() : makeWorkerInContainer());
    const site = await startLead({});
    const spec = { engine: 'codex', prompt: 'x', workdir: site.data, resume: 'same-host' } as const;
    await site.store.createRun({ id: 'r1', spec, state: 'queued', now: 0 });
    await site.store.claimRun({ worker, leaseMs: 1000, now: Date.now() });
    const hold = { id: 'r1', workerId: worker.worker_id, now: Date.now() };
    await site.store.markStarted(hold);
    if (state === 'waiting') await site.store.setWaiting(hold);
    await mkdir(join(site.data, 'runs', 'r1'), { recursive: true });
    const run = await site.store.findRun('r1');
    const adopted: string[] = [];
    const adopt = async ({ id }: { readonly id: string }) => adopted.push(id) > 0;
    const lost = await listLost({ ...site, clock: () => Date.now() + 60_000, adopt }, run === undefined ? [] : [run]);
    expect(lost).toEqual([]);
    expect(adopted).toHaveLength(count);
  });

  it.each(['worker:fleet/1', 'run:abc/1', '1'])(
    'resumes a waiting run only if no worker of a server held it: %s',
    async (worker_id) => {
      const worker = { ...(await makeDeadWorker()), worker_id };
      const site = await startLead({});
      const spec = { engine: 'codex', prompt: 'x', workdir: site.data, mode: 'interactive' } as const;
      await site.store.createRun({ id: 'r1', spec, state: 'queued', now: 0 });
      await site.store.claimRun({ worker, leaseMs: 1000, now: Date.now() });
      await site.store.markStarted({ id: 'r1', workerId: worker_id, now: Date.now() });
      await site.store.setWaiting({ id: 'r1', workerId: worker_id, now: Date.now() });
      await mkdir(join(site.data, 'runs', 'r1'), { recursive: true });
      const clock = () => Date.now() + 60_000;
      const { adopted } = await reconcile({ ...site, clock, adopt: async () => true });
      expect(adopted).toBe(worker_id === '1' ? 1 : 0);
    },
  );

  it('archives an orphaned run that was replaced', async () => {
    const { reconcileAll, lead, pass, record, findState, inbox } = await withClaim(await makeDeadWorker(), true);
    await lead.submit(makeRequest());
    pass(60_001);
    await reconcileAll();
    expect((await record())?.decision).toMatchObject({ action: 'archive', result_code: 'stale_run' });
    expect(await findState()).toBe('doing');
    expect(await inbox()).toEqual([]);
  });

  it('keeps the uncommitted work of such an order on its branch, which the reason names', async () => {
    const repository = await makeFolder({ 'README.md': 'x' });
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args]);
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
    const request = { repo_dir: repository, isolation: 'worktree' } as const;
    const { reconcileAll, pass, data, submitted, record } = await withClaim(await makeDeadWorker(), true, request);
    const folder = join(data, 'worktrees', submitted.run);
    const branch = `sluice/${submitted.order.run_id}-${submitted.run}`;
    git('worktree', 'add', '--quiet', '-b', branch, folder);
    await writeFile(join(folder, 'unsaved.txt'), 'work');
    pass(60_001);
    await reconcileAll();
    expect(existsSync(folder)).toBe(false);
    expect(String(git('show', `${branch}:unsaved.txt`))).toBe('work');
    expect((await record())?.decision?.reason).toContain(`on the branch ${branch}.`);
  });

  it('settles once when many processes reconcile concurrently', async () => {
    const { reconcileAll, pass, inbox, executions } = await withClaim(await makeDeadWorker(), true);
    pass(60_001);
    await Promise.all([reconcileAll(), reconcileAll(), reconcileAll()]);
    expect(await inbox()).toHaveLength(1);
    expect(await executions()).toHaveLength(1);
  });

  it('ends an orphaned run that carries no order', async () => {
    const { reconcileAll, store, pass } = await withClaim(await makeDeadWorker(), false);
    const spec = { engine: 'command', command: ['true'], workdir: '/srv/other' } as const;
    await store.createRun({ id: 'r1', spec, state: 'running', workerId: 'gone', leaseMs: 1000, now: Date.now() });
    pass(60_001);
    expect(await reconcileAll()).toMatchObject({ ended: 1 });
    expect(await store.findRun('r1')).toMatchObject({ state: 'ended', result: { error: { code: 'WORKER_GONE' } } });
  });
});

describe('an order whose worker was lost', () => {
  it('is requeued under a new run id until its retries are used up, then goes to a human', async () => {
    const dead = await makeDeadWorker();
    const { reconcileAll, pass, store, inbox } = await withClaim(dead, true, {}, { workerLostRetries: 1 });
    pass(60_001);
    expect(await reconcileAll()).toMatchObject({ ended: 1 });
    const [retried] = (await store.listRuns({ state: 'queued' })).items;
    expect(retried?.order?.run_id).toMatch(/0002$/);
    expect(await inbox()).toEqual([]);
    expect((await store.listExecutions({})).items.map(({ decision }) => decision)).toHaveLength(2);
    await store.claimRun({ worker: dead, leaseMs: 1, now: 0 });
    await store.markStarted({ id: retried?.id ?? '', workerId: dead.worker_id, now: 0 });
    expect(await reconcileAll()).toMatchObject({ ended: 1 });
    expect((await store.listRuns({ state: 'queued' })).items).toEqual([]);
    expect(await inbox()).toMatchObject([{ result_code: 'output_unparseable' }]);
  });

  it('is left to a human when the worker was on another host, where its agent might still be running', async () => {
    const remoteWorker = { ...(await makeDeadWorker()), host: 'another-host' };
    const { reconcileAll, pass, store, inbox } = await withClaim(remoteWorker, true, {}, { workerLostRetries: 1 });
    pass(60_001);
    expect(await reconcileAll()).toMatchObject({ ended: 1 });
    expect((await store.listRuns({ state: 'queued' })).items).toEqual([]);
    expect(await inbox()).toHaveLength(1);
  });
});
