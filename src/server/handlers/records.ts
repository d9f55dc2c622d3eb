import { matchGlob, omitUndefined, startOfStep, groupBy } from '../../base/index.js';
import type { Decision, OutboxMessage } from '../../store/records/index.js';
import type { ExecutionFilter } from '../../store/ports/index.js';
import { exportExecutions, type ExportFormat } from '../export/export-executions.js';
import { readPage, readTime } from './query.js';
import type { Handlers } from '../http/request-checks.js';
import { RequestError } from '../http/problem.js';
import type { ServerContext } from '../server-context.js';
import type { ServerSettings } from '../server-settings.js';
import type { ModelPrice } from '../config/index.js';
import { streamBody, createJsonResponse } from '../http/responses.js';
import { reportBudgets } from '../../orders/dispatch/index.js';
import { createWaitingList } from '../waiting/waiting-list.js';
import type { StatisticsView, ResponseOf, ENDPOINTS } from '../api/index.js';
import {
  chooseEarlier,
  sumCounts,
  type InboxHistory,
  type InboxSlot,
  type ModelUsage,
  type RunCounts,
  type RunSlot,
} from '../../store/index.js';
import type { Caller } from '../security/tokens.js';
import { WRAPPER_ENGINES, findAgentEngine, type Wrappers } from '../../orders/index.js';
import { listLaunchers } from '../../runs/index.js';

const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};

/** Creates the handlers for the outbox, sinks, executions, workers, budgets, statistics and everything that waits. */
export function createRecordHandlers({ store, settings, guard, clock }: ServerContext) {
  const readWaitingList = createWaitingList(store);
  return {
    async listOutbox({ query }) {
      const { issue_ref: issueRef } = query;
      const state = query['state'] as OutboxMessage['state'] | undefined;
      return store.listOutbox({ ...readPage(query), ...omitUndefined({ issueRef, state }) });
    },
    async redeliverComment({ params }) {
      const redelivered = await store.redeliver({ id: params.id }, clock());
      if (redelivered > 0) return { redelivered };
      throw new RequestError(
        'COMMENT_NOT_FOUND',
        'No comment with this id has failed or is waiting for delivery. GET /v1/outbox lists all comments.',
      );
    },
    redeliverSink: async ({ body }) => ({ redelivered: await store.redeliver({ sink: body.sink }, clock()) }),
    listSinks: async () => ({ items: await store.listSinks(), next_cursor: null }),
    listWorkers: async () => ({ items: await store.listWorkers(clock()), next_cursor: null }),
    listExecutions: async ({ query }) => store.listExecutions({ ...readPage(query), ...readExecutionFilter(query) }),
    async exportExecutions({ query, context }) {
      const format = (query['format'] ?? 'csv') as ExportFormat;
      const today = new Date(clock()).toISOString().slice(0, 10);
      const headers = {
        'content-type': EXPORT_TYPES[format],
        'content-disposition': `attachment; filename="sluice-audit-${today}.${format}"`,
      };
      const rows = exportExecutions(store, readExecutionFilter(query), format);
      return new Response(context.req.method === 'HEAD' ? null : streamBody(rows), { headers });
    },
    readSettings: async () => ({
      approvals: settings.approvals,
      sinks: settings.sinks,
      tokens: guard.listTokens(),
    }),
    listBudgets: async () => reportBudgets(store, settings.budgets, clock()),
    listWaiting: async () => readWaitingList(),
    async readStatistics({ query }) {
      const now = clock();
      const span = readStatisticsSpan(query, now);
      const { since, until, stepMs } = span;
      const [runs, inbox] = await Promise.all([store.listRunSlots(span), store.readInboxHistory(span)]);
      return {
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        step_s: stepMs / 1000,
        buckets: countStatistics({ span, runs, inbox, now, prices: settings.prices }),
      };
    },
  } satisfies Partial<Handlers>;
}

function readExecutionFilter(query: Readonly<Record<string, string>>): ExecutionFilter {
  const { issue_ref: issueRef, run_id: runId, worker } = query;
  const [since, until] = [normalizeTime(query, 'since'), normalizeTime(query, 'until')];
  const decision = query['decision'] as Decision['action'] | undefined;
  // Record times are compared as strings, so filter times must have the same format.
  return omitUndefined({ issueRef, runId, worker, decision, since, until });
}

