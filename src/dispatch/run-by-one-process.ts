import { setTimeout as pause } from 'node:timers/promises';
import { createUlids, silentLogger } from '../base/index.js';
import type { Logger } from '../base/index.js';
import type { Duties } from '../store/index.js';
import type { StoreClock } from '../orders/index.js';
import { repeatWork } from './repeat-work.js';
import { createWaker } from './waker.js';

/** Work that one process at a time does for all that share a store. */
export interface Duty {
  /** The same in every process. */
  readonly name: string;
  readonly everyMs: number;
  /**
   * It is called again after `everyMs`. Two processes may overlap if one stalls for longer than its lease, so it must be
   * harmless when it is done twice. The signal is aborted when the process stops.
   */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

/** Options for sharing duties. */
export interface DutyOptions {
  readonly store: Duties & StoreClock;
  readonly duties: readonly Duty[];
  /** How long a process holds a duty without asking again; 30 seconds by default. */
  readonly leaseMs?: number;
  readonly logger?: Logger;
}

const LEASE_MS = 30_000;

/**
 * Runs each duty in one of the processes that share a store: the first that asks holds it and does the work every so often;
 * if it stops, crashes or loses the store, another one takes over within two leases. All duties together cost the others one
 * statement every half lease.
 *
 * @example
 * const duties = runByOneProcess({ store, duties: [{ name: 'retention', everyMs: 60_000, work: () => sweep() }] })
 * await duties.stop()
 */
export function runByOneProcess(options: DutyOptions): { stop(): Promise<void> } {
  const { store, duties, leaseMs = LEASE_MS, logger = silentLogger } = options;
  const owner = createUlids(() => store.now())();
  const stopping = new AbortController();
  const { signal } = stopping;
  const names = duties.map(({ name }) => name);
  const wakers = new Map(names.map((name) => [name, createWaker()]));
  const keeper = createWaker();
  let held: ReadonlySet<string> = new Set();
  let heldUntil = 0;

  async function hold(): Promise<void> {
    const asked = performance.now();
    const now = store.now();
    const found = new Set(await store.holdDuties({ names, owner, now, until: now + leaseMs }));
    const before = held;
    held = found;
    heldUntil = asked + leaseMs;
    for (const name of found) if (!before.has(name)) wakers.get(name)?.wake();
  }

  /** Holders renew their duties in time; the others check whether one is free, at different times. */
  async function keep(): Promise<void> {
    while (!signal.aborted) {
      await hold().catch((error: unknown) =>
        logger.warn('duties cannot be held, trying again', { error: String(error) }),
      );
      if (signal.aborted) return;
      await keeper.sleep(held.size > 0 ? leaseMs / 3 : leaseMs * (0.5 + Math.random() / 2));
    }
  }

  const loops = duties.map(async ({ name, everyMs, work }) => {
    const waker = wakers.get(name) ?? createWaker();
    // Nothing is held yet.
    await waker.sleep(everyMs);
    await repeatWork({
      name,
      work: async () => {
        if (!signal.aborted && held.has(name) && performance.now() < heldUntil) await work(signal);
      },
      waker,
      sleepMs: everyMs,
      logger,
      signal,
    });
  });
  const kept = duties.length === 0 ? Promise.resolve() : keep();

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    stopping.abort();
    for (const waker of [keeper, ...wakers.values()]) waker.wake();
    await Promise.all([kept, ...loops]);
    if (held.size === 0) return;
    // The store may be gone; then the lease ends by itself.
    const released = store.releaseDuties(owner).catch((error: unknown) => {
      logger.warn('duties cannot be released', { error: String(error) });
    });
    await Promise.race([released, pause(RELEASE_MS, undefined, { ref: false })]);
  }
  return { stop: async () => (stopped ??= stop()) };
}

/** A process that stops waits no longer than this for the store. */
const RELEASE_MS = 5000;
