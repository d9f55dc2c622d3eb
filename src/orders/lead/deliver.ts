import { getErrorMessage } from '../../base/index.js';
import type { OutboxMessage } from '../../store/records/index.js';
import type { OutboxStore } from '../../store/ports/index.js';
import type { LeadContext } from './lead-context.js';
import { SinkError, type Delivery, type OutgoingMessage, type Sink } from '../sinks/sink.js';

export interface DeliveryPorts extends Pick<
  LeadContext,
  'sinks' | 'clock' | 'random' | 'backoff' | 'logger' | 'concurrency'
> {
  readonly store: OutboxStore;
  readonly workerId: string;
  /** No further message is claimed once this is aborted; deliveries in progress are finished. */
  readonly signal?: AbortSignal | undefined;
}

/** The number of messages for each outcome. */
export interface DeliveryReport {
  readonly delivered: number;
  /** Failed, to be retried. */
  readonly postponed: number;
  /** Failed permanently, until someone redelivers it. */
  readonly dead: number;
  /** Meanwhile, another worker claimed the message. */
  readonly lost: number;
  /** When the first postponed message is retried, in milliseconds since 1970. */
  readonly retryAt?: number;
}

type DeliveryOutcome = { readonly kind: Exclude<keyof DeliveryReport, 'retryAt'>; readonly retryAt?: number };

/*
 * A message is leased for six times its sink's request timeout: three for searching the existing comments, one for
 * sending, two to spare. So a request has finished before another worker can claim the message and look it up.
 */
const LEASE_FACTOR = 6;
const SEARCH_FACTOR = 3;

/** Delivers every message that is due, at least once. A message that might have been sent before is looked up first. */
export async function deliverDue(ports: DeliveryPorts): Promise<DeliveryReport> {
  const counts = { delivered: 0, postponed: 0, dead: 0, lost: 0 };
  let firstRetryAt = Infinity;
  const count = ({ kind, retryAt = Infinity }: DeliveryOutcome): void => {
    counts[kind] += 1;
    firstRetryAt = Math.min(firstRetryAt, retryAt);
  };
  await waitForAll(ports.sinks.map(async (sink) => deliverTo(ports, sink, count)));
  return { ...counts, ...(firstRetryAt === Infinity ? {} : { retryAt: firstRetryAt }) };
}

async function deliverTo(ports: DeliveryPorts, sink: Sink, count: (outcome: DeliveryOutcome) => void): Promise<void> {
  while (ports.signal?.aborted !== true) {
    const messages = await ports.store.claimOutbox({
      workerId: ports.workerId,
      leaseMs: sink.timeoutMs * LEASE_FACTOR,
      now: ports.clock(),
      limit: ports.concurrency,
      sinks: [sink.name],
    });
    if (messages.length === 0) return;
    const installation = await ports.store.readInstallation();
    await waitForAll(
      messages.map(async (message) => count(await deliverOne(ports, sink, { ...message, installation }))),
    );
  }
}

/** Waits for all promises even if one rejects, so nothing is left running when the caller continues. */
async function waitForAll(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(promises);
  await Promise.all(promises);
}

async function deliverOne(
  ports: DeliveryPorts,
  sink: Sink,
  message: OutboxMessage & OutgoingMessage,
): Promise<DeliveryOutcome> {
  const { store, workerId, clock } = ports;
  let delivery: Delivery;
  try {
    const searchMs = sink.timeoutMs * SEARCH_FACTOR;
    const existing = message.tries <= 1 ? undefined : await sink.find?.(message, AbortSignal.timeout(searchMs));
    // This process might have stalled. When the lease expires, another worker looks up the message and would send it
    // again.
    if (existing === undefined && (message.lease_until ?? Infinity) < clock() + sink.timeoutMs) return { kind: 'lost' };
    delivery = existing ?? (await sink.send(message, AbortSignal.timeout(sink.timeoutMs)));
  } catch (error) {
    return recordFailure(ports, sink, message, error);
  }
  const done = { id: message.id, workerId, deliveredTo: delivery.deliveredTo, now: clock() };
  return { kind: (await store.markDelivered(done)) ? 'delivered' : 'lost' };
}

