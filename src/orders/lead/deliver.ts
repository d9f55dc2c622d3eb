import { getErrorMessage } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import type { OutboxMessage } from '../../records/index.js';
import type { OutboxStore } from '../ports/outbox-store.js';
import { SinkError } from '../sinks/sink.js';
import type { Delivery, Sink } from '../sinks/sink.js';

/** Options for delivering. */
export interface DeliveryPorts {
  readonly store: OutboxStore;
  readonly sinks: readonly Sink[];
  readonly workerId: string;
  readonly clock: () => number;
  readonly random: () => number;
  readonly backoff: Backoff;
  readonly logger: Logger;
  /** How many messages are on their way at once. */
  readonly concurrency: number;
  /** No further message is claimed once this is aborted; those being sent are finished. */
  readonly signal?: AbortSignal | undefined;
}

/** How many messages went which way. */
export interface DeliveryReport {
  readonly delivered: number;
  /** Failed, and to be tried again. */
  readonly postponed: number;
  /** Failed permanently, until a person redelivers it. */
  readonly dead: number;
  /** Another worker claimed the message meanwhile. */
  readonly lost: number;
  /** When the first of the postponed ones is to be tried again, in milliseconds since 1970. */
  readonly retryAt?: number;
}

/** The outcome of one message. */
type Outcome = { readonly is: Exclude<keyof DeliveryReport, 'retryAt'>; readonly retryAt?: number };

/*
 * A message is leased for six times the longest request of its sink: three for looking through comments, one for sending,
 * two to spare. So a request is over before another worker can claim the message and search for it.
 */
const LEASE_FACTOR = 6;
const SEARCH_FACTOR = 3;

/** Delivers everything that is due, at least once. What may have been sent before is looked for first. */
export async function deliverDue(ports: DeliveryPorts): Promise<DeliveryReport> {
  const reports = await waitForAll(ports.sinks.map(async (sink) => deliverTo(ports, sink)));
  const sum = (key: Outcome['is']) => reports.reduce((total, report) => total + report[key], 0);
  const retryAt = Math.min(...reports.map((report) => report.retryAt ?? Infinity));
  return {
    delivered: sum('delivered'),
    postponed: sum('postponed'),
    dead: sum('dead'),
    lost: sum('lost'),
    ...(retryAt === Infinity ? {} : { retryAt }),
  };
}

async function deliverTo(ports: DeliveryPorts, sink: Sink): Promise<DeliveryReport> {
  const counts = { delivered: 0, postponed: 0, dead: 0, lost: 0 };
  let retryAt: number | undefined;
  const readReport = (): DeliveryReport => ({ ...counts, ...(retryAt === undefined ? {} : { retryAt }) });
  while (ports.signal?.aborted !== true) {
    const messages = await ports.store.claimOutbox({
      workerId: ports.workerId,
      leaseMs: sink.timeoutMs * LEASE_FACTOR,
      now: ports.clock(),
      limit: ports.concurrency,
      sinks: [sink.name],
    });
    if (messages.length === 0) return readReport();
    const outcomes = await waitForAll(messages.map(async (message) => deliverOne(ports, sink, message)));
    for (const outcome of outcomes) {
      counts[outcome.is] += 1;
      retryAt = Math.min(retryAt ?? Infinity, outcome.retryAt ?? Infinity);
    }
    if (retryAt === Infinity) retryAt = undefined;
  }
  return readReport();
}

/** Waits for all, even if one fails: nothing is left running when the caller continues. */
async function waitForAll<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

async function deliverOne(ports: DeliveryPorts, sink: Sink, message: OutboxMessage): Promise<Outcome> {
  const { store, workerId, clock } = ports;
  let delivery: Delivery;
  try {
    const found = await findAgain(sink, message);
    // After a stall another worker may be looking for it already, and would not find what is only now being sent.
    if (found === undefined && (message.lease_until ?? Infinity) < clock() + sink.timeoutMs) return { is: 'lost' };
    delivery = found ?? (await sink.send(message, AbortSignal.timeout(sink.timeoutMs)));
  } catch (error) {
    return fail(ports, sink, message, error);
  }
  const done = { id: message.id, workerId, deliveredTo: delivery.deliveredTo, now: clock() };
  return { is: (await store.markDelivered(done)) ? 'delivered' : 'lost' };
}

