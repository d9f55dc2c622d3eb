import { createUlidGenerator, getErrorMessage, omitUndefined, type Logger } from '../../base/index.js';
import type { SessionKeeper } from '../../runs/archive/index.js';
import { createFailedResult, DEFAULT_LIMITS } from '../../runs/index.js';
import { describePlacementFailure, PlacementError, type PlacementFailure } from '../../runs/sandbox/index.js';
import type { PlacedRecord, Store } from '../../store/index.js';
import type { RunRecord, RunResult } from '../../store/records/index.js';
import type { Lead } from '../lead/create-lead.js';
import type { PlacedRun, Placement, PlacementHandle, PlacementReport } from '../placement/index.js';
import { pickPlacement } from '../wrappers/wrappers.js';
import { requestBudget } from './budgets.js';
import { EXIT_UNKNOWN } from './order/finish-order.js';
import { endLost } from './reconcile.js';
import { CANCELED_BEFORE_START } from './run-to-end.js';
import type { BudgetSettings } from './worker-options.js';

/** Options for `startPlacing`. */
export interface PlacingOptions {
  readonly store: Store;
  readonly lead: Lead;
  /** The data folder, with the files that workers have sent. */
  readonly data: string;
  readonly placements: readonly Placement[];
  /** The address of this server, as places reach it. */
  readonly server: string;
  /** Creates a token for one run, and the worker id of the claim that it belongs to. */
  readonly createRunToken: () => { readonly token: string; readonly workerId: string };
  readonly leaseMs?: number | undefined;
  /** Milliseconds since 1970; the store's clock by default. */
  readonly clock?: () => number;
  /** How often it looks for runs to place. */
  readonly everyMs?: number;
  readonly concurrencyByType?: Readonly<Record<string, number>> | undefined;
  readonly workerLostRetries?: number | undefined;
  readonly budgets?: BudgetSettings | undefined;
  /** The sessions of waiting runs, which are placed again with the answer; none by default. */
  readonly sessions?: Pick<SessionKeeper, 'has'> | undefined;
  readonly logger?: Logger;
}

/** How often runs to place are looked for. */
export const EVERY_MS = 1000;
/** The places that are started, or asked for their state, concurrently. */
const MAX_CONCURRENT = 16;
/** How often a run that never starts is placed before it fails. */
const MAX_TRIES = 5;
const MAX_BACKOFF_MS = 60_000;
/** How long a place may report why it cannot start, such as a missing image, before the run fails. */
const MAX_FAILING_MS = 60_000;
/** A place that does not answer within this time is in an unknown state. */
const ANSWER_MS = 20_000;
/** How long the worker in a place may be silent: it fails itself before that. */
const MAX_SILENCE_MS = 15 * 60_000;
/** The time for what is left in a place after its run has ended. */
const GRACE_S = 30;

/** The memory that this process keeps of a place between two sweeps. */
interface Watched {
  report: PlacementReport;
  askedAt: number;
  /** Since when its lease has been found expired, or it has reported why it cannot start. */
  silentSince?: number | undefined;
  failingSince?: number | undefined;
}

type PlacerOptions = PlacingOptions & {
  readonly leaseMs: number;
  readonly logger: Logger;
  /** Whether a queued run is placed now; all are by default. */
  readonly isDue?: (run: RunRecord) => boolean;
};

