import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { report } from '../../../test/report.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { silentLogger } from '../../base/index.js';
import { openStore } from '../../store/open-store.js';
import type { Store } from '../../store/store.js';
import { git, makeRepository } from '../git/fixtures/git-server.js';
import { createLead } from '../lead/create-lead.js';
import { readRepos } from '../repos/repos.js';
import { executeRun } from './execute-run.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { startWorker } from './start-worker.js';
import { waitForOrder } from './wait-for-order.js';

/*
 * Two attempts at one order: a worker is paused (a laptop asleep, a stopped container, a long garbage collection), another
 * one takes over, and then the first one continues as if it still held the claim.
 */

/** How many orders both workers settle at once; `npm run torture` sets a higher number. */
const ROUNDS = Number(process.env['ATTEMPT_ROUNDS'] ?? 10);

/** Works until the file `go` exists next to the run folders, then reports. */
const WORK = `echo "$SLUICE_RUN_ID" > work.txt; touch "$SLUICE_RUN_DIR/../../started"
while [ ! -e "$SLUICE_RUN_DIR/../../go" ]; do sleep 0.05; done
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;
const PATIENT = { patient: { type: 'script', command: ['/bin/sh', '-c', WORK] } };

/** Everything that a settlement adds to a store. */
async function countEffects(store: Store, issueRef: string) {
  const [executions, items, comments] = await Promise.all([
    store.listExecutions({ issueRef }),
    store.listInbox({ issueRef }),
    store.listOutbox({ issueRef }),
  ]);
  return { executions: executions.items.length, items: items.items.length, comments: comments.items.length };
}

describe('two attempts at one order', { timeout: 120_000 }, () => {
  it('settle it once if both try at the same time, with one execution and one comment', async () => {
    const data = await makeFolder({ 'repository/README.md': 'x' });
    const url = `sqlite:${join(data, 'sluice.db')}`;
    const stores = [await openStore(url), await openStore(url)] as const;
    onTestFinished(async () => void (await Promise.all(stores.map(async (store) => store.close()))));
    const [first, second] = stores.map((store) => createLead({ store, data, wrappers: PATIENT }));
    for (let round = 1; round <= ROUNDS; round += 1) {
      const request = { issue_ref: `local#${round}`, role: 'qa', repo_dir: join(data, 'repository') };
      const { order } = (await first?.submit({ ...request, worker: 'patient', instructions: '' })) ?? {};
      const name = { issueRef: order?.issue_ref ?? '', runId: order?.run_id ?? '' };
      const settled = await Promise.all([
        first?.settle({ ...name, exitCode: 1 }),
        second?.settle({ ...name, exitCode: null, startError: 'the other worker is gone' }),
      ]);
      expect(settled.filter((each) => each?.repeated === true)).toHaveLength(1);
      expect(settled[0]?.decision).toEqual(settled[1]?.decision);
      expect(await countEffects(stores[0], name.issueRef)).toEqual({ executions: 1, items: 1, comments: 1 });
    }
    report(`settled ${ROUNDS} orders by two attempts at once: once each`);
  });

  it('do not touch each other: one that lost its claim before its agent started changes nothing', async () => {
    const { data, store, lead, start } = await setUpWorker({ lead: { wrappers: PATIENT } });
    const repository = join(data, 'repository');
    git(repository, 'init', '--quiet');
    git(repository, 'add', '.');
    git(repository, 'commit', '--quiet', '-m', 'Begin');
    const request = { issue_ref: 'local#1', role: 'qa', repo_dir: repository, worker: 'patient' };
    const submitted = await lead.submit({ ...request, instructions: '' });
    // The first worker claims the order and is paused until its lease has expired.
    const paused = { worker_id: 'paused', host: 'elsewhere', pid: 1, pid_started: null };
    const kinds = ['orders'] as const;
    const claimed = await store.claimRun({ worker: paused, leaseMs: 1, now: store.now(), kinds, concurrency: {} });
    await expect.poll(async () => store.requeueExpired(store.now())).toBe(1);
    start();
    await expect.poll(() => existsSync(join(data, 'started')), { timeout: 30_000 }).toBe(true);
    if (claimed === undefined) throw new Error('the order was not claimed');
    const { signal } = new AbortController();
    const context = {
      store,
      lead,
      runs: { data },
      leaseMs: 100,
      clock: () => store.now(),
      logger: silentLogger,
      signal,
    };
    await executeRun(context, claimed, paused.worker_id);
    await writeFile(join(data, 'go'), '');
    const name = { issueRef: 'local#1', runId: submitted.order.run_id };
    const record = await waitForOrder(store, name, { signal: AbortSignal.timeout(30_000) });
    expect(record?.decision).toMatchObject({ action: 'advance' });
    const commit = record?.result?.changes.commit ?? '';
    expect(git(repository, 'show', `${commit}:work.txt`)).toBe(submitted.order.run_id);
    expect(await countEffects(store, 'local#1')).toEqual({ executions: 1, items: 0, comments: 1 });
  });

  it('publish at most once: one whose order another has settled pushes nothing and comments nothing', async () => {
    const { url: repo, bare } = await makeRepository();
    const root = await makeFolder({ 'a/x': '', 'b/x': '' });
    const database = `sqlite:${join(root, 'sluice.db')}`;
    const open = async (machine: string) => {
      const store = await openStore(database);
      onTestFinished(async () => store.close());
      const data = join(root, machine);
      return { store, data, lead: createLead({ store, data, wrappers: PATIENT, repos: readRepos([repo], {}) }) };
    };
    const [first, second] = [await open('a'), await open('b')];
    const { order } = await second.lead.submit({
      issue_ref: 'local#1',
      role: 'qa',
      repo,
      worker: 'patient',
      instructions: '',
    });
    // With a long lease, the worker does not notice by itself that it lost the claim.
    const { store, lead, data } = first;
    const worker = startWorker({ store, lead, runs: { data }, leaseMs: 600_000, pollMs: 100 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    await expect.poll(() => existsSync(join(data, 'started')), { timeout: 30_000 }).toBe(true);
    const name = { issueRef: 'local#1', runId: order.run_id };
    const orphaned = await second.lead.settle({ ...name, exitCode: null });
    expect(orphaned.decision.action).toBe('needs-human');
    await writeFile(join(data, 'go'), '');
    await worker.stop();
    expect(execFileSync('git', ['-C', bare, 'branch', '--list', 'sluice/*'], { encoding: 'utf8' })).toBe('');
    expect((await store.findOrder(name.issueRef, name.runId))?.decision).toEqual(orphaned.decision);
    expect(await countEffects(store, 'local#1')).toEqual({ executions: 1, items: 1, comments: 1 });
  });
});
