import { setTimeout as pause } from 'node:timers/promises';
import { createUlidGenerator, silentLogger, type Logger } from '../../base/index.js';
import type { JobLeases } from '../../store/index.js';
import type { StoreClock } from '../../store/ports/index.js';
import { repeatWork } from './repeat-work.js';
import { createWaker } from './waker.js';

/** Work that one process at a time does for all that share a store. */
export interface BackgroundJob {
  /** The same in every process. */
  readonly name: string;
  readonly everyMs: number;
  /**
   * Called every `everyMs`. Two processes can overlap if one stalls for longer than its lease, so doing the work twice
   * must be harmless. The signal is aborted when the process stops.
   */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

export interface BackgroundJobOptions {
  readonly store: JobLeases & StoreClock;
  readonly jobs: readonly BackgroundJob[];
  /** How long a process holds a job without renewing it; 30 seconds by default. */
  readonly leaseMs?: number;
  readonly logger?: Logger;
}

const LEASE_MS = 30_000;

/**
 * Runs each job in one of the processes that share a store. The first process to request a job holds it and does the
 * work at its interval; if it stops, crashes or loses the store, another process takes over within two leases. Each of
 * the other processes runs one statement per half to whole lease, for all jobs together.
 */
export function runByOneProcess(options: BackgroundJobOptions): { stop(): Promise<void> } {
  const { store, jobs, leaseMs = LEASE_MS, logger = silentLogger } = options;
  const owner = createUlidGenerator(() => store.now())();
  const stopping = new AbortController();
  const { signal } = stopping;
  const names = jobs.map(({ name }) => name);
  const wakers = new Map(names.map((name) => [name, createWaker()]));
  const renewalWaker = createWaker();
  let heldJobs: ReadonlySet<string> = new Set();
  let heldUntil = 0;

  async function hold(): Promise<void> {
    const requestedAt = performance.now();
    const now = store.now();
    const granted = new Set(await store.leaseJobs({ names, owner, now, until: now + leaseMs }));
    const before = heldJobs;
    heldJobs = granted;
    heldUntil = requestedAt + leaseMs;
    for (const name of granted) if (!before.has(name)) wakers.get(name)?.wake();
  }

  /** Renews the jobs of this process in time; without any, checks at a random time whether one is free. */
  async function renew(): Promise<void> {
    while (!signal.aborted) {
      await hold().catch((error: unknown) =>
        logger.warn('cannot acquire or renew jobs, will retry', { error: String(error) }),
      );
      if (signal.aborted) return;
      await renewalWaker.sleep(heldJobs.size > 0 ? leaseMs / 3 : leaseMs * (0.5 + Math.random() / 2));
    }
  }

  const loops = jobs.map(async ({ name, everyMs, work }) => {
    const waker = wakers.get(name) ?? createWaker();
    // This process holds no job yet; it wakes the loop when it gets this one.
    await waker.sleep(everyMs);
    await repeatWork({
      name,
      work: async () => {
        if (!signal.aborted && heldJobs.has(name) && performance.now() < heldUntil) await work(signal);
      },
      waker,
      sleepMs: everyMs,
      logger,
      signal,
    });
  });
  const renewal = jobs.length === 0 ? Promise.resolve() : renew();

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    stopping.abort();
    for (const waker of [renewalWaker, ...wakers.values()]) waker.wake();
    await Promise.all([renewal, ...loops]);
    if (heldJobs.size === 0) return;
    // If the store is unavailable, the lease expires by itself.
    const released = store.releaseJobs(owner).catch((error: unknown) => {
      logger.warn('jobs cannot be released', { error: String(error) });
    });
    await Promise.race([released, pause(RELEASE_MS, undefined, { ref: false })]);
  }
  return { stop: async () => (stopped ??= stop()) };
}

/** How long a stopping process waits for the store. */
const RELEASE_MS = 5000;