/** Creates the duty for one placement. */
export function createPlacer(placement: Placement, options: PlacerOptions) {
  const { store, lead, leaseMs, logger, server, concurrencyByType: concurrency, createRunToken } = options;
  const { clock = () => store.now() } = options;
  const { name } = placement;
  const newId = createUlidGenerator(clock);
  /** Runs whose place this process is starting. */
  const starting = new Map<string, Promise<void>>();
  const watched = new Map<string, Watched>();
  const stopping = new AbortController();
  const stopWatching = placement.watch?.(({ run }) => {
    const known = watched.get(run);
    if (known !== undefined) known.askedAt = Number.NEGATIVE_INFINITY;
  });
  const warn = (what: string, run: string) => (error: unknown) =>
    logger.warn(what, { run_id: run, placement: name, error: getErrorMessage(error) });

  async function sweep(): Promise<void> {
    const seen = new Set<string>();
    for (let last: string | undefined; ;) {
      const page = await store.listPlaced(last);
      if (page.length === 0) break;
      last = page.at(-1)?.id;
      const own = page.filter((placed) => placed.placement === name);
      for (const { id } of own) seen.add(id);
      await forEachConcurrently(own, async (placed) =>
        check(placed).catch(warn('cannot check the place of a run, will retry', placed.id)),
      );
    }
    for (const id of watched.keys()) if (!seen.has(id)) watched.delete(id);
    const free = MAX_CONCURRENT - starting.size;
    if (free <= 0 || stopping.signal.aborted) return;
    for (const run of await store.listToPlace(clock(), free)) {
      const { id, spec } = run;
      if (spec.placement !== name || starting.has(id) || options.isDue?.(run) === false) continue;
      const task = start(id)
        .catch(warn('cannot place a run, will retry', id))
        .finally(() => starting.delete(id));
      starting.set(id, task);
    }
  }

  /** Claims a run and starts its place. Its claim is renewed meanwhile. */
  async function start(id: string): Promise<void> {
    const { token, workerId } = createRunToken();
    const claim = { id, workerId, placement: name, leaseMs, now: clock(), ...omitUndefined({ concurrency }) };
    const run = await store.claimToPlace(claim);
    if (run === undefined) return;
    if (run.cancel_requested) return endCanceled(run, workerId);
    const budget = await requestBudget({ ...options, clock }, run);
    // A run that is resumed has its share.
    if (budget.status === 'wait' && run.started_at === null)
      return void (await store.requeuePlaced({ id, workerId, retryAt: budget.retryAt }));
    if (budget.status === 'refused' && run.started_at === null)
      return end(run, workerId, { startError: budget.message }, createFailedResult('RUN_NOT_STARTED', budget.message));
    const renewal = setInterval(() => void renew(id, workerId), leaseMs / 3);
    try {
      const handle = await placement.place(describeRun(run, { server, token }), stopping.signal);
      await store.setPlace({ id, workerId, name: handle.name, uid: handle.uid ?? null });
      logger.info('run placed', { run_id: id, placement: name, place: handle.name });
    } catch (error) {
      if (error instanceof PlacementError) return await endUnplaced(run, workerId, error);
      warn('cannot place a run, will retry', id)(error);
      // It might have been started nevertheless; then that place is removed before the next try.
      const left = (await listPlaces()).get(id);
      if (left !== undefined) await store.setPlace({ id, workerId, name: left.name, uid: left.uid ?? null });
      await store.requeuePlaced({ id, workerId, retryAt: clock() + leaseMs / 3, isResumed: true });
    } finally {
      clearInterval(renewal);
    }
  }

  async function renew(id: string, workerId: string): Promise<void> {
    await store
      .renewRun({ id, workerId, leaseMs, now: clock() })
      .catch(warn('cannot renew the claim of a run, will retry', id));
  }

  async function listPlaces(): Promise<ReadonlyMap<string, PlacementHandle>> {
    return new Map((await placement.list()).map((handle) => [handle.run, handle]));
  }

  /** Does what the state of a run and of its place require. */
  async function check(placed: PlacedRecord): Promise<void> {
    const { id, run } = placed;
    if (starting.has(id) || stopping.signal.aborted) return;
    const handle = readHandle(placed);
    if (run === undefined || run.state === 'ended') {
      if (handle !== undefined) await placement.stop(handle, GRACE_S);
      await store.forgetPlaced(id);
      return;
    }
    if (isParked(run)) return handle === undefined ? checkParked({ ...placed, run }) : clear(id, handle);
    if (run.state === 'queued') return handle === undefined ? undefined : clear(id, handle);
    if (handle === undefined) return recover(run);
    const known = watched.get(id);
    const isDue = known === undefined || clock() - known.askedAt >= leaseMs / 3;
    const report = isDue ? await ask(handle) : known.report;
    const next: Watched = { ...known, report, askedAt: isDue ? clock() : known.askedAt };
    next.silentSince = isExpired(run) ? (known?.silentSince ?? clock()) : undefined;
    next.failingSince = report.cause === undefined ? undefined : (known?.failingSince ?? clock());
    if (next.failingSince !== undefined && known?.failingSince === undefined)
      logger.warn('the place of a run has a problem', { run_id: id, placement: name, ...report });
    watched.set(id, next);
    await react({ ...placed, run }, handle, next);
  }

  async function react(
    placed: PlacedRecord & { readonly run: RunRecord },
    handle: PlacementHandle,
    { report, silentSince, failingSince }: Watched,
  ): Promise<void> {
    const { id, run } = placed;
    const workerId = run.owner?.worker_id ?? '';
    const isLongSilent = silentSince !== undefined && clock() - silentSince >= leaseMs;
    switch (report.state) {
      case 'gone':
        return lose(placed, report);
      case 'unknown':
        // Right after an outage, a worker needs time to renew its claim.
        return isLongSilent ? lose(placed, report) : undefined;
      case 'pending':
      case 'alive': {
        if (!isUntaken(workerId)) {
          if (silentSince === undefined) return;
          // A place that starts again after its claim was taken is useless: the second claim is refused.
          const isTooLong = clock() - silentSince >= MAX_SILENCE_MS;
          return report.state === 'pending' || isTooLong ? placement.stop(handle, GRACE_S) : undefined;
        }
        if (run.cancel_requested) return cancel(run, handle);
        const isFailing = failingSince !== undefined && clock() - failingSince >= MAX_FAILING_MS;
        const { cause = 'unknown', reason = 'it cannot start' } = report;
        if (!isFailing || cause === 'quota') {
          const leftMs = (run.lease_until ?? 0) - clock();
          return leftMs > (leaseMs * 2) / 3 ? undefined : renew(id, workerId);
        }
        const fence = await takeBack(run);
        if (fence === undefined) return;
        await placement.stop(handle, 0);
        return endUnplaced(run, fence, { cause, reason });
      }
    }
  }

  /** Places a run again that waits for an answer without a place, once it has one. */
  async function checkParked({ id, run, isCalled }: PlacedRecord & { readonly run: RunRecord }): Promise<void> {
    const workerId = run.owner?.worker_id ?? '';
    if (run.cancel_requested) return endCanceled(run, workerId);
    if (isCalled) return void (await store.requeuePlaced({ id, workerId, retryAt: clock(), isResumed: true }));
    if (!isExpired(run)) return;
    const runResult = createFailedResult('RUN_TIMED_OUT', 'No answer within limits.wait_s.');
    await end(run, workerId, { runResult }, runResult);
  }

  /** Ends the claim of a run whose worker has saved its session and left. */
  async function park({ id, owner, spec }: RunRecord): Promise<void> {
    const waitMs = (spec.limits?.wait_s ?? DEFAULT_LIMITS.wait_s) * 1000;
    const parked = { id, from: owner?.worker_id ?? '', to: `${PARKED}${newId()}`, leaseMs: waitMs, now: clock() };
    if (await store.fenceRun(parked)) logger.info('a waiting run has left its place', { run_id: id, placement: name });
  }

  /** A claim whose server was lost before it recorded the place. */
  async function recover(run: RunRecord): Promise<void> {
    const { id, owner } = run;
    if (owner === null || !isExpired(run)) return;
    const found = (await listPlaces()).get(id);
    const workerId = owner.worker_id;
    if (found !== undefined && !workerId.startsWith(FENCE)) {
      await store.setPlace({ id, workerId, name: found.name, uid: found.uid ?? null });
      return;
    }
    const fence = await takeBack(run);
    if (fence === undefined) return;
    if (run.started_at === null || isUntaken(workerId))
      await store.requeuePlaced({ id, workerId: fence, retryAt: clock(), isResumed: true });
    else await endLost({ ...options, clock }, withOwner(run, fence), { loss: 'unknown' });
  }

  /** Removes what an earlier try has left, so that the next one gets a new place. */
  async function clear(id: string, handle: PlacementHandle): Promise<void> {
    await placement.stop(handle, 0);
    const { state } = await ask(handle);
    if (state === 'gone' || state === 'unknown') await store.forgetPlace(id);
  }

  async function ask(handle: PlacementHandle): Promise<PlacementReport> {
    let timer: NodeJS.Timeout | undefined;
    const noAnswer = new Promise<PlacementReport>((resolve) => {
      timer = setTimeout(() => resolve({ state: 'unknown', reason: 'the placement does not answer' }), ANSWER_MS);
    });
    const asked = placement
      .state(handle)
      .catch((error: unknown): PlacementReport => ({ state: 'unknown', reason: getErrorMessage(error) }));
    return Promise.race([asked, noAnswer]).finally(() => clearTimeout(timer));
  }

  /**
   * Ends the claim, and with it the token: from now on, whatever is left of the place can publish and settle nothing.
   * Returns the worker id that holds the run instead; undefined if the claim has moved.
   */
  async function takeBack({ id, owner }: RunRecord): Promise<string | undefined> {
    const fence = `${FENCE}${newId()}`;
    const isFenced = await store.fenceRun({ id, from: owner?.worker_id ?? '', to: fence, leaseMs, now: clock() });
    return isFenced ? fence : undefined;
  }

  /** Ends what a lost place has left: a run that never started is placed again, any other is lost. */
  async function lose({ id, run, tries }: PlacedRecord & { readonly run: RunRecord }, report: PlacementReport) {
    // Another server took it back, and might be about to end it.
    const workerId = run.owner?.worker_id ?? '';
    if (workerId.startsWith(FENCE) && !isExpired(run)) return;
    if (run.state === 'waiting' && (await options.sessions?.has(id)) === true) return park(run);
    const fence = await takeBack(run);
    if (fence === undefined) return;
    watched.delete(id);
    const { cause, reason = 'its place is gone' } = report;
    logger.warn('the place of a run is lost', { run_id: id, placement: name, state: report.state, cause, reason });
    if (run.started_at !== null && !isUntaken(workerId)) {
      const loss = report.state === 'gone' ? 'attested' : 'unknown';
      const result = cause === undefined ? {} : { result: createPlacementResult({ cause, reason }) };
      return endLost({ ...options, clock }, withOwner(run, fence), { loss, ...result });
    }
    if (cause === 'image' || tries >= MAX_TRIES)
      return endUnplaced(run, fence, { cause: cause ?? 'unknown', reason: `${reason} (tried ${tries} times)` });
    const retryAt = clock() + Math.min(MAX_BACKOFF_MS, EVERY_MS * 2 ** (tries - 1));
    await store.requeuePlaced({ id, workerId: fence, retryAt, isResumed: true });
  }

  async function cancel(run: RunRecord, handle: PlacementHandle): Promise<void> {
    const fence = await takeBack(run);
    if (fence === undefined) return;
    await placement.stop(handle, 0);
    await endCanceled(run, fence);
  }

  async function endCanceled(run: RunRecord, workerId: string): Promise<void> {
    await end(run, workerId, { canceled: true }, CANCELED_BEFORE_START);
  }

  /** Ends a run that has no place, so nothing of it has started. */
  async function endUnplaced(run: RunRecord, workerId: string, failure: PlacementFailure): Promise<void> {
    const runResult = createPlacementResult(failure);
    await end(run, workerId, { startError: describePlacementFailure(failure), runResult }, runResult);
  }

  async function end(
    { id, order }: RunRecord,
    workerId: string,
    orderEnd: Partial<Parameters<Lead['settle']>[0]>,
    result: RunResult,
  ): Promise<void> {
    if (order === null) await store.endRun({ id, workerId, result, now: clock() });
    else await lead.settle({ issueRef: order.issue_ref, runId: order.run_id, ...EXIT_UNKNOWN, ...orderEnd });
  }

  function isExpired({ lease_until: leaseUntil }: RunRecord): boolean {
    return (leaseUntil ?? 0) <= clock();
  }

  return {
    name,
    sweep,
    /** Starts nothing more. */
    abort() {
      stopping.abort();
      stopWatching?.();
    },
    /** Waits for the places that are being started. */
    settled: async () => void (await Promise.all(starting.values())),
    async close() {
      await Promise.all(starting.values());
      await placement.close?.();
    },
  };
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const workers = Array.from({ length: MAX_CONCURRENT }, async () => {
    for (const item of rest) await work(item);
  });
  await Promise.all(workers);
}

