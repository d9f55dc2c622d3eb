import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../../base/sluice-error.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';
import type { MakeSite } from './fixtures/open-site.js';
import { createCommandHistory, randomCommand, type RandomCommand, type Step } from './fixtures/random-commands.js';

/** More runs in `npm run torture`. */
const RUNS = Number(process.env['MODEL_RUNS'] ?? 25);

/**
 * The contract of every store: for random commands it returns the same as SQLite in memory and preserves its
 * invariants.
 */
export function describeModel(makeSite: MakeSite): void {
  describe('random commands', () => {
    it(
      'return the same as the in-memory store, and leave the same content',
      { timeout: 120_000 + RUNS * 5000 },
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(randomCommand, { minLength: 20, maxLength: 80 }), async (commands) => {
            const store = await openStore(await makeSite());
            try {
              await runBoth(commands, store);
            } finally {
              await store.close();
            }
          }),
          { numRuns: RUNS, endOnFailure: true },
        );
      },
    );
  });
}

async function runBoth(commands: readonly RandomCommand[], store: Store): Promise<void> {
  const model = await openStore('memory:');
  const history = createCommandHistory();
  const executedSteps: string[] = [];
  for (const command of commands) {
    const step = command(history);
    executedSteps.push(step.title);
    const { returned, record } = await executeStep(step, store);
    expect({ executedSteps, returned }).toEqual({ executedSteps, returned: (await executeStep(step, model)).returned });
    record();
  }
  const content = await readAll(store);
  expect({ executedSteps, content }).toEqual({ executedSteps, content: await readAll(model) });
  expect(findViolations(content)).toEqual([]);
}

async function executeStep(step: Step, store: Store): Promise<{ returned: unknown; record: () => void }> {
  try {
    return await step.execute(store);
  } catch (error) {
    if (isSluiceError(error)) return { returned: { code: error.code }, record: () => undefined };
    throw error;
  }
}

type Content = Awaited<ReturnType<typeof readAll>>;

async function readAll(store: Store) {
  const page = { limit: 1000 };
  return {
    issues: (await store.listIssues(page)).items,
    orders: (await store.listOrders(page)).items,
    open: (await store.listOrders({ ...page, open: true })).items,
    inbox: (await store.listInbox(page)).items,
    outbox: (await store.listOutbox(page)).items,
    executions: (await store.listExecutions(page)).items,
    runs: (await store.listRuns(page)).items,
    figures: await store.countOpenWork(),
  };
}

/** Lists the violated invariants, as messages. */
function findViolations({ issues, orders, inbox, outbox, executions, runs }: Content): string[] {
  const violations: string[] = [];
  for (const { issue_ref: issueRef, state, active_run_id: activeRunId, active_group: activeGroup } of issues) {
    const waiting = inbox.filter(
      ({ issue_ref: ref, run_id: runId, group, resolution }) =>
        ref === issueRef &&
        resolution === null &&
        (activeGroup === undefined ? runId === activeRunId : group === activeGroup),
    );
    if ((activeRunId === null) !== (activeGroup !== undefined)) {
      violations.push(`${issueRef} has the active run ${activeRunId} and the active group ${activeGroup}`);
    }
    if ((state === 'needs-human') !== waiting.length > 0) {
      violations.push(`${issueRef} is ${state} with ${waiting.length} items waiting`);
    }
    for (const { order, run, group, state: orderState } of orders) {
      const isActive = activeGroup === undefined ? order.run_id === activeRunId : group === activeGroup;
      const isOther = order.issue_ref === issueRef && !isActive;
      // An order that was claimed when it was replaced can be queued again, but only to be settled without a process.
      const isCanceled = runs.find(({ id }) => id === run)?.cancel_requested === true;
      if (isOther && orderState === 'queued' && !isCanceled) {
        violations.push(`${order.run_id} of ${issueRef} waits and is not active`);
      }
    }
  }
  const isolations = new Map(orders.map(({ run, order }) => [run, order.isolation]));
  // A canceled run that never started is claimed only to be settled: it has no process, and its folder can be in use.
  const busy = runs.filter(
    ({ state, cancel_requested, started_at }) =>
      (state === 'running' || state === 'waiting') && !(cancel_requested && started_at === null),
  );
  for (const [index, { id, spec }] of busy.entries()) {
    const isShared = busy
      .slice(index + 1)
      .some(
        (other) =>
          other.spec.workdir === spec.workdir &&
          (isolations.get(other.id) !== 'worktree' || isolations.get(id) !== 'worktree'),
      );
    if (isShared) violations.push(`${id} shares ${spec.workdir}`);
  }
  const archived = new Set(
    orders.filter(({ decision }) => decision?.action === 'archive').map(({ order }) => order.issue_ref + order.run_id),
  );
  for (const { issue_ref: issueRef, trigger } of outbox) {
    if (archived.has(issueRef + trigger.replace('workrun:', ''))) violations.push(`${trigger} of ${issueRef} is stale`);
  }
  for (const race of new Set(
    orders.flatMap(({ order, group }) => (group === undefined ? [] : [order.issue_ref + group])),
  )) {
    const racing = orders.filter(({ order, group }) => order.issue_ref + group === race);
    const advanced = racing.filter(({ decision }) => decision?.action === 'advance').length;
    if (advanced > 1) violations.push(`${advanced} results of the race ${race} advanced`);
    if (advanced === 1 && racing.some(({ settled_at }) => settled_at === null)) {
      violations.push(`the race ${race} was decided too early`);
    }
  }
  const decided = orders.filter(({ decision }) => decision !== null).length;
  const byRules = executions.filter(({ who }) => who === null).length;
  if (decided !== byRules) violations.push(`${decided} orders are decided and ${byRules} executions recorded`);
  return violations;
}
