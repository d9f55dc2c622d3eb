import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { silentLogger } from '../../base/index.js';
import { createLead } from '../lead/create-lead.js';
import type { RunRecord } from '../../store/records/index.js';
import { openStore } from '../../store/open-store.js';
import { requestBudget, listLimits, reportBudgets } from './budgets.js';
import type { BudgetSettings } from './worker-options.js';
import { startWorker } from './start-worker.js';

/** Creates a simulated Codex that uses this many tokens, then exits, or continues until it is stopped. */
function createAgent(tokens: number, { continues = false } = {}): readonly string[] {
  const records = [
    { type: 'thread.started', thread_id: 't' },
    { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'Done.' } },
    { type: 'turn.completed', usage: { input_tokens: tokens, output_tokens: 0 } },
  ];
  const print = records.map((record) => `console.log(${JSON.stringify(JSON.stringify(record))});`).join('');
  return [process.execPath, '-e', `${print}${continues ? 'setInterval(() => undefined, 1000);' : ''}`];
}

/** Returns when the UTC day ends. */
function getMidnight(): string {
  return new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();
}

async function openSite(budgets: BudgetSettings) {
  const data = await makeFolder({ 'a/x': 'x', 'b/x': 'x' });
  const store = await openStore('memory:');
  const lead = createLead({ store, data });
  onTestFinished(async () => store.close());
  const worker = startWorker({ store, lead, budgets, runs: { data }, pollMs: 50 });
  onTestFinished(async () => worker.stop({ graceMs: 0 }));
  const queue = async (id: string, command: readonly string[], workdir = 'a', caller = 'ci'): Promise<void> => {
    await store.recordRequest({ run: id, caller, issueRef: null, now: store.now() });
    const spec = { engine: 'command', format: 'codex', command, workdir: join(data, workdir) } as const;
    await store.createRun({ id, spec, state: 'queued', now: store.now() });
  };
  const waitForEnd = async (id: string): Promise<RunRecord> =>
    vi.waitFor(
      async () => {
        const run = await store.findRun(id);
        expect(run).toMatchObject({ state: 'ended' });
        return run as RunRecord;
      },
      { timeout: 40_000, interval: 50 },
    );
  return { data, store, lead, queue, waitForEnd };
}

describe('runs waiting for a budget', () => {
  it('try again after a minute, a hundred of them per minute', async () => {
    const store = await openStore('memory:');
    onTestFinished(async () => store.close());
    const now = Date.UTC(2026, 10, 16, 12);
    const budgets = { day: { tokens: 100 } };
    const limits = listLimits(budgets, { caller: null, issueRef: null }, now);
    const spec = { engine: 'codex', workdir: '/srv' } as const;
    await store.createRun({ id: 'used', spec, state: 'running', workerId: 'w', leaseMs: 1000, now });
    await store.reserveBudget({ run: 'used', issueRef: null, now, limits });
    await store.spendBudget({ run: 'used', tokens: 100, cost: 0, limits });
    const ask = async (id: string): Promise<number> => {
      const answer = await requestBudget(
        { store, budgets, clock: () => now, logger: silentLogger, signal: new AbortController().signal },
        { id, spec, order: null },
      );
      return answer.status === 'wait' ? (answer.retryAt - now) / 60_000 : Number.NaN;
    };
    const minutes: number[] = [];
    for (let number = 1; number <= 200; number += 1) {
      await store.createRun({ id: `r${number}`, spec, state: 'queued', now });
      minutes.push(await ask(`r${number}`));
    }
    expect([1, 99, 100, 199, 200].map((waiting) => minutes[waiting - 1])).toEqual([1, 1, 2, 2, 3]);
  });
});

