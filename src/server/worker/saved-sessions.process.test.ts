import { once } from 'node:events';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { silentLogger } from '../../base/index.js';
import { claimRuns, startReaper, waitForOrder } from '../../orders/dispatch/index.js';
import { git, makeRepository } from '../../orders/git/fixtures/git-server.js';
import type { Repo } from '../../orders/index.js';
import { readRepos } from '../../orders/repos/repos.js';
import { openS3Server } from '../../runs/archive/fixtures/open-s3-server.js';
import type { RunPorts } from '../../runs/index.js';
import { LAUNCHERS } from '../../runs/launchers/launchers.js';
import { START_AGENT } from '../../runs/scenarios/fixtures/make-site.js';
import { startProgram } from '../../store/contract/fixtures/start-program.js';
import { encodeReply, type RunSpec } from '../../store/records/index.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { connect } from './connection.js';
import { openRemotePorts } from './remote-store.js';

const TOKEN = 'a-worker-token-with-32-characters';
const AGENT = fileURLToPath(new URL('./fixtures/session-agent.mjs', import.meta.url));
const TWO_WAY = fileURLToPath(new URL('../../runs/scenarios/fixtures/two-way-agent.mjs', import.meta.url));
const WORKER = new URL('./fixtures/session-worker.js', import.meta.url);
const LEASE_MS = 5000;
const SESSION_FILE = '.keeper/sessions/7d0f2a1c-3f5e-4b8f-9a3d-5c1f0f0a0001.jsonl';

/** A server with an archive, and workers with home folders of their own that reach nothing else. */
async function openSite({
  keeps = ['~/.keeper'],
  repos = [],
}: { readonly keeps?: readonly string[]; readonly repos?: readonly Repo[] } = {}) {
  const archive = await (await openS3Server()).open();
  const keeper = {
    command: [process.execPath, AGENT],
    resume: [process.execPath, AGENT, '{session}'],
    format: 'claude' as const,
    keeps: [...keeps],
  };
  const agents = { keeper };
  const server = await openListeningServer({
    archive,
    repos,
    wrappers: { careful: { type: 'codex-cli', permissions: 'ask', limits: { hold_s: 0.2 } } },
    settings: { tokens: [{ name: 'fleet', scopes: ['worker'], value: TOKEN }], agents },
    work: { leaseMs: LEASE_MS },
  });
  const { store, lead, data } = server;
  /** Looks for lost workers until a run has moved. */
  const reap = async (id: string, from: string) => {
    const reaper = startReaper({ store, lead, data, agents, sessions: archive.sessions, everyMs: LEASE_MS / 4 });
    onTestFinished(async () => reaper.stop());
    await expect.poll(async () => (await store.findRun(id))?.owner?.host).not.toBe(from);
    await reaper.stop();
  };
  const start = async (changes: Partial<RunPorts> = {}) => {
    const folder = await realpath(await makeFolder({ 'data/.keep': '', 'home/.keep': '' }));
    const home = join(folder, 'home');
    const connection = connect({ url: server.url, token: TOKEN });
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: string, fields: unknown) => void warnings.push(fields) };
    const own = join(folder, 'data');
    const self = { host: 'machine-b', version: '0.0.0', engines: [] };
    const remote = await openRemotePorts({ connection, data: own, filters: {}, token: TOKEN }, self);
    const runs = { data: own, environment: { ...process.env, HOME: home }, agents, ...changes };
    const worker = claimRuns({ ...remote, runs, leaseMs: LEASE_MS, logger });
    const stop = async () => {
      await worker.stop({ graceMs: 0 });
      remote.close();
    };
    onTestFinished(stop);
    return { worker, home, warnings, stop };
  };
  const add = async (id: string, changes: Partial<RunSpec> = {}) => {
    const spec = { engine: 'keeper', prompt: 'Begin.', workdir: server.work, mode: 'interactive' } as const;
    const limits = { hold_s: 0.2 };
    await store.createRun({ id, spec: { ...spec, limits, ...changes }, state: 'queued', now: store.now() });
  };
  const find = async (id: string) => store.findRun(id);
  return { ...server, archive, start, add, find, reap };
}