function normalizeTime(query: Readonly<Record<string, string>>, name: string): string | undefined {
  const time = readTime(query, name);
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** A time span in equal steps, in milliseconds since 1970. */
interface StatisticsSpan {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** Common step lengths in seconds, from a minute to a year. */
const STEPS = [60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_592_000, 31_536_000] as const;
/** The maximum number of steps by default: more would not fit on a full-width chart. */
const DEFAULT_MAX_STEPS = 60;
const MAX_STEPS = 500;

/**
 * Reads the span of a request: the last week by default, in a few dozen steps. It starts with a whole step, so
 * repeating the request shortly after returns the same steps.
 */
export function readStatisticsSpan(query: Readonly<Record<string, string>>, now: number): StatisticsSpan {
  const until = readTime(query, 'until') ?? now;
  const from = readTime(query, 'since') ?? until - WEEK_MS;
  if (from >= until)
    throw new RequestError(
      'INVALID_QUERY',
      '"since" must be before "until". Use an earlier "since" or a later "until".',
    );
  const defaultStep = STEPS.find((seconds) => until - from <= seconds * 1000 * DEFAULT_MAX_STEPS) ?? STEPS.at(-1);
  const stepMs = roundStep(Number(query['step'] ?? defaultStep) * 1000);
  const since = startOfStep(from, stepMs);
  if ((until - since) / stepMs > MAX_STEPS) {
    throw new RequestError(
      'INVALID_QUERY',
      `The span has more than ${MAX_STEPS} steps. Use a longer "step" or a shorter span.`,
    );
  }
  return { since, until, stepMs };
}

/** The lengths of the slots that runs are counted in. A step consists of whole slots. */
const SLOTS_MS = [86_400_000, 3_600_000, 60_000];

function roundStep(stepMs: number): number {
  const slotMs = SLOTS_MS.find((length) => stepMs >= length) ?? 60_000;
  return Math.ceil(stepMs / slotMs) * slotMs;
}

type Bucket = StatisticsView['buckets'][number];

interface StatisticsSource {
  readonly span: StatisticsSpan;
  readonly runs: readonly RunSlot[];
  readonly inbox: InboxHistory;
  readonly now: number;
  readonly prices: ServerSettings['prices'];
}

/** The maximum number of causes counted separately, because causes are untrusted input. */
const MAX_NAMES = 50;

export function countStatistics({ span, runs, inbox, now, prices }: StatisticsSource): readonly Bucket[] {
  const { since, until, stepMs } = span;
  const findBucket = (time: number): number => Math.floor((time - since) / stepMs);
  const runsByBucket = groupBy(runs, ({ at }) => findBucket(at));
  const buckets = Math.ceil((until - since) / stepMs);
  // Everything after the span is counted in an extra last bucket.
  const inboxByBucket = groupBy(inbox.slots, ({ at }) => (at >= until ? buckets : findBucket(at)));
  const ends = Array.from({ length: buckets }, (_, index) => Math.min(since + (index + 1) * stepMs, until, now));
  const queues = rewindInbox(inbox, inboxByBucket, ends);
  const toCountedCause = limitNames(MAX_NAMES);

  return queues.map((queue, index) => {
    const start = since + index * stepMs;
    const byEngine = [...groupBy(runsByBucket.get(index) ?? [], ({ engine }) => engine)]
      .map(([engine, slots]) => ({ engine, ...sumCounts(slots.map(({ counts }) => counts)) }))
      .toSorted((one, other) => (one.engine < other.engine ? -1 : 1));
    const openedItems = (inboxByBucket.get(index) ?? []).flatMap(({ counts }) => counts.opened);
    return {
      at: new Date(start).toISOString(),
      runs: byEngine.map(({ engine, outcomes, repair_levels, durations }) => ({
        engine,
        outcomes,
        repair_levels,
        latency_ms: readLatency(durations),
      })),
      usage: byEngine.flatMap(({ engine, usage }) =>
        usage.map((entry) => ({ engine, ...describeUsage(entry, prices) })),
      ),
      drift: byEngine.flatMap(({ engine, drift }) => drift.map((entry) => ({ engine, ...entry }))),
      inbox: queue,
      needs_human: [...groupBy(openedItems, ({ cause }) => toCountedCause(cause))].map(([cause, counts]) => ({
        cause,
        count: counts.reduce((sum, { items }) => sum + items, 0),
      })),
    };
  });
}

function describeUsage(usage: ModelUsage, prices: ServerSettings['prices']): Omit<Bucket['usage'][number], 'engine'> {
  const {
    unpriced_input_tokens: input,
    unpriced_cached_input_tokens: cached,
    unpriced_output_tokens: output,
    ...reported
  } = usage;
  const name = Object.keys(prices).find((pattern) => matchGlob(pattern, usage.model ?? ''));
  const price = name === undefined ? undefined : prices[name];
  return {
    ...reported,
    unpriced_tokens: input + output,
    estimated_cost: price === undefined ? null : estimateCost({ input, cached, output }, price),
  };
}

const MILLION = 1_000_000;

/** `input` includes `cached`. */
function estimateCost(
  { input, cached, output }: Readonly<{ input: number; cached: number; output: number }>,
  { input: inputPrice, cached_input: cachedPrice = inputPrice, output: outputPrice }: ModelPrice,
): number {
  // Engines are untrusted: some have reported more cached tokens than input.
  const uncached = Math.max(0, input - cached);
  return (uncached * inputPrice + cached * cachedPrice + output * outputPrice) / MILLION;
}

function readLatency(durations: RunCounts['durations']): Bucket['runs'][number]['latency_ms'] {
  if (durations.length === 0) return null;
  return { p50: computePercentile(durations, 0.5), p95: computePercentile(durations, 0.95) };
}

/**
 * Computes the number of open items at the end of each step. It starts with the currently open items and goes back in
 * time: an item that was resolved later counts as open, and an item that was opened later does not.
 */
function rewindInbox(
  history: InboxHistory,
  slots: ReadonlyMap<number, readonly InboxSlot[]>,
  ends: readonly number[],
): Bucket['inbox'][] {
  let { open, oldest } = history;
  const queues = ends.map((): Bucket['inbox'] => ({ open: 0, oldest_age_ms: null }));
  for (let index = ends.length - 1; index >= 0; index -= 1) {
    for (const { counts } of slots.get(index + 1) ?? []) {
      open += counts.resolved - counts.opened.reduce((sum, { items }) => sum + items, 0);
      oldest = chooseEarlier(oldest, counts.oldest_resolved);
    }
    const age = (ends[index] ?? 0) - (oldest ?? 0);
    if (open > 0 && oldest !== null) queues[index] = { open, oldest_age_ms: Math.max(0, age) };
  }
  return queues;
}

/** Returns the first `limit` distinct names unchanged, and `other` for all further names. */
function limitNames(limit: number): (name: string) => string {
  const knownNames = new Set<string>();
  return (name) => {
    if (knownNames.has(name)) return name;
    if (knownNames.size >= limit) return 'other';
    knownNames.add(name);
    return name;
  };
}

/** Computes the percentile by nearest rank. Values must be in ascending order; there must be at least one. */
export function computePercentile(counted: RunCounts['durations'], fraction: number): number {
  const rank = Math.ceil(counted.reduce((sum, [, count]) => sum + count, 0) * fraction);
  let countSoFar = 0;
  return counted.find(([, count]) => (countSoFar += count) >= rank)?.[0] ?? 0;
}

type SessionView = ResponseOf<typeof ENDPOINTS.getSession>;

/** Creates the handlers for liveness, readiness, metrics, sessions, and the values that requests may contain. */
export function createServiceHandlers({ checkReady, meter, guard, logger, settings, wrappers, lead }: ServerContext) {
  const describeSession = ({ name, scopes }: Caller): SessionView => ({
    name,
    scopes: [...scopes].filter((scope) => scope !== 'none'),
    needs_token: settings.tokens.length > 0,
  });
  const { commands, roots, env, allowBypass, agents } = settings;
  const engines = Object.values(listLaunchers(agents)).map(({ engine, canResume, canAsk }) => ({
    name: engine,
    input: engine === 'command' ? ('command' as const) : ('prompt' as const),
    can_ask: canResume,
    asks_permission: canAsk === true,
  }));
  const permissions = ['safe', 'workspace', ...(allowBypass ? (['bypass'] as const) : []), 'ask'] as const;
  const workers = listWrappers(wrappers);
  const checks = Object.keys(lead.checks);
  const repos = lead.repos.map(({ url }) => url);
  return {
    health: async () => ({ status: 'ok' }),
    async ready() {
      await checkReady();
      return { status: 'ready' };
    },
    metrics: async () =>
      new Response(await meter.render(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
    // In a session, pages use a cookie instead of a token.
    async openSession({ body, context, requestId }) {
      const { caller, cookie } = guard.openSession(context, body.token);
      logger.info('session opened', { caller: caller.name, request_id: requestId });
      return setCookie(createJsonResponse(JSON.stringify(describeSession(caller)), 200, requestId), cookie);
    },
    getSession: async ({ caller }) => describeSession(caller),
    closeSession: async ({ requestId }) =>
      setCookie(createJsonResponse(JSON.stringify({ status: 'closed' }), 200, requestId), guard.closeSession()),
    // Forms offer these values as choices.
    listEngines: async () => ({ engines, commands, roots, repos, permissions, env, workers, checks }),
  } satisfies Partial<Handlers>;
}

function setCookie(response: Response, cookie: string): Response {
  response.headers.set('set-cookie', cookie);
  return response;
}

/** Lists the configured wrappers and the built-in agents: orders name one of them in their field `worker`. */
function listWrappers(wrappers: Wrappers): { name: string; type: string }[] {
  const configured = Object.entries(wrappers).map(([name, { type }]) => ({ name, type }));
  const agents = Object.keys(WRAPPER_ENGINES).filter(
    (type) => findAgentEngine(type) !== undefined && !Object.hasOwn(wrappers, type),
  );
  return [...configured, ...agents.map((type) => ({ name: type, type }))];
}
