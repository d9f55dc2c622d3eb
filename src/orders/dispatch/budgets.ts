import { getErrorMessage } from '../../base/index.js';
import type { Budget, BudgetReport, RunRecord, RunResult } from '../../store/records/index.js';
import type { RunBudget } from '../../runs/index.js';
import { describeBudget, type BudgetLimit, type Budgets } from '../../store/index.js';
import { retryStore } from './retry-store.js';
import type { BudgetAmount, BudgetedRun, BudgetOutcome, BudgetSettings, WorkContext } from './worker-options.js';

const DAY_MS = 86_400_000;

/** Lists the budgets that a run counts against. */
export function listLimits(
  { day, issue, callers = {} }: BudgetSettings,
  { caller, issueRef }: { readonly caller: string | null; readonly issueRef: string | null },
  now: number,
): readonly BudgetLimit[] {
  const today = now - (now % DAY_MS);
  const callerAmount = caller === null ? undefined : (getAmount(callers, caller) ?? getAmount(callers, '*'));
  return [
    ...toLimit(day, { scope: 'day', name: '', since: today }),
    ...(issueRef === null ? [] : toLimit(issue, { scope: 'issue', name: issueRef, since: 0 })),
    ...toLimit(callerAmount, { scope: 'caller', name: caller ?? '', since: today }),
  ];
}

function getAmount(callers: Readonly<Record<string, BudgetAmount>>, name: string): BudgetAmount | undefined {
  return Object.hasOwn(callers, name) ? callers[name] : undefined;
}

function toLimit(
  amount: BudgetAmount | undefined,
  limit: Pick<BudgetLimit, 'scope' | 'name' | 'since'>,
): readonly BudgetLimit[] {
  if (amount?.tokens === undefined && amount?.cost === undefined) return [];
  return [{ ...limit, tokens: amount.tokens ?? null, cost: amount.cost ?? null }];
}

/** A run waits this long before it tries again, so other runs can release their share. */
const RETRY_MS = 60_000;
/**
 * At most this many runs per budget try again within that time. If all waiting runs tried every minute, ten thousand of
 * them would keep every worker busy, and runs behind them in the queue would never start.
 */
const RETRIES_PER_PERIOD = 100;

