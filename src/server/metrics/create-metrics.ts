import { type Emitted, type EventPack, driftSummarySchema, type DriftSummary } from '../../events/index.js';
import { omitUndefined, silentLogger, type Logger } from '../../base/index.js';
import { workerState, type RunRecord, type ExecutionRecord } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import type { ServerMeter } from '../server-context.js';
import type { Tracing } from '../tracing/index.js';
import { createMetricRegistry, type Gauge, type MetricRegistry } from './metric-registry.js';
import { parseJson } from '../../base/files/index.js';
import { openRun, readEnd, translateRunFolder } from '../../runs/run-folder/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';

interface MetricsOptions {
  readonly store: Store;
  /** The data folder, which contains the run folders whose drift is counted. */
  readonly data: string;
  readonly clock?: () => number;
  readonly logger?: Logger;
  readonly tracing?: Pick<Tracing, 'recordRequest'> | undefined;
  /** A warning is logged if an attempt has at least this many unknown types and fields; 10 by default. */
  readonly driftThreshold?: number | undefined;
}

export interface Metrics extends ServerMeter {
  /** Wraps a log to measure event delay. */
  measureLag<Log extends Pick<Store, 'append'>>(log: Log): Log;
  /** Reads the store periodically, even without scrapes, until the signal is aborted. */
  watch(signal: AbortSignal): void;
}

const POLL_MS = 15_000;
/** The minimum time between two counts of open work. */
const COUNT_MS = 1000;
const DRIFT_THRESHOLD = 10;
const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];
const LAG_SECONDS = [0.01, 0.05, 0.25, 1, 5];

/**
 * Counts this server's requests, and the runs and executions of all hosts since it started. Each run and execution is
 * counted by only one server, so the metrics of all servers add up to the total.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { store, data, tracing, clock = () => store.now(), logger = silentLogger } = options;
  const { driftThreshold = DRIFT_THRESHOLD } = options;
  const registry = createMetricRegistry();
  const parses = registry.counter('sluice_parse_total', 'Inputs parsed over HTTP, by outcome and repair level.');
  const requests = registry.counter('sluice_http_requests_total', 'Requests handled, by endpoint and status.');
  const seconds = registry.histogram('sluice_http_request_seconds', 'Request duration.', REQUEST_SECONDS);
  const lag = registry.histogram(
    'sluice_event_lag_seconds',
    'Time from an event until it can be read, for events written by this process.',
    LAG_SECONDS,
  );
  const runs = createRunMetrics(registry, { data, logger, driftThreshold });
  const orders = createOrderMetrics(registry);

  const from = clock();
  const claim = async (ids: readonly string[]) => store.claimForMetrics({ ids, now: clock() });
  const countNewRuns = createTail({
    from,
    list: async (since, page) => store.listEndedRuns({ since, ...page }),
    toTailEntry: ({ id, ended_at }) => ({ id, at: Date.parse(ended_at ?? '') }),
    claim,
    report: async (run) => runs.count(run),
  });
  const countNewExecutions = createTail({
    from,
    list: async (since, page) => store.listExecutions({ since: new Date(since).toISOString(), ...page }),
    toTailEntry: ({ id, at }) => ({ id, at: Date.parse(at) }),
    claim,
    report: (execution) => orders.count(execution),
  });

  const countNew = async () => Promise.all([countNewRuns(), countNewExecutions()]);

  /** The last count of open work, shared by all scrapers. */
  let counted: { readonly at: number; readonly gauges: Promise<readonly Gauge[]> } | undefined;
  async function countOpen(): Promise<readonly Gauge[]> {
    const now = clock();
    if (counted === undefined || now - counted.at >= COUNT_MS || now < counted.at) {
      counted = { at: now, gauges: measureOpenWork(store, now) };
      counted.gauges.catch(() => (counted = undefined));
    }
    return counted.gauges;
  }

  return {
    countParse: (result) => parses.add({ outcome: result.status, repair_level: result.repairLevel, code: result.code }),
    countRequest(request) {
      const { endpoint } = request;
      requests.add({ endpoint, status: String(request.status) });
      seconds.observe({ endpoint }, request.ms / 1000);
      tracing?.recordRequest(request, clock());
    },
    async render() {
      await countNew();
      return registry.render(await countOpen());
    },
    measureLag: (log) => ({
      ...log,
      async append(runId: string, events: readonly Emitted[], packs?: readonly EventPack[]) {
        await log.append(runId, events, packs);
        const eventTime = Date.parse(events.at(-1)?.event.ts ?? '');
        if (!Number.isNaN(eventTime)) lag.observe({}, Math.max(0, clock() - eventTime) / 1000);
      },
    }),
    watch(signal) {
      const timer = setInterval(() => {
        countNew().catch((error: unknown) => logger.warn('cannot collect metrics', { error: String(error) }));
      }, POLL_MS);
      timer.unref();
      signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
  };
}