/** How the worker ids of claims start that this duty has taken back. */
const FENCE = 'placing:';

/** How the worker ids of claims start whose runs wait for an answer without a place. */
const PARKED = 'parked:';

/** Whether a run waits for an answer without a place. */
function isParked({ state, owner }: RunRecord): boolean {
  return state === 'waiting' && owner?.worker_id.startsWith(PARKED) === true;
}

/** Whether the worker in the place has not taken the claim over yet. */
function isUntaken(workerId: string): boolean {
  return workerId.startsWith('run:') && !workerId.includes('/');
}

function withOwner(run: RunRecord, workerId: string): RunRecord {
  return run.owner === null ? run : { ...run, owner: { ...run.owner, worker_id: workerId } };
}

function readHandle({ id, name, uid }: PlacedRecord): PlacementHandle | undefined {
  return name === null ? undefined : { run: id, name, ...(uid === null ? {} : { uid }) };
}

/** Describes a run as a placement needs it. */
function describeRun(
  { id, order, spec }: RunRecord,
  { server, token }: Pick<PlacedRun, 'server' | 'token'>,
): PlacedRun {
  return { id, server, token, ...pickPlacement(spec), ...omitUndefined({ order: order?.run_id, labels: spec.labels }) };
}

/** Creates the result of a run whose place failed. */
function createPlacementResult(failure: PlacementFailure): RunResult {
  const result = createFailedResult('PLACEMENT_FAILED', describePlacementFailure(failure));
  return result.error === undefined ? result : { ...result, error: { ...result.error, cause: failure.cause } };
}
