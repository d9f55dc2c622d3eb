import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { createLead } from '../lead/create-lead.js';
import { encodeReply } from '../../store/records/index.js';
import type { RunRecord, RunSpec } from '../../store/records/index.js';
import { replayRunFolder, getRunFolderPath } from '../../runs/run-folder/index.js';
import { LAUNCHERS } from '../../runs/launchers/launchers.js';
import { START_AGENT } from '../../runs/scenarios/fixtures/make-site.js';
import { openStore } from '../../store/open-store.js';
import type { Store } from '../../store/store.js';
import { reconcile } from './reconcile.js';
import { startWorker } from './start-worker.js';
import type { WorkerOptions } from './worker-options.js';

const AGENT = fileURLToPath(new URL('../../runs/scenarios/fixtures/two-way-agent.mjs', import.meta.url));
const WORKER = new URL('./fixtures/worker-program.js', import.meta.url);
const ASK = { ask: { tool: 'Write', input: { command: 'npm test' } } };
const DONE = { say: '{"__SKILL_DONE__": true}' };

/** Creates a store and a simulated codex that plays one list of steps per turn. */
async function openSite(turns: readonly (readonly object[])[], database = 'memory:') {
  const data = await makeFolder({ 'work/README.md': 'x', 'other/README.md': 'x' });
  const script = join(data, 'agent.json');
  const [, version = ''] = /^>=(\S+)/u.exec(LAUNCHERS.codex.testedVersions) ?? [];
  await writeFile(script, JSON.stringify({ version, turns }));
  const program = [...START_AGENT, AGENT, script];
  const store = await openStore(database === 'sqlite:' ? `sqlite:${join(data, 'sluice.db')}` : database);
  onTestFinished(async () => store.close());
  const start = (options: Partial<WorkerOptions> = {}) => {
    const runs = { data, programs: { codex: program } };
    const lead = createLead({ store, data });
    const worker = startWorker({ store, lead, runs, leaseMs: 600, pollMs: 100, ...options });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    return worker;
  };
  const queue = async (id: string, spec: Partial<RunSpec>) => {
    const runSpec = { engine: 'codex', prompt: 'Do it.', workdir: join(data, 'work'), ...spec } as const;
    await store.createRun({ id, spec: runSpec, state: 'queued', now: store.now() });
  };
  const prompts = async () =>
    (await readFile(`${script}.calls`, 'utf8').catch(() => ''))
      .split('\n')
      .filter((line) => line.includes('"prompt"'))
      .map((line) => (JSON.parse(line) as { readonly prompt: string }).prompt);
  return { data, store, program, start, queue, prompts };
}

/** Waits until a run has the given state. */
async function waitForState(store: Store, id: string, state: RunRecord['state']): Promise<RunRecord> {
  return vi.waitFor(
    async () => {
      const run = await store.findRun(id);
      expect(run).toMatchObject({ state });
      return run as RunRecord;
    },
    { timeout: 40_000, interval: 50 },
  );
}

/** Waits until a run's events contain this text. */
async function hasPublished(store: Store, runId: string, text: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const events = await store.read({ runId, protocol: 'fcmp', limit: 1000 });
      expect(JSON.stringify(events)).toContain(text);
    },
    { timeout: 40_000 },
  );
}

const ALLOW = encodeReply({ interaction_id: 'px_1_1', option_id: 'accept', who: 'ann' });