async function findAgain(sink: Sink, message: OutboxMessage): Promise<Delivery | undefined> {
  if (message.tries <= 1 || sink.find === undefined) return undefined;
  return sink.find(message, AbortSignal.timeout(sink.timeoutMs * SEARCH_FACTOR));
}

async function fail(ports: DeliveryPorts, sink: Sink, message: OutboxMessage, thrown: unknown): Promise<Outcome> {
  const { store, workerId, clock, random, backoff } = ports;
  const { tries } = message;
  const isDead = tries >= backoff.maxTries || (thrown instanceof SinkError && thrown.isPermanent);
  const error = describe(thrown, isDead ? tries : undefined);
  const asked = thrown instanceof SinkError ? (thrown.retryAfterMs ?? 0) : 0;
  const pause = Math.max(asked, pauseAfter({ tries, leastMs: sink.timeoutMs, random, backoff }));
  const retryAt = isDead ? null : clock() + pause;
  if (!(await store.markFailed({ id: message.id, workerId, error, retryAt }))) return { is: 'lost' };
  const fields = { sink: sink.name, issue_ref: message.issue_ref, trigger: message.trigger, tries, error };
  if (isDead) ports.logger.error('comment delivery failed', fields);
  else ports.logger.warn('comment not delivered, trying again', { ...fields, pause_ms: pause });
  return retryAt === null ? { is: 'dead' } : { is: 'postponed', retryAt };
}

const MAX_ERROR_LENGTH = 500;

/** A sink does not know whether it will be called again, so only this code can report that the last attempt failed. */
function describe(thrown: unknown, givenUpAfter: number | undefined): string {
  const times = givenUpAfter === 1 ? '1 try' : `${givenUpAfter} tries`;
  const end = givenUpAfter === undefined ? '' : ` Failed after ${times}. Fix the cause, then redeliver the comment.`;
  return getErrorMessage(thrown).slice(0, MAX_ERROR_LENGTH - end.length) + end;
}

/** The pauses between failed deliveries, and when a delivery fails permanently. */
export interface Backoff {
  /** The pause after the first failure; doubled after each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** A message is dead after this many attempts. */
  readonly maxTries: number;
}

/** Up to an hour between two attempts, half of it on average: fails permanently after about three days. */
export const DEFAULT_BACKOFF: Backoff = { firstMs: 2000, longestMs: 3_600_000, maxTries: 150 };

/**
 * Returns how long to wait after try number `tries` has failed. Jitter over the whole range keeps many messages that failed
 * together from coming back together; `leastMs` lets a request whose answer was lost arrive before it is looked for.
 *
 * @example
 * pauseAfter({ tries: 1, leastMs: 0, random: () => 0.5, backoff: DEFAULT_BACKOFF }) // 1000
 */
export function pauseAfter(failure: {
  readonly tries: number;
  readonly leastMs: number;
  readonly random: () => number;
  readonly backoff: Backoff;
}): number {
  const { tries, leastMs, random, backoff } = failure;
  const range = Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(tries - 1, 40));
  return Math.max(1, Math.round(leastMs + random() * range));
}

/** A worker that has the sink claims a message within seconds; after this time none seems to have it. */
const OVERDUE_MS = 60_000;
/** How often such messages are searched for. */
const CHECK_EVERY_MS = 30_000;
const AT_ONCE = 1000;

const REASON =
  'The comment waits: no running worker has a sink of this name. Configure the sink, or start a worker that has it.';

/**
 * Makes a function that from time to time searches for comments which wait for a sink that this lead does not have: they get
 * the reason, and each sink is logged once. Without that a sink that was renamed would keep them silently.
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
    const wanted = { sinks, dueBefore: now - OVERDUE_MS, error: REASON, limit: AT_ONCE };
    for (const sink of await store.noteStranded(wanted)) {
      if (!reported.has(sink)) logger.warn('comments are waiting for a sink that is not configured here', { sink });
      reported.add(sink);
    }
  };
}