/** Reads the store's current gauges, across all hosts. */
async function measureOpenWork(store: Store, now: number): Promise<readonly Gauge[]> {
  const [{ runs, orders, inbox, outbox }, workers, budgetWaits] = await Promise.all([
    store.countOpenWork(),
    store.listWorkers(now),
    store.countBudgetWaits(),
  ]);
  const { oldest, open, dead } = outbox;
  const age = oldest === null ? 0 : Math.max(0, now - oldest) / 1000;
  // A state without workers has the value zero, so an alert can refer to it.
  const workersByState = Object.fromEntries(
    workerState.enum.map((state) => [state, workers.filter((worker) => worker.state === state).length]),
  );
  const gauges: readonly (readonly [name: string, help: string, values: Gauge['values']])[] = [
    ['sluice_runs', 'Runs that have not ended, by state.', toValues(runs)],
    ['sluice_orders', 'Orders that are not settled, by state.', toValues(orders)],
    ['sluice_inbox_items', 'Open inbox items.', [[{}, inbox]]],
    ['sluice_outbox_messages', 'Comments not delivered, by state.', toValues({ open, dead })],
    ['sluice_outbox_age_seconds', 'Age of the oldest undelivered comment.', [[{}, age]]],
    ['sluice_workers', 'Workers seen within the last day, by state.', toValues(workersByState)],
    ['sluice_runs_waiting_for_budget', 'Queued runs that are waiting for a budget.', [[{}, budgetWaits]]],
  ];
  return gauges.map(([name, help, values]) => ({ name, help, values }));
}

function toValues(counts: Readonly<Record<string, number>>): Gauge['values'] {
  return Object.entries(counts).map(([state, count]) => [{ state }, count] as const);
}

