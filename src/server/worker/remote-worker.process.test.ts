import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { claimRuns, executeClaim, waitForOrder } from '../../orders/dispatch/index.js';
import { createFailedResult } from '../../runs/index.js';
import { sampleFcmp } from '../../store/contract/fixtures/run-samples.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { connect } from './connection.js';
import { openRemotePorts } from './remote-store.js';

const WORK = `echo "$SLUICE_RUN_ID" > work.txt; echo working
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;

const WORKER_TOKEN = 'a-worker-token-with-32-characters';
const OTHER_TOKEN = 'another-worker-token-with-32-char';
const TEAM_TOKEN = 'a-team-worker-token-with-32-chars';
const tokens = [
  { name: 'fleet', scopes: ['worker'], value: WORKER_TOKEN },
  { name: 'other', scopes: ['worker'], value: OTHER_TOKEN },
  { name: 'fleet/team', scopes: ['worker'], value: TEAM_TOKEN },
  { name: 'reader', scopes: ['read'], value: 'a-reader-token-with-32-characters' },
] as const;

const SELF = { host: 'elsewhere', version: '0.0.0', engines: [] };

/** A server, and ports that reach it with a token. */
async function openSite({ leaseMs = 3000 }: { readonly leaseMs?: number } = {}) {
  const wrappers = { scripted: { type: 'script', command: ['/bin/sh', '-c', WORK], checks: ['unit'] } };
  const server = await openListeningServer({
    wrappers,
    checks: { unit: { command: ['sh', '-c', 'test -f work.txt'], network: 'host' } },
    settings: { tokens },
    work: { leaseMs },
  });
  const open = async (token: string = WORKER_TOKEN) => {
    const data = await makeFolder({});
    const connection = connect({ url: server.url, token });
    const remote = await openRemotePorts({ connection, data, filters: {}, token }, SELF);
    onTestFinished(() => remote.close());
    return { ...remote, connection, data };
  };
  return { ...server, open };
}

async function makeRepository(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args]);
  await writeFile(join(folder, 'README.md'), 'x');
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
}

const ENDED = createFailedResult('RUN_CANCELED', 'Ended by another worker.');

const identity = (worker_id: string) => ({ worker_id, host: 'elsewhere', pid: process.pid, pid_started: null });

describe('a worker without a database', () => {
  it('executes a run; its events, bytes, changed files and result are on the server', async () => {
    const site = await openSite();
    const { store, work, data } = site;
    const remote = await site.open();
    const worker = claimRuns({ ...remote, runs: { data: remote.data }, leaseMs: 3000, pollMs: 5000 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    const script = 'echo hello; sleep 0.1; echo there; mkdir out; echo made > out/made.txt';
    const spec = { engine: 'command', command: ['/bin/sh', '-c', script], workdir: work };
    await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() } as never);
    await vi.waitFor(async () => expect((await store.findRun('run-1'))?.state).toBe('ended'), { timeout: 20_000 });
    expect((await store.findRun('run-1'))?.result).toMatchObject({ status: 'success' });
    expect((await store.findRun('run-1'))?.owner?.worker_id).toMatch(/^worker:fleet\//);
    const events = await store.read({ runId: 'run-1', protocol: 'fcmp', limit: 100 });
    expect(events.at(-1)?.event).toMatchObject({ type: 'conversation.completed' });
    expect(await readFile(join(data, 'runs/run-1/.audit/stdout.1.log'), 'utf8')).toBe('hello\nthere\n');
    expect(await readFile(join(data, 'runs/run-1/.artifacts/out/made.txt'), 'utf8')).toBe('made\n');
    expect((await store.listWorkers(store.now())).map(({ host }) => host)).toEqual([expect.any(String)]);
  });

  it('executes an order: the server sends the wrapper and the checks, and settles it', async () => {
    const site = await openSite();
    const remote = await site.open();
    const repo_dir = join(site.work, 'repository');
    await makeRepository(repo_dir);
    const worker = claimRuns({ ...remote, runs: { data: remote.data }, leaseMs: 3000, pollMs: 5000 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    const { order, run } = await site.lead.submit({
      issue_ref: 'acme/shop#1',
      role: 'backend',
      repo_dir,
      worker: 'scripted',
      instructions: 'Work.',
    });
    const record = await waitForOrder(site.store, { issueRef: order.issue_ref, runId: order.run_id });
    expect(record?.decision).toMatchObject({ action: 'advance' });
    expect(record?.decision?.evidence).toContainEqual(
      expect.objectContaining({ claim: 'tests', by: 'sluice', verdict: 'confirmed' }),
    );
    expect(await readFile(join(site.data, 'runs', run, 'work_result.json'), 'utf8')).toContain('Done.');
  });

  it('executes the one run that its token was created for, and the token ends with the claim', async () => {
    const site = await openSite();
    const { store, work } = site;
    const spec = { engine: 'command', command: ['/bin/sh', '-c', 'echo placed'], workdir: work };
    await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() } as never);
    await store.createRun({
      id: 'run-2',
      spec: { ...spec, workdir: site.data },
      state: 'queued',
      now: store.now(),
    } as never);
    const fleet = await site.open();
    const { placed } = (await fleet.connection.send('/v1/worker/place', {})) as {
      readonly placed: { readonly run: string; readonly token: string };
    };
    expect(placed.run).toBe('run-1');
    const remote = await site.open(placed.token);
    await expect(remote.claimPlaced('run-2')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(remote.connection.send('/v1/worker/place', {})).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    const claimed = await remote.claimPlaced('run-1');
    const workerId = (await store.findRun('run-1'))?.owner?.worker_id;
    const check = { call: 'check', worker_id: workerId, run: 'check-1', check_worker_id: `${workerId}/1`, spec };
    // A run has no checks: their claims would outlive its own.
    const refused = remote.connection.send('/v1/worker/runs/run-1', check);
    await expect(refused).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    const { signal } = new AbortController();
    await executeClaim({ ...remote, runs: { data: remote.data } }, claimed, { workerId: '', signal });
    expect(await store.findRun('run-1')).toMatchObject({ state: 'ended', result: { status: 'success' } });
    await expect(remote.claimPlaced('run-1')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});

describe('the fence', () => {
  it('refuses tokens without the scope, and forged run tokens', async () => {
    const site = await openSite();
    await expect(site.open('a-reader-token-with-32-characters')).rejects.toMatchObject({ code: 'SCOPE_MISSING' });
    await expect(site.open('slr_Zmxl.x.y')).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
    const forged = `slr_${Buffer.from('fleet').toString('base64url')}.${'a'.repeat(43)}.${'b'.repeat(43)}`;
    await expect(site.open(forged)).rejects.toMatchObject({ code: 'TOKEN_REFUSED' });
  });

  it('lets no token read, publish or settle a run that another one holds', async () => {
    const site = await openSite();
    const { store, work } = site;
    const spec = { engine: 'command', command: ['true'], workdir: work };
    await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() } as never);
    const mine = await site.open();
    const other = await site.open(OTHER_TOKEN);
    const claimed = await mine.store.claimRun({ worker: identity('w1/1'), leaseMs: 1000, now: 0 });
    expect(claimed?.record.id).toBe('run-1');
    const calls = [
      { call: 'run', run: 'run-1' },
      { call: 'events', packs: [] },
      { call: 'bytes', files: [{ path: '.audit/stdout.1.log', offset: 0, data: '' }] },
      { call: 'order' },
      { call: 'find_result', key: 'k' },
    ];
    const send = async (workerId: string, call: object) =>
      other.connection
        .send('/v1/worker/runs/run-1', { ...call, worker_id: workerId })
        .catch((error: { readonly code?: string }) => error.code);
    for (const workerId of ['worker:fleet/w1/1', 'worker:fleet', 'worker:other/w1/1']) {
      for (const call of calls) expect(await send(workerId, call)).toBe('RUN_NOT_FOUND');
    }
    expect(await send('worker:fleet/w1/1', { call: 'renew' })).toBe('RUN_NOT_FOUND');
    const renewed = await send('worker:other/w1/1', { call: 'renew' });
    expect(renewed).toEqual({ value: { held: false, cancel: false, reply: null } });
    expect(await send('worker:other/w1/1', { call: 'end', result: ENDED })).toEqual({ value: false });
    expect(await store.findRun('run-1')).toMatchObject({ state: 'running', result: null });
  });

  it('separates tokens whose names start alike', async () => {
    const { store, work, open } = await openSite();
    const spec = { engine: 'command', command: ['true'], workdir: work };
    await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() } as never);
    await (await open(TEAM_TOKEN)).store.claimRun({ worker: identity('w1/1'), leaseMs: 1000, now: 0 });
    const { worker_id } = (await store.findRun('run-1'))?.owner ?? {};
    const { connection, findOwnRun } = await open();
    const read = connection.send('/v1/worker/runs/run-1', { call: 'read', worker_id, protocol: 'fcmp', limit: 1 });
    await expect(read).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await findOwnRun('run-1')).toBeUndefined();
  });

  it('lets a worker publish nothing after its claim has moved', async () => {
    const site = await openSite();
    const { store, work } = site;
    const spec = { engine: 'command', command: ['true'], workdir: work };
    await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() } as never);
    const mine = await site.open();
    await mine.store.claimRun({ worker: identity('w1/1'), leaseMs: 1000, now: 0 });
    await mine.store.append('run-1', []);
    const later = store.now() + 60_000;
    expect(await store.requeueExpired(later)).toBe(1);
    await store.claimRun({ worker: identity('database-worker'), leaseMs: 60_000, now: later });
    const files = [{ path: '.audit/stdout.1.log', offset: 0, data: 'eA==' }];
    const bytes = { call: 'bytes', worker_id: 'worker:fleet/w1/1', files };
    await expect(mine.connection.send('/v1/worker/runs/run-1', bytes)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await mine.store.renewRun({ id: 'run-1', workerId: 'w1/1', leaseMs: 1, now: 0 })).toMatchObject({
      held: false,
    });
    expect(await mine.store.markStarted({ id: 'run-1', workerId: 'w1/1', now: 0 })).toBe('lost');
  });

  it('lets a worker publish nothing if its claim moves just before the events are written', async () => {
    const site = await openSite();
    const { store, work } = site;
    const spec = { engine: 'command', command: ['true'], workdir: work };
    await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() } as never);
    const mine = await site.open();
    await mine.store.claimRun({ worker: identity('w1/1'), leaseMs: 1000, now: 0 });
    const append = store.append.bind(store);
    vi.spyOn(store, 'append').mockImplementationOnce(async (...appended) => {
      const later = store.now() + 60_000;
      await store.requeueExpired(later);
      await store.claimRun({ worker: identity('database-worker'), leaseMs: 60_000, now: later });
      return append(...appended);
    });
    await expect(mine.store.append('run-1', [sampleFcmp(1)])).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await store.read({ runId: 'run-1', protocol: 'fcmp', limit: 10 })).toEqual([]);
  });

  it('lets a worker take over a started run from a lost worker with the same token on its host, and no other', async () => {
    const site = await openSite({ leaseMs: 200 });
    const spec = { engine: 'command', command: ['true'], workdir: site.work };
    await site.store.createRun({ id: 'run-1', spec, state: 'queued', now: site.store.now() } as never);
    const lost = await site.open();
    await lost.store.claimRun({ worker: identity('w1/1'), leaseMs: 0, now: 0 });
    expect(await lost.store.markStarted({ id: 'run-1', workerId: 'w1/1', now: 0 })).toBe('started');
    const mine = await site.open();
    const other = await site.open(OTHER_TOKEN);
    const report = async ({ store }: typeof mine, host: string) =>
      store.reportWorker({ ...SELF, host, id: 'w2', capacity: 1, busy: 0, isStopping: false, now: 0, aliveUntil: 0 });
    await expect.poll(async () => report(mine, 'elsewhere')).toEqual({ hasExpiredRuns: true });
    expect(mine.listExpired()).toMatchObject([{ id: 'run-1', owner: { worker_id: 'w1/1' } }]);
    expect(await mine.findOwnRun('run-1')).toMatchObject({ id: 'run-1' });
    expect(await report(mine, 'another-host')).toEqual({ hasExpiredRuns: false });
    expect(await report(other, 'elsewhere')).toEqual({ hasExpiredRuns: false });
    expect(await other.findOwnRun('run-1')).toBeUndefined();
    const adoption = { id: 'run-1', from: 'w1/1', worker: identity('w2/1'), leaseMs: 0, now: 0 };
    expect(await other.store.adoptRun(adoption)).toBeUndefined();
    expect(await mine.store.adoptRun(adoption)).toMatchObject({ owner: { worker_id: 'worker:fleet/w2/1' } });
    expect(await lost.store.renewRun({ id: 'run-1', workerId: 'w1/1', leaseMs: 0, now: 0 })).toMatchObject({
      held: false,
    });
  });

  it('keeps the request of a run, and shows no file of its own host that a worker names', async () => {
    const site = await openSite();
    await writeFile(join(site.work, 'secret.txt'), 'of the server');
    const spec = { engine: 'command', command: ['true'], workdir: site.work } as const;
    await site.store.createRun({ id: 'run-1', spec, state: 'queued', now: site.store.now() });
    const { store } = await site.open();
    await store.claimRun({ worker: { ...identity('w1/1'), host: hostname() }, leaseMs: 1000, now: 0 });
    const hold = { id: 'run-1', workerId: 'w1/1', now: 0 };
    const forged = store.markStarted({ ...hold, spec: { ...spec, workdir: '/' } });
    await expect(forged).rejects.toMatchObject({ code: 'INVALID_BODY' });
    const artifacts = { created: ['secret.txt'], modified: [], deleted: [] };
    expect(await store.endRun({ ...hold, result: { ...ENDED, artifacts } })).toBe(true);
    const headers = { authorization: 'Bearer a-reader-token-with-32-characters' };
    const response = await fetch(`${site.url}/v1/runs/run-1/artifact?path=secret.txt`, { headers });
    expect(response.status).toBe(404);
  });

  it('lets a run that does not use the cache write nothing to it', async () => {
    const site = await openSite();
    const spec = { engine: 'command', command: ['true'], workdir: site.work } as const;
    await site.store.createRun({ id: 'run-1', spec, state: 'queued', now: site.store.now() });
    const { store } = await site.open();
    await store.claimRun({ worker: identity('w1/1'), leaseMs: 1000, now: 0 });
    const entry = { run_id: 'run-1', result: ENDED, cached_at: '2026-11-18T00:00:00.000Z' };
    await expect(store.cacheResult('k', entry)).rejects.toMatchObject({ code: 'INVALID_BODY' });
    expect(await site.store.find('k')).toBeUndefined();
  });

  it('writes only files that belong to a run', async () => {
    const site = await openSite();
    const spec = { engine: 'command', command: ['true'], workdir: site.work };
    await site.store.createRun({ id: 'run-1', spec, state: 'queued', now: site.store.now() } as never);
    const mine = await site.open();
    await mine.store.claimRun({ worker: identity('w1/1'), leaseMs: 1000, now: 0 });
    const unsafe = ['../x', '.audit/../../x.1.log', '/etc/x', '.audit/events.jsonl', 'other.json', '.artifacts/../x'];
    const unusable = [
      '.artifacts/',
      '.artifacts/.',
      `.artifacts/${'a/'.repeat(3000)}b`,
      `.artifacts/${'a'.repeat(300)}`,
    ];
    const paths = [...unsafe, ...unusable];
    for (const path of paths) {
      const call = { call: 'bytes', worker_id: 'worker:fleet/w1/1', files: [{ path, offset: 0, data: '' }] };
      await expect(mine.connection.send('/v1/worker/runs/run-1', call)).rejects.toMatchObject({ code: 'INVALID_BODY' });
    }
    for (const run of ['a\0b', '../x', 'a/b']) {
      const call = { call: 'check', worker_id: 'worker:fleet/w1/1', run, check_worker_id: 'worker:fleet/w1/2', spec };
      await expect(mine.connection.send('/v1/worker/runs/run-1', call)).rejects.toMatchObject({ code: 'INVALID_BODY' });
    }
  });
});
