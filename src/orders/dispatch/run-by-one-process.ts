import { setTimeout as pause } from 'node:timers/promises';
import { createUlidGenerator, omitUndefined, silentLogger, type Logger } from '../../base/index.js';
import type { JobLeases } from '../../store/index.js';
import type { StoreClock } from '../../store/ports/index.js';
import { repeatJob, type BackgroundJob } from './repeat-work.js';
import { createWaker } from './waker.js';

interface SharedJobOptions {
  readonly store: JobLeases & StoreClock;
  /** Their names are the same in every process. */
  readonly jobs: readonly BackgroundJob[];
  /** How long a process holds a job without renewing it; 30 seconds by default. */
  readonly leaseMs?: number;
  readonly logger?: Logger;
}

const LEASE_MS = 30_000;

/**
 * Runs each job in one of the processes that share a store. The first process to request a job holds it and does the
 * work at its interval; if it stops, crashes or loses the store, another process takes over within two leases. Each of
 * the other processes runs one statement per half to whole lease, for all jobs together. Two processes can overlap if one
 * stalls for longer than its lease, so doing the work of a job twice must be harmless.
 */
export function runByOneProcess(options: SharedJobOptions): { stop(): Promise<void> } {
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

  // This process holds no job yet; it wakes the loop of each one that it gets.
  const loops = jobs.map(async (job) => {
    const work = async (): Promise<void> => {
      if (!signal.aborted && heldJobs.has(job.name) && performance.now() < heldUntil) await job.work(signal);
    };
    return repeatJob({ ...job, work }, { logger, signal, ...omitUndefined({ waker: wakers.get(job.name) }) });
  });
  const renewal = jobs.length === 0 ? Promise.resolve() : renew();

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    stopping.abort();
    renewalWaker.wake();
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
