import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { encodeReply } from '../../store/records/index.js';
import { LAUNCHERS } from '../../runs/launchers/launchers.js';
import { START_AGENT } from '../../runs/scenarios/fixtures/make-site.js';
import { setUpWorker } from './fixtures/set-up-worker.js';

const AGENT = fileURLToPath(new URL('../../runs/scenarios/fixtures/two-way-agent.mjs', import.meta.url));
const ASK = { ask: { tool: 'Write', input: { command: 'npm test' } } };
const ALLOW = encodeReply({ interaction_id: 'px_1_1', option_id: 'accept', who: 'ann' });

/**
 * Submits an order whose agent asks before it works, in a git repository; the worker that starts it is stopped while it
 * waits.
 */
async function leaveWaiting() {
  const wrappers = { careful: { type: 'codex-cli', permissions: 'ask' } } as const;
  const setup = await setUpWorker({ lead: { wrappers } });
  const { data, store, start, submit } = setup;
  const git = (...args: readonly string[]) =>
    execFileSync(
      'git',
      ['-C', join(data, 'repository'), '-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args],
      {
        encoding: 'utf8',
      },
    );
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Begin');
  const submitted = await submit('local#1', {}, { worker: 'careful' });
  const { issue_ref, run_id } = submitted.order;
  const result = { issue_ref, run_id, status: 'ok', changes: {}, tests: 'n/a', summary: 'Done.' };
  const script = join(data, 'agent.json');
  const [, version = ''] = /^>=(\S+)/u.exec(LAUNCHERS.codex.testedVersions) ?? [];
  const end = [{ file: 'work.txt', text: 'done\n' }, { say: `<json>${JSON.stringify(result)}</json>` }];
  await writeFile(script, JSON.stringify({ version, turns: [[ASK], [ASK, ...end]] }));
  const runs = { data, programs: { codex: [...START_AGENT, AGENT, script] } };
  const startWorker = () => start({ runs, leaseMs: 600, pollMs: 100 });
  const first = startWorker();
  const run = (await store.findOrder(issue_ref, run_id))?.run ?? '';
  await vi.waitFor(async () => expect(await store.findRun(run)).toMatchObject({ state: 'waiting' }), {
    timeout: 40_000,
  });
  await first.stop({ graceMs: 0 });
  expect(await store.findRun(run)).toMatchObject({ state: 'waiting', result: null });
  const sessions = async () =>
    (await readFile(`${script}.calls`, 'utf8')).split('\n').filter((line) => line.includes('"args"')).length;
  return { ...setup, git, run, submitted, startWorker, sessions };
}

describe('an order whose agent is waiting for an answer', () => {
  it('survives its worker: the answer resumes it, and its result is proven as usual', async () => {
    const { store, git, run, submitted, startWorker, settled, sessions } = await leaveWaiting();
    expect(await store.postReply(run, ALLOW)).toBe('posted');
    startWorker();
    const record = await settled(submitted);
    expect(record).toMatchObject({ state: 'settled', decision: { action: 'advance' } });
    const { result } = (await store.findRun(run)) ?? {};
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(await sessions()).toBe(2);
    // The agent's changes are committed on the order's branch, on top of the commit where the work started.
    const branch = `sluice/${submitted.order.run_id}-${run}`;
    expect(git('show', `${branch}:work.txt`)).toBe('done\n');
    expect(record?.base_commit).toBe(git('rev-parse', 'main').trim());
  });

  it("is compared with its repository's state before the work started, whatever happened while no worker was running", async () => {
    const { store, git, run, submitted, startWorker, settled } = await leaveWaiting();
    const storedStart = JSON.parse((await store.findRepositoryStart(run)) ?? '{}') as { readonly head?: string };
    expect(storedStart.head).toBe(git('rev-parse', 'main').trim());
    git('commit', '--quiet', '--allow-empty', '-m', 'Meanwhile');
    expect(await store.postReply(run, ALLOW)).toBe('posted');
    startWorker();
    // The base is the commit at the start, not at the resumption.
    expect((await settled(submitted))?.base_commit).toBe(storedStart.head);
  });

  it('goes to a human when it is canceled while no worker holds it', async () => {
    const { store, run, submitted, startWorker, settled } = await leaveWaiting();
    await store.requestCancel(run, store.now());
    startWorker();
    expect((await settled(submitted))?.state).not.toBe('running');
    expect((await store.findRun(run))?.state).toBe('ended');
  });

  it("goes to a human when its repository's state is not in the store", async () => {
    const { store, run, submitted, startWorker, settled } = await leaveWaiting();
    vi.spyOn(store, 'findRepositoryStart').mockResolvedValue(undefined);
    startWorker();
    expect((await settled(submitted))?.decision?.action).toBe('needs-human');
    expect((await store.findRun(run))?.result?.error?.code).toBe('WORKER_GONE');
  });
});