async function recordFailure(
  ports: DeliveryPorts,
  sink: Sink,
  message: OutboxMessage,
  thrown: unknown,
): Promise<DeliveryOutcome> {
  const { store, workerId, clock, backoff } = ports;
  const { tries } = message;
  const isDead = tries >= backoff.maxTries || (thrown instanceof SinkError && thrown.isPermanent);
  const error = describeFailure(thrown, isDead ? tries : undefined);
  const requestedMs = thrown instanceof SinkError ? (thrown.retryAfterMs ?? 0) : 0;
  const delay = Math.max(requestedMs, chooseDelay(ports, { tries, minMs: sink.timeoutMs }));
  const retryAt = isDead ? null : clock() + delay;
  if (!(await store.markFailed({ id: message.id, workerId, error, retryAt }))) return { kind: 'lost' };
  const fields = { sink: sink.name, issue_ref: message.issue_ref, trigger: message.trigger, tries, error };
  if (isDead) ports.logger.error('comment delivery failed', fields);
  else ports.logger.warn('comment not delivered, will retry', { ...fields, pause_ms: delay });
  return retryAt === null ? { kind: 'dead' } : { kind: 'postponed', retryAt };
}

const MAX_ERROR_LENGTH = 500;

/**
 * Describes a failure. Only the caller can add that it was the last attempt: a sink cannot know whether it will be
 * called again.
 */
function describeFailure(thrown: unknown, tries: number | undefined): string {
  const times = tries === 1 ? '1 try' : `${tries} tries`;
  const end = tries === undefined ? '' : ` Failed after ${times}. Fix the cause, then redeliver the comment.`;
  return getErrorMessage(thrown).slice(0, MAX_ERROR_LENGTH - end.length) + end;
}

/**
 * Returns how long to wait after attempt number `tries` has failed. Jitter over the full range keeps messages that
 * failed together from being retried together. `minMs` leaves time for a request whose response was lost to arrive, so
 * the lookup finds it.
 */
export function chooseDelay(
  { random, backoff }: Pick<DeliveryPorts, 'random' | 'backoff'>,
  { tries, minMs }: { readonly tries: number; readonly minMs: number },
): number {
  const range = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(tries - 1, 40));
  return Math.max(1, Math.round(minMs + random() * range));
}

/** A worker that has the sink claims a message within seconds; after this time, presumably no worker has the sink. */
const OVERDUE_MS = 60_000;
/** How often to look for overdue messages. */
const CHECK_EVERY_MS = 30_000;
const MAX_MESSAGES = 1000;

const REASON =
  'The comment is waiting: no running worker has a sink with this name. Configure the sink, or start a worker that has it.';

/**
 * Creates a function that looks, at most every 30 seconds, for comments waiting for a sink that this lead does not
 * have. It records the reason on them and logs each sink once. Otherwise comments for a renamed sink would wait
 * unnoticed.
 */
export function createStrandedReport(
  context: Pick<DeliveryPorts, 'store' | 'sinks' | 'clock' | 'logger'>,
): () => Promise<void> {
  const { store, clock, logger } = context;
  const sinks = context.sinks.map(({ name }) => name);
  const reported = new Set<string>();
  let nextCheckAt = -Infinity;
  return async () => {
    const now = clock();
    if (now < nextCheckAt) return;
    nextCheckAt = now + CHECK_EVERY_MS;
    const search = { sinks, dueBefore: now - OVERDUE_MS, error: REASON, limit: MAX_MESSAGES };
    for (const sink of await store.recordStranded(search)) {
      if (!reported.has(sink)) logger.warn('comments are waiting for a sink that is not configured here', { sink });
      reported.add(sink);
    }
  };
}
