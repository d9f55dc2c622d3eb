import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OrderRecord } from '../../store/records/index.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { readRace } from '../race/decide-race.js';

/** A script that writes `$LINES_LEFT` lines to a file and reports success. */
const WORKER = `seq "$LINES_LEFT" > work.txt
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;

function createWrapper(lines: number) {
  return { type: 'script', command: ['/bin/sh', '-c', `LINES_LEFT=${lines}; ${WORKER}`] } as const;
}

const WRAPPERS = {
  short: createWrapper(3),
  long: createWrapper(40),
  broken: createWrapper(1),
  silent: { type: 'script', command: ['true'] },
  talker: {
    type: 'script',
    policy: { evidence: 'reported' },
    command: ['/bin/sh', '-c', WORKER.slice(WORKER.indexOf('printf')).replace('{}', '{"pr":"#7"}')],
  },
  dying: { type: 'script', command: ['/bin/sh', '-c', `LINES_LEFT=2; ${WORKER}; kill -9 $$`] },
} as const;

/** Sets up a repository whose check rejects fewer than two lines. */
async function openRace(race: number | readonly string[], changes: Readonly<Record<string, unknown>> = {}) {
  const checks = { unit: { command: ['sh', '-c', 'test "$(wc -l < work.txt)" -ge 2'], network: 'host' } } as const;
  const setup = await setUpWorker({ lead: { wrappers: WRAPPERS, checks } });
  const repository = join(setup.data, 'repository');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
  const submitted = await setup.submit('local#1', {}, { worker: 'short', checks: ['unit'], race, ...changes });
  const names = [submitted.record, ...submitted.rivals];
  const finish = async () => {
    for (const { order } of names) await setup.settled({ ...submitted, order });
    const orders = names.map(async ({ order }) => setup.store.findOrder(order.issue_ref, order.run_id));
    return (await Promise.all(orders)).filter((record): record is OrderRecord => record !== undefined);
  };
  const { lead, store, data } = setup;
  const readCurrentRace = async () => readRace({ store, data, maskText: (text) => lead.maskText(text) }, 'local#1');
  return { ...setup, git, submitted, finish, readCurrentRace };
}

function listActions(records: readonly OrderRecord[]): readonly (readonly (string | undefined)[])[] {
  return records.map(({ order, decision }) => [order.worker, decision?.action, decision?.result_code]);
}

describe('a race', () => {
  it('runs each worker in its own worktree, lets the smallest proven change win, and keeps the diffs of the others', async () => {
    const { start, finish, readCurrentRace, store, git, data } = await openRace(['long', 'short', 'broken', 'silent']);
    start({ concurrency: 2 });
    const records = await finish();
    expect(listActions(records)).toEqual([
      ['long', 'archive', 'superseded'],
      ['short', 'advance', 'none'],
      ['broken', 'archive', 'superseded'],
      ['silent', 'archive', 'superseded'],
    ]);
    const winner = records[1]?.order.run_id;
    expect(await store.findIssue('local#1')).toMatchObject({ state: 'review', active_run_id: winner });
    const race = await readCurrentRace();
    expect(race).toMatchObject({ group: records[0]?.order.run_id, winner });
    expect(race?.runs.map(({ change }) => change.files.map(({ added }) => added))).toEqual([[40], [3], [1], []]);
    expect((await store.listOutbox({})).items.map(({ trigger }) => trigger)).toEqual([`workrun:${winner}`]);
    expect((await store.listExecutions({})).items).toHaveLength(4);
    expect(git('branch', '--list', 'sluice/*').trim().split('\n')).toHaveLength(3);
    expect(records.map(({ order }) => order.race)).toEqual(
      Array.from({ length: 4 }, () => ['long', 'short', 'broken', 'silent']),
    );
    expect(execFileSync('ls', [join(data, 'worktrees')], { encoding: 'utf8' })).toBe('');
  });

  it('of one worker is requested as a number', async () => {
    const { start, finish, store } = await openRace(3);
    start();
    const records = await finish();
    expect(records.map(({ order }) => order.worker)).toEqual(['short', 'short', 'short']);
    expect(records.filter(({ decision }) => decision?.action === 'advance')).toHaveLength(1);
    expect((await store.findIssue('local#1'))?.active_group).toBeUndefined();
  });

  it('without a proven result asks a human, who sees all diffs and accepts one', async () => {
    const { start, finish, readCurrentRace, store, lead } = await openRace(['broken', 'dying', 'silent']);
    start();
    expect((await finish()).map(({ decision }) => decision?.action)).toEqual([
      'needs-human',
      'needs-human',
      'needs-human',
    ]);
    const race = await readCurrentRace();
    expect(race?.winner).toBeNull();
    expect(race?.runs.map(({ change }) => change.files[0]?.added)).toEqual([1, 2, undefined]);
    const [, dying] = race?.runs ?? [];
    const request = { id: dying?.inbox_id ?? '', action: 'accept', who: 'Ada', why: 'It is fine.' } as const;
    expect(await lead.preview(request)).toContain('It is fine.');
    await lead.resolve(request);
    expect(await store.findIssue('local#1')).toMatchObject({ state: 'review', active_run_id: dying?.run_id });
    expect((await store.listInbox({ open: true })).items).toEqual([]);
    expect((await readCurrentRace())?.winner).toBe(dying?.run_id);
    const [broken] = race?.runs ?? [];
    await expect(lead.resolve({ ...request, id: broken?.inbox_id ?? '' })).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it("without checks is won by a confirmed commit, not by a report, whatever its wrapper's policy", async () => {
    const { start, finish } = await openRace(['talker', 'short'], { checks: [] });
    start();
    const records = await finish();
    expect(listActions(records)).toEqual([
      ['talker', 'archive', 'superseded'],
      ['short', 'advance', 'none'],
    ]);
    expect(records[0]?.decision?.reason).toContain('this run is not proven');
  });

  it('continues without a run whose worker dies, and does not repeat it', async () => {
    const { start, finish, store } = await openRace(['dying', 'short']);
    start({ workerLostRetries: 3 });
    expect(listActions(await finish())).toEqual([
      ['dying', 'archive', 'superseded'],
      ['short', 'advance', 'none'],
    ]);
    expect((await store.listOrders({ issueRef: 'local#1' })).items).toHaveLength(2);
  });

  it('is rejected in the repository itself, for an unknown worker, and for one run', async () => {
    const { submit } = await setUpWorker({ lead: { wrappers: WRAPPERS } });
    const order = async (changes: object) => submit('local#1', {}, { worker: 'short', ...changes });
    const refused = { code: 'INVALID_WORK_REQUEST' };
    await expect(order({ race: 2, isolation: 'repository' })).rejects.toMatchObject(refused);
    await expect(order({ race: 1 })).rejects.toMatchObject(refused);
    await expect(order({ race: ['short'] })).rejects.toMatchObject(refused);
    await expect(order({ race: 9 })).rejects.toMatchObject(refused);
    await expect(order({ race: ['short', 'nobody'] })).rejects.toMatchObject({ code: 'UNKNOWN_WORKER' });
  });
});
