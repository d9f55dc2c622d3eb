import type { StatisticsView } from '../../../src/server/api/index.js';
import type { Budget, WorkerRecord, ScheduleTick, ScheduleView } from '../../../src/store/records/index.js';
import { sumCosts, type Cost, formatWait, Timestamp, SafeText } from '../../ui/text.js';
import { t } from './texts.js';
import { getServerTime } from '../../data/client.js';
import { workers } from '../../data/waiting.js';
import { Badge, labelState, type Tone } from '../../ui/parts.js';
import { RunLink } from '../../ui/facts.js';
import '../system/system.css';

/** The cost of today, the last bucket, and the median of the days before, null if nothing was used. Days are those of UTC. */
export function summarizeCost(buckets: StatisticsView['buckets']): Readonly<{ today: Cost; usual: Cost | null }> {
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

/** A budget's use in percent, of its tokens or its cost, whichever is nearer to the limit; 100 only once it is reached. */
export function computePercent({ tokens, cost }: Pick<Budget, 'tokens' | 'cost'>): number {
  const fractions = [tokens, cost].map((amount) =>
    amount === null ? 0 : amount.limit === 0 ? 1 : amount.used / amount.limit,
  );
  return Math.floor(Math.max(...fractions) * 100);
}

/** Names a worker; two on one host have different names. */
export function nameWorker({ host, id }: Pick<WorkerRecord, 'host' | 'id'>): string {
  return `${host} · ${id.slice(-6)}`;
}

/** The first runs of a worker that died, and what happens to them next. */
export function Fate({ worker, limit = Infinity }: Readonly<{ worker: WorkerRecord; limit?: number }>) {
  return (
    <>
      {worker.runs.length === 0 ? null : (
        <>
          {t.holds}{' '}
          {worker.runs.slice(0, limit).map((run, index) => (
            <span key={run}>
              {index === 0 ? '' : ', '}
              <RunLink id={run} />
            </span>
          ))}
          {t.andMore(Math.max(0, worker.runs.length - limit))}
        </>
      )}
      {describeFate(worker, workers.value ?? [])}
    </>
  );
}

export function describeFate(dead: WorkerRecord, all: readonly WorkerRecord[]): string {
  if (dead.runs.length === 0) return t.itHoldsNoRunsAny;
  const alive = all.filter(({ state }) => state === 'alive');
  if (alive.length === 0) return t.nothingHappensToThemUntil;
  if (alive.some(({ host }) => host === dead.host)) return t.aWorkerOnThisHost;
  return t.anotherWorkerEndsThemOnce(dead.host);
}

const TICK_TONES: Readonly<Record<ScheduleTick['action'], Tone>> = {
  submitted: 'good',
  repeated: 'plain',
  skipped: 'plain',
  queued: 'plain',
  failed: 'bad',
};

export function LastTick({ tick }: { readonly tick: ScheduleTick | null }) {
  if (tick === null) return <span class="dim">{t.notRunYet}</span>;
  return (
    <span>
      <Badge tone={TICK_TONES[tick.action]}>{labelState(tick.action)}</Badge> <Timestamp at={tick.at} />{' '}
      <SafeText as="span" class="dim" text={tick.why} limit={200} />
    </span>
  );
}

export function NextTick({ schedule: { next_at, paused } }: { readonly schedule: ScheduleView }) {
  if (paused !== null) return <SafeText text={t.pausedBy(paused.who, paused.why)} limit={200} />;
  if (next_at === null) return <span class="dim">{t.neverDue}</span>;
  return (
    <span>
      <Timestamp at={next_at} /> <span class="dim">{t.dueIn(formatWait(Date.parse(next_at) - getServerTime()))}</span>
    </span>
  );
}

const TITLES: Readonly<Record<Budget['scope'], string>> = { day: t.today, issue: t.issue, caller: t.token };

/** Names a budget: `Today`, `Issue acme/shop#7`; one that nothing has used yet stands for all: `Each issue`. */
export function nameBudget({ scope, name }: Pick<Budget, 'scope' | 'name'>): string {
  if (scope === 'issue' && name === '') return t.eachIssue;
  if (scope === 'caller' && name === '*') return t.eachOtherToken;
  return name === '' ? TITLES[scope] : `${TITLES[scope]} ${name}`;
}

/** A bar that shows the used fraction. It is hidden from screen readers, because the numbers are next to it. */
export function Meter({ fraction }: Readonly<{ fraction: number }>) {
  return (
    <span class="meter" aria-hidden="true">
      <span style={{ width: `${Math.min(1, Math.max(0, fraction)) * 100}%` }} />
    </span>
  );
}