describe('a daily budget', () => {
  it('ends a run that uses it up, with a separate code', async () => {
    const { queue, waitForEnd } = await openSite({ day: { tokens: 100 } });
    await queue('r1', createAgent(101, { continues: true }));
    expect((await waitForEnd('r1')).result).toMatchObject({
      status: 'failed',
      error: {
        category: 'limit',
        code: 'RUN_BUDGET_EXCEEDED',
        message: expect.stringContaining('of the day (100 tokens)'),
      },
    });
  });

  it('makes the next run wait in the queue, and shows that', async () => {
    const settings = { day: { tokens: 100 } };
    const { store, queue, waitForEnd } = await openSite(settings);
    await queue('r1', createAgent(100));
    expect((await waitForEnd('r1')).result).toMatchObject({ status: 'success' });
    await queue('r2', createAgent(1), 'b');
    const report = await vi.waitFor(
      async () => {
        const currentReport = await reportBudgets(store, settings, store.now());
        expect(currentReport.waiting).toEqual([{ run: 'r2', budget: 'day', opens_at: getMidnight() }]);
        return currentReport;
      },
      { timeout: 60_000 },
    );
    expect(report.items).toEqual([
      { scope: 'day', name: '', tokens: { limit: 100, used: 100, held: 100 }, cost: null },
    ]);
    await vi.waitFor(
      async () =>
        expect(await store.findRun('r2')).toMatchObject({
          state: 'queued',
          started_at: null,
          waiting_for: { reason: 'budget', budget: 'day', opens_at: getMidnight() },
        }),
      { timeout: 60_000 },
    );
    // A waiting run can be canceled.
    await store.requestCancel('r2', store.now());
    expect((await waitForEnd('r2')).result).toMatchObject({ status: 'canceled' });
  });

  it('does not apply to commands that use no tokens', async () => {
    const { data, store, queue, waitForEnd } = await openSite({ day: { tokens: 1 } });
    await queue('r1', createAgent(1));
    await waitForEnd('r1');
    const spec = { engine: 'command', command: ['true'], workdir: join(data, 'a') } as const;
    await store.createRun({ id: 'r2', spec, state: 'queued', now: store.now() });
    expect((await waitForEnd('r2')).result).toMatchObject({ status: 'success' });
  });

  it('warns that it cannot limit the cost of an engine that does not report it', async () => {
    const { queue, waitForEnd } = await openSite({ day: { cost: 1 } });
    await queue('r1', createAgent(1));
    expect((await waitForEnd('r1')).result?.warnings).toContainEqual({
      code: 'COST_NOT_REPORTED',
      message: expect.stringContaining('The cost limit of the budget has no effect'),
    });
  });
});

it("a token's budget limits only its own requests", async () => {
  const { store, queue, waitForEnd } = await openSite({ callers: { ci: { tokens: 10 } } });
  await queue('r1', createAgent(10));
  await waitForEnd('r1');
  await queue('r2', createAgent(1));
  await queue('r3', createAgent(1), 'b', 'ada');
  expect((await waitForEnd('r3')).result).toMatchObject({ status: 'success' });
  await vi.waitFor(
    async () =>
      expect(await store.listBudgetUse(5, store.now())).toMatchObject({
        waiting: [{ run: 'r2', budget: 'caller ci' }],
      }),
    { timeout: 60_000 },
  );
});

it('an order whose issue has used up its budget goes to a human', async () => {
  const { data, store, lead } = await openSite({ issue: { tokens: 5 } });
  const issueRef = 'acme/shop#1';
  const limits = listLimits({ issue: { tokens: 5 } }, { caller: null, issueRef }, store.now());
  await store.reserveBudget({ run: 'before', issueRef, now: store.now(), limits });
  await store.spendBudget({ run: 'before', tokens: 5, cost: 0, limits });
  const request = { issue_ref: issueRef, role: 'backend', repo_dir: join(data, 'a'), worker: 'codex-cli' };
  await lead.submit({ ...request, instructions: 'Go.' });
  await vi.waitFor(
    async () => {
      const { items } = await store.listInbox({ issueRef });
      expect(items).toMatchObject([
        {
          result_code: 'env_unavailable',
          reason: expect.stringContaining(
            'The budget of issue "acme/shop#1" (5 tokens) is used up. Raise the setting "budgets.issue".',
          ),
        },
      ]);
    },
    { timeout: 60_000 },
  );
});

it('unlisted tokens share no budget: each has the * budget', () => {
  const settings = { callers: { '*': { tokens: 5 }, ci: { cost: 1 } } };
  const list = (caller: string) => listLimits(settings, { caller, issueRef: null }, 90_000_000);
  expect(list('ada')).toEqual([{ scope: 'caller', name: 'ada', since: 86_400_000, tokens: 5, cost: null }]);
  expect(list('ci')).toMatchObject([{ name: 'ci', tokens: null, cost: 1 }]);
  expect(list('__proto__')).toMatchObject([{ tokens: 5 }]);
});