/** The store that counts usage, and the configured budgets. */
interface BudgetContext extends Pick<WorkContext, 'clock' | 'logger'> {
  readonly store: Budgets;
  readonly budgets?: BudgetSettings | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Reserves a share of every budget that a run counts against, before it starts. A plain command uses no tokens and
 * needs no share. Concurrent requests never get more shares than the budgets allow.
 */
export async function requestBudget(context: BudgetContext, { id, spec, order }: BudgetedRun): Promise<BudgetOutcome> {
  const { store, budgets, clock, logger } = context;
  if (budgets === undefined || (spec.engine === 'command' && spec.format === undefined)) return { status: 'granted' };
  const request = await retryStore(async () => store.findRequest(id), context);
  const issueRef = order?.issue_ref ?? null;
  const now = clock();
  const limits = listLimits(budgets, { caller: request?.caller ?? null, issueRef }, now);
  if (limits.length === 0) return { status: 'granted' };
  const exhausted = await retryStore(async () => store.reserveBudget({ run: id, issueRef, now, limits }), context);
  if (exhausted !== undefined) {
    logger.info('budget used up', { run_id: id, budget: describeBudget(exhausted) });
    if (exhausted.scope === 'issue') return { status: 'refused', message: describeExhausted(exhausted) };
    const waitingRuns = await retryStore(async () => store.countBudgetWaits(describeBudget(exhausted)), context);
    const delayMs = RETRY_MS * (1 + Math.floor(waitingRuns / RETRIES_PER_PERIOD));
    return { status: 'wait', retryAt: Math.min(getNextDay(now), now + delayMs) };
  }
  return { status: 'granted', budget: createRunBudget(context, id, limits) };
}

/** Records a run's usage so far; returns the reason to stop it, if a budget is used up. */
export async function spendBudget(
  { store, budgets = {}, clock }: BudgetContext,
  { id, order, started_at: startedAt }: Pick<RunRecord, 'id' | 'order' | 'started_at'>,
  used: { readonly tokens: number; readonly cost: number },
): Promise<string | undefined> {
  const caller = (await store.findRequest(id))?.caller ?? null;
  // Counted against the day on which it started.
  const at = startedAt === null ? clock() : Date.parse(startedAt);
  const limits = listLimits(budgets, { caller, issueRef: order?.issue_ref ?? null }, at);
  return limits.length === 0 ? undefined : createRunBudget({ store }, id, limits).spend(used);
}

/** Returns when the next day's budgets start. */
function getNextDay(now: number): number {
  return now - (now % DAY_MS) + DAY_MS;
}

/** Creates a run's budget, which reports its usage to the store, one report at a time: the latest report counts. */
function createRunBudget(
  { store }: Pick<BudgetContext, 'store'>,
  run: string,
  limits: readonly BudgetLimit[],
): RunBudget {
  let last: Promise<unknown> = Promise.resolve();
  return {
    limitsCost: limits.some(({ cost }) => cost !== null),
    async spend({ tokens, cost }) {
      const spent = last
        .catch(() => undefined)
        .then(async () => store.spendBudget({ run, tokens, cost, limits }))
        .then((exceeded) => (exceeded === undefined ? undefined : describeExhausted(exceeded)));
      last = spent;
      return spent;
    },
  };
}

/** Records a run's final usage. A failure is only logged: it must not cost the result. */
export async function settleBudget(
  { logger }: Pick<WorkContext, 'logger'>,
  budget: RunBudget | undefined,
  used: RunResult['usage'],
): Promise<void> {
  if (budget === undefined || used === undefined) return;
  const tokens = used.total_tokens ?? used.input_tokens + used.output_tokens;
  try {
    await budget.spend({ tokens, cost: used.cost ?? 0 });
  } catch (error) {
    logger.warn("cannot record a run's usage", { error: getErrorMessage(error) });
  }
}

/** The maximum number of issues, unlisted callers and waiting runs in a report. */
const MAX_LIST_LENGTH = 10;

/**
 * Reports the usage of every budget: the day, the named callers, and the issues and other callers that used the most.
 * A budget that nothing has used yet is listed too, with an empty name (`issue`) or `*` (`caller`).
 */
export async function reportBudgets(
  store: Pick<Budgets, 'measureBudgets' | 'listBudgetUse'>,
  settings: BudgetSettings,
  now: number,
): Promise<BudgetReport> {
  const { issues, callers, waiting } = await store.listBudgetUse(MAX_LIST_LENGTH, now - (now % DAY_MS));
  const { day: _, ...others } = settings;
  const named = Object.keys(settings.callers ?? {}).filter((caller) => caller !== '*');
  const unlisted = callers.filter((caller) => !named.includes(caller));
  const allCallers = [...named, ...(unlisted.length === 0 ? ['*'] : unlisted)];
  const limits = [
    ...listLimits(settings, { caller: null, issueRef: null }, now),
    ...allCallers.flatMap((caller) => listLimits(others, { caller, issueRef: null }, now)),
    ...(issues.length === 0 ? [''] : issues).flatMap((issueRef) => listLimits(others, { caller: null, issueRef }, now)),
  ];
  const uses = await store.measureBudgets(limits);
  const items = limits.map(({ scope, name, tokens, cost }, index): Budget => {
    const used = uses[index] ?? { tokens: 0, cost: 0, heldTokens: 0, heldCost: 0 };
    return {
      scope,
      name,
      tokens: tokens === null ? null : { limit: tokens, used: used.tokens, held: used.heldTokens },
      cost: cost === null ? null : { limit: cost, used: used.cost, held: used.heldCost },
    };
  });
  const opens_at = new Date(getNextDay(now)).toISOString();
  return { items, waiting: waiting.map((each) => ({ ...each, opens_at })) };
}

/** Describes a budget that is used up. */
function describeExhausted(limit: BudgetLimit): string {
  const amounts = [
    ...(limit.tokens === null ? [] : [`${limit.tokens} tokens`]),
    ...(limit.cost === null ? [] : [`${limit.cost} dollars`]),
  ];
  const owners = {
    day: 'of the day',
    issue: `of issue "${limit.name}"`,
    caller: `of token "${limit.name}" for the day`,
  };
  const key = limit.scope === 'caller' ? 'callers' : limit.scope;
  const advice = `Raise the setting "budgets.${key}"${limit.scope === 'issue' ? '' : ', or wait for the next day (UTC)'}.`;
  return `The budget ${owners[limit.scope]} (${amounts.join(', ')}) is used up. ${advice}`;
}