describe('a run that waits for an answer longer than hold_s', () => {
  it('is finished on another worker, in its session, after its worker was killed', async () => {
    const { url, store, archive, start, add, find, reap } = await openSite();
    const [data, home] = [await makeFolder({}), await makeFolder({})];
    const { child, started } = startProgram(await bundleProgram(WORKER), [url, data, home, TOKEN]);
    await started;
    await add('run-1');
    await expect.poll(async () => archive.sessions.has('run-1')).toBe(true);
    expect(await find('run-1')).toMatchObject({ state: 'waiting', owner: { host: 'machine-a' } });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    expect(await store.postReply('run-1', 'The first.')).toBe('posted');
    await reap('run-1', 'machine-a');
    const second = await start();
    await expect.poll(async () => (await find('run-1'))?.state).toBe('ended');
    const { result } = (await find('run-1')) ?? {};
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(result?.text).toContain('"prompts":["Begin.","The first."]');
    expect(await readFile(join(second.home, SESSION_FILE), 'utf8')).toBe('"Begin."\n"The first."\n');
    const events = await store.read({ runId: 'run-1', protocol: 'fcmp', limit: 1000 });
    expect(events.map(({ event }) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(await archive.sessions.has('run-1')).toBe(false);
  });

  it('is handed to another worker when its worker shuts down, and can still be answered', async () => {
    const { store, archive, start, add, find } = await openSite();
    const first = await start();
    await add('run-1');
    await expect.poll(async () => archive.sessions.has('run-1')).toBe(true);
    await first.stop();
    expect(await find('run-1')).toMatchObject({ state: 'queued', owner: null });
    expect(await store.postReply('run-1', 'The first.')).toBe('posted');
    await start();
    await expect.poll(async () => (await find('run-1'))?.result?.text).toContain('["Begin.","The first."]');
  });

  it('stays where it is if the files of its session are not known, and says so', async () => {
    const { store, archive, start, add, find } = await openSite({ keeps: [] });
    const { warnings } = await start();
    await add('run-1');
    await expect
      .poll(() => warnings)
      .toContainEqual({ run_id: 'run-1', reason: expect.stringContaining('session with keeper are not known') });
    expect(await archive.sessions.has('run-1')).toBe(false);
    expect(await find('run-1')).toMatchObject({ state: 'waiting' });
    await store.postReply('run-1', 'The first.');
    await expect.poll(async () => (await find('run-1'))?.result?.status).toBe('success');
  });

  it('ends if its working folder is not as the agent left it', async () => {
    const { store, work, archive, start, add, find } = await openSite();
    const first = await start();
    await add('run-1');
    await expect.poll(async () => archive.sessions.has('run-1')).toBe(true);
    await first.stop();
    await writeFile(join(work, 'made.txt'), 'changed by someone else\n');
    await start();
    await expect.poll(async () => (await find('run-1'))?.result?.error).toMatchObject({ code: 'SESSION_LOST' });
    expect((await find('run-1'))?.result?.error?.message).toContain('made.txt');
    expect(await readFile(join(work, 'made.txt'), 'utf8')).toBe('changed by someone else\n');
    expect(await store.postReply('run-1', 'x')).toBe('not_waiting');
  });

  it('ends if its saved session is no longer in the archive', async () => {
    const { archive, start, add, find } = await openSite();
    const first = await start();
    await add('run-1');
    await expect.poll(async () => archive.sessions.has('run-1')).toBe(true);
    await first.stop();
    await archive.sessions.remove('run-1');
    await start();
    await expect
      .poll(async () => (await find('run-1'))?.result?.error)
      .toMatchObject({ code: 'SESSION_LOST', message: expect.stringContaining('not in the archive') });
  });
});

describe('an order that waits for an answer', () => {
  it('is finished on another worker, with the files that the agent had changed', async () => {
    const { url, bare, first: base } = await makeRepository({ 'README.md': 'x\n' });
    const { store, lead, archive, start } = await openSite({ repos: readRepos([url], {}) });
    const request = { issue_ref: 'local#1', role: 'qa', repo: url, worker: 'careful', instructions: 'Work.' };
    const { order, run } = await lead.submit(request);
    const { issue_ref, run_id } = order;
    const result = { issue_ref, run_id, status: 'ok', changes: {}, tests: 'n/a', summary: 'Done.' };
    const [, version = ''] = /^>=(\S+)/u.exec(LAUNCHERS.codex.testedVersions) ?? [];
    const folder = await realpath(await makeFolder({ 'home/.codex/sessions/.keep': '' }));
    const home = join(folder, 'home');
    const session = '.codex/sessions/rollout-0b9e6a52-5f0c-4f5e-9a3d-1c1f0f0a0001.jsonl';
    const ask = { ask: { tool: 'Write', input: { command: 'npm test' } } };
    const first = [{ file: 'early.txt', text: 'early\n' }, { file: join(home, session), text: 'session\n' }, ask];
    const last = [ask, { file: 'late.txt', text: 'late\n' }, { say: `<json>${JSON.stringify(result)}</json>` }];
    const script = join(folder, 'agent.json');
    await writeFile(script, JSON.stringify({ version, turns: [first, last] }));
    const changes = { programs: { codex: [...START_AGENT, TWO_WAY, script] }, sandbox: { use: 'off' as const } };
    const lost = await start({ ...changes, environment: { ...process.env, HOME: home } });
    await expect.poll(async () => archive.sessions.has(run)).toBe(true);
    await lost.stop();
    const second = await start(changes);
    await expect.poll(async () => (await store.findRun(run))?.state).toBe('waiting');
    await store.postReply(run, encodeReply({ interaction_id: 'px_1_1', option_id: 'accept', who: 'ann' }));
    const record = await waitForOrder(store, { issueRef: issue_ref, runId: run_id });
    expect(record?.decision).toMatchObject({ action: 'advance' });
    expect(await readFile(join(second.home, session), 'utf8')).toBe('session\n');
    const branch = `sluice/${run_id}-${run}`;
    const show = async (file: string) => git(bare, 'show', `${branch}:${file}`);
    expect([await show('early.txt'), await show('late.txt')]).toEqual(['early', 'late']);
    expect(record?.base_commit).toBe(base);
  });
});