describe('a run waiting for an answer', () => {
  it.each([
    ['a permission', [[ASK], [ASK, { say: 'ok' }]], { permissions: 'ask' }, ALLOW],
    ['a reply', [[{ say: 'Which?' }], [DONE]], { mode: 'interactive' }, 'The first.'],
  ] as const)('for %s survives its worker', async (_, turns, spec, reply) => {
    const { data, store, start, queue } = await openSite(turns);
    await queue('r1', spec);
    const first = start();
    await waitForState(store, 'r1', 'waiting');
    await first.stop({ graceMs: 0 });
    expect(await store.findRun('r1')).toMatchObject({ state: 'waiting', result: null });
    // An answer that arrives while no worker is running counts too.
    expect(await store.postReply('r1', reply)).toBe('posted');
    start();
    const { result } = await waitForState(store, 'r1', 'ended');
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(await replayRunFolder(getRunFolderPath(data, 'r1'))).toMatchObject({ status: 'same' });
  });

  it('survives when its worker is killed', async () => {
    const { data, store, program, start, queue } = await openSite([[ASK], [ASK, { say: 'ok' }]], 'sqlite:');
    await queue('r1', { permissions: 'ask' });
    const worker = (await bundleProgram(WORKER)).start([data, 'codex', JSON.stringify(program)]);
    await hasPublished(store, 'r1', 'permission.required');
    const { owner } = await waitForState(store, 'r1', 'waiting');
    expect(owner).toMatchObject({ host: hostname(), pid: worker.pid });
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    start();
    // It continues once the killed worker's lease has expired.
    await vi.waitFor(async () => expect((await store.findRun('r1'))?.owner?.pid).toBe(process.pid), {
      timeout: 40_000,
    });
    expect(await store.postReply('r1', ALLOW)).toBe('posted');
    const { result } = await waitForState(store, 'r1', 'ended');
    expect(result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    const events = await store.read({ runId: 'r1', protocol: 'fcmp', limit: 1000 });
    expect(events.map(({ event }) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(await replayRunFolder(getRunFolderPath(data, 'r1'))).toMatchObject({ status: 'same' });
  });

  it('uses no slot after its process was stopped, and gets a slot again with the answer', async () => {
    const { data, store, start, queue } = await openSite([[ASK], [{ say: 'other' }], [ASK, { say: 'ok' }]]);
    await queue('r1', { permissions: 'ask', limits: { hold_s: 0.2 } });
    const worker = start({ concurrency: 1 });
    await waitForState(store, 'r1', 'waiting');
    await vi.waitFor(() => expect(worker.busy).toBe(0), { timeout: 60_000 });
    await queue('r2', { permissions: 'ask', workdir: join(data, 'other') });
    expect(await waitForState(store, 'r2', 'ended')).toMatchObject({ result: { text: 'other' } });
    expect(await store.findRun('r1')).toMatchObject({ state: 'waiting' });
    await store.postReply('r1', ALLOW);
    expect(await waitForState(store, 'r1', 'ended')).toMatchObject({ result: { status: 'success', text: 'ok' } });
  });

  it('ends when it is canceled while no worker holds it', async () => {
    const { store, start, queue } = await openSite([[ASK]]);
    await queue('r1', { permissions: 'ask' });
    const first = start();
    await waitForState(store, 'r1', 'waiting');
    await first.stop({ graceMs: 0 });
    await store.requestCancel('r1', store.now());
    start();
    expect((await waitForState(store, 'r1', 'ended')).result?.status).not.toBe('success');
  });

  it('is left alone by other hosts and by servers while an answer is still possible', async () => {
    const { data, store, queue } = await openSite([[ASK]]);
    await queue('r1', { permissions: 'ask', limits: { wait_s: 100 } });
    const worker = { worker_id: 'w1', host: hostname(), pid: process.pid, pid_started: null };
    await store.claimRun({ worker, leaseMs: 1, now: 1000 });
    await store.markStarted({ id: 'r1', workerId: 'w1', now: 1000 });
    await store.setWaiting({ id: 'r1', workerId: 'w1', now: 1000 });
    const lead = createLead({ store, data });
    const look = async (now: number) => reconcile({ store, lead, data, clock: () => now });
    expect(await look(50_000)).toMatchObject({ held: 1, ended: 0 });
    expect(await look(200_000)).toMatchObject({ held: 0, ended: 1 });
    expect(await store.findRun('r1')).toMatchObject({ result: { error: { code: 'WORKER_GONE' } } });
  });
});

describe('a run with resume: same-host', () => {
  const work = [[{ say: 'Half of it' }, { hang: true }], [{ say: 'ok' }]];

  it.each([
    ['continues as the next attempt when its worker was killed', { resume: 'same-host' }, 'success'],
    ['without it ends', {}, 'failed'],
  ] as const)('%s', async (_, spec, status) => {
    const { data, store, program, start, queue, prompts } = await openSite(work, 'sqlite:');
    await queue('r1', { permissions: 'ask', ...spec });
    const worker = (await bundleProgram(WORKER)).start([data, 'codex', JSON.stringify(program)]);
    await hasPublished(store, 'r1', 'Half of it');
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    start();
    expect(await waitForState(store, 'r1', 'ended')).toMatchObject({ result: { status } });
    expect((await prompts()).length).toBe(status === 'success' ? 2 : 1);
  });
});