interface TailOptions<T> {
  /** Start time, in milliseconds since 1970. */
  readonly from: number;
  /** Lists a page of entries since a time, with the cursor of the next page. */
  readonly list: (
    since: number,
    page: { readonly limit: number; readonly cursor?: string },
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>;
  /** `at` is in milliseconds since 1970. */
  readonly toTailEntry: (item: T) => { readonly id: string; readonly at: number };
  /** Claims the entries that this process reports; another process has reported the others. */
  readonly claim: (ids: readonly string[]) => Promise<readonly string[]>;
  readonly report: (item: T) => void | Promise<void>;
}

/** How far back entries are listed again: clocks of other hosts can be slow, entries are written after the event. */
const LOOK_BACK_MS = 10_000;
/** Pages in one pass. The next pass continues an oldest-first list; of a newest-first list, older entries are skipped. */
const MAX_PAGES = 50;
const PAGE_ENTRIES = 500;

/** Reports each new list entry that this process can claim, once, no matter which host wrote it. */
export function createTail<T>({ from, list, toTailEntry, claim, report }: TailOptions<T>): () => Promise<void> {
  let latest = from;
  /** Reported entries that can be listed again. */
  let reported = new Map<string, number>();

  async function reportNew(): Promise<void> {
    const since = Math.max(from, latest - LOOK_BACK_MS);
    // Applied only at the end, so if listing fails, the next pass starts from the same time.
    let newest = latest;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { items, next_cursor } = await list(since, { limit: PAGE_ENTRIES, ...omitUndefined({ cursor }) });
      const unreported = items.filter((item) => !reported.has(toTailEntry(item).id));
      const claimed = new Set(await claim(unreported.map((item) => toTailEntry(item).id)));
      for (const item of unreported) {
        const { id, at } = toTailEntry(item);
        newest = Math.max(newest, at);
        reported.set(id, at);
        if (claimed.has(id)) await report(item);
      }
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    latest = newest;
    reported = new Map([...reported].filter(([, at]) => at >= latest - LOOK_BACK_MS));
  }

  // One pass at a time: concurrent passes would report entries twice.
  let lastPass: Promise<void> = Promise.resolve();
  return async () => {
    lastPass = lastPass.then(reportNew, reportNew);
    return lastPass;
  };
}

/** Counts ended runs: outcome, usage and drift. */
function createRunMetrics(
  metrics: MetricRegistry,
  { data, logger, driftThreshold }: { data: string; logger: Logger; driftThreshold: number },
) {
  const endedRuns = metrics.counter('sluice_runs_ended_total', 'Runs that ended, by engine, status and repair level.');
  const failures = metrics.counter('sluice_run_failures_total', 'Runs that failed or were canceled, by cause.');
  const tokens = metrics.counter('sluice_usage_tokens_total', 'Tokens used by runs, by engine and kind.');
  const cost = metrics.counter(
    'sluice_usage_cost_dollars_total',
    'Cost of runs in US dollars, as reported by engines.',
  );
  const drift = metrics.counter(
    'sluice_drift_total',
    'Unknown types and fields, by engine and version, in runs of this host.',
  );
  const alerts = metrics.counter('sluice_drift_alerts_total', 'Attempts whose drift reached the threshold.');

  async function countDrift(id: string, hasDrift: boolean): Promise<void> {
    for (const { engine, engine_version, unknown_types, unknown_fields } of await readDrift(data, id, hasDrift)) {
      const labels = { engine, engine_version: engine_version ?? 'unknown' };
      const [types, fields] = [sum(unknown_types), sum(unknown_fields)];
      if (types > 0) drift.add({ ...labels, kind: 'type' }, types);
      if (fields > 0) drift.add({ ...labels, kind: 'field' }, fields);
      if (types + fields < driftThreshold) continue;
      alerts.add(labels);
      logger.warn('engine output has unknown types or fields', {
        run_id: id,
        ...labels,
        unknown_types: Object.keys(unknown_types).slice(0, 10),
        unknown_fields: Object.keys(unknown_fields).slice(0, 10),
        next: `sluice export ${id} DIR`,
      });
    }
  }

  return {
    async count({ id, spec: { engine }, result }: RunRecord): Promise<void> {
      if (result === null) return;
      const { status, repair_level, error, usage, cached_from } = result;
      endedRuns.add({ engine, status, repair_level });
      if (error !== undefined) failures.add({ engine, category: error.category, code: error.code });
      // A cached result's usage and drift belong to the run that produced it.
      if (cached_from !== undefined) return;
      if (usage !== undefined) {
        tokens.add({ engine, kind: 'input' }, usage.input_tokens);
        tokens.add({ engine, kind: 'output' }, usage.output_tokens);
        tokens.add({ engine, kind: 'cached_input' }, usage.cached_input_tokens ?? 0);
        cost.add({ engine }, usage.cost ?? 0);
      }
      await countDrift(id, result.drift !== undefined);
    },
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Counts decisions, and the reasons why a human had to decide. */
function createOrderMetrics(metrics: MetricRegistry) {
  const decisions = metrics.counter('sluice_decisions_total', 'Decisions, by action, result code and who decided.');
  const causes = metrics.counter('sluice_needs_human_total', 'Results that needed a human decision, by cause.');
  const stale = metrics.counter('sluice_stale_results_total', 'Archived results of runs that were not active.');
  const readings = metrics.counter('sluice_readings_total', 'Results read, by wrapper type, encoding and status.');
  const comments = metrics.counter(
    'sluice_comments_total',
    'Comments written by the rules, by whether the result was complete.',
  );
  return {
    count(execution: ExecutionRecord): void {
      const { decision, result_code, who, problems, parse_status, result_encoding, worker_type } = execution;
      decisions.add({ action: decision, result_code, by: who === null ? 'rules' : 'person' });
      // A human decision is about a result that was already counted.
      if (who !== null) return;
      readings.add({ worker_type, encoding: result_encoding, status: parse_status });
      if (decision === 'archive') return stale.add({ worker_type });
      comments.add({ complete: String(parse_status === 'parsed') });
      if (decision === 'needs-human') causes.add({ cause: problems[0]?.code ?? result_code });
    },
  };
}

const schema = fromRecordSchema<DriftSummary>(driftSummarySchema);

/** The number of bytes to read from the end of the log. An attempt's summary is in its last lines. */
const MAX_BYTES = 256 * 1024;

/** Reads a run's drift by attempt; empty if its folder is not on this host. */
async function readDrift(data: string, runId: string, hasDrift: boolean): Promise<readonly DriftSummary[]> {
  try {
    const folder = await openRun(data, runId);
    const end = await readEnd(async () => folder.openLog('diagnostics'), MAX_BYTES);
    if (end !== undefined) return Buffer.from(end.bytes).toString('utf8').split('\n').flatMap(readSummary);
    const summaries: DriftSummary[] = [];
    // A packed run has no log: its drift is counted from its recorded bytes.
    if (hasDrift) for await (const _ of translateRunFolder(folder, { onDrift: (summary) => summaries.push(summary) }));
    return summaries;
  } catch {
    // The folder is deleted, damaged or on another host: its drift is not counted.
    return [];
  }
}

function readSummary(line: string): DriftSummary[] {
  if (!line.includes('"summary":"drift"')) return [];
  const result = schema['~standard'].validate(parseJson(line));
  return result instanceof Promise || result.issues !== undefined ? [] : [result.value];
}
