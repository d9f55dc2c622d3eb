import type { StatisticsView } from '../../../src/server/api/index.js';
import type { Budget, WorkerRecord } from '../../../src/store/records/index.js';
import { sumCosts, type Cost } from '../../ui/format.js';
import { t } from './texts.js';

/** The cost of today, and the usual cost of a day: the median of the days before. Days begin at 00:00 UTC. */
export interface DailyCost {
  readonly today: Cost;
  /** Null if nothing was used on the days before. */
  readonly usual: Cost | null;
}

/** Compares the last bucket, today, with the days before. */
export function summarizeCost(buckets: StatisticsView['buckets']): DailyCost {
  const used = buckets
    .slice(0, -1)
    .filter(({ usage }) => usage.length > 0)
    .map(({ usage }) => sumCosts(usage))
    .toSorted((one, other) => one.value - other.value);
  const middle = used[Math.floor(used.length / 2)];
  return {
    today: sumCosts(buckets.at(-1)?.usage ?? []),
    usual: middle === undefined ? null : { ...middle, isComplete: used.every((day) => day.isComplete) },
  };
}

/** A budget's use in percent: of its tokens or its cost, whichever is nearer to the limit. */
export function computePercent({ tokens, cost }: Pick<Budget, 'tokens' | 'cost'>): number {
  const fractions = [tokens, cost].map((amount) =>
    amount === null ? 0 : amount.limit === 0 ? 1 : amount.used / amount.limit,
  );
  return Math.round(Math.max(...fractions) * 100);
}

/** Names a worker; two on one host have different names. */
export function nameWorker({ host, id }: Pick<WorkerRecord, 'host' | 'id'>): string {
  return `${host} · ${id.slice(-6)}`;
}

/** Says what happens next to the runs of a worker that died. */
export function describeFate(dead: WorkerRecord, all: readonly WorkerRecord[]): string {
  if (dead.runs.length === 0) return t.itHoldsNoRunsAny;
  const alive = all.filter(({ state }) => state === 'alive');
  if (alive.length === 0) return t.nothingHappensToThemUntil;
  if (alive.some(({ host }) => host === dead.host)) return t.aWorkerOnThisHost;
  return t.anotherWorkerEndsThemOnce(dead.host);
}
