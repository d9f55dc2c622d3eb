import { describe, expect, it, onTestFinished } from 'vitest';
import { openSite } from '../../store/contract/fixtures/open-site.js';
import type { Store } from '../../store/store.js';
import { runByOneProcess } from './run-by-one-process.js';

const LEASE_MS = 90;

/** Starts processes that share a job, and records the name of each process that performs it. */
function startProcesses(store: Pick<Store, 'leaseJobs' | 'releaseJobs' | 'now'>) {
  const done: string[] = [];
  const waiting = new Set<() => void>();
  const running = new Map<string, { stop(): Promise<void> }>();
  const start = (process: string, from = store): void => {
    const work = async (): Promise<void> => {
      done.push(process);
      for (const check of waiting) check();
    };
    const jobs = [{ name: 'sweep', everyMs: 5, work }];
    running.set(process, runByOneProcess({ store: from, leaseMs: LEASE_MS, jobs }));
  };
  onTestFinished(async () => {
    await Promise.all([...running.values()].map(async (process) => process.stop()));
  });
  return {
    done,
    start,
    stop: async (process: string) => running.get(process)?.stop(),
    /** Resolves when a process has done the work `times` more times. */
    until: async (process: string, times: number): Promise<void> => {
      const before = done.filter((each) => each === process).length;
      await new Promise<void>((resolve) => {
        const check = (): void => {
          if (done.filter((each) => each === process).length < before + times) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
      });
    },
  };
}

describe('a job', () => {
  it('is repeated by one process', async () => {
    const { done, start, until } = startProcesses(await openSite('memory:'));
    start('first');
    await until('first', 1);
    start('second');
    await until('first', 30);
    expect(new Set(done)).toEqual(new Set(['first']));
  });

  it('is taken over when its process stops', async () => {
    const { done, start, stop, until } = startProcesses(await openSite('memory:'));
    start('first');
    await until('first', 1);
    start('second');
    await stop('first');
    const before = done.length;
    await until('second', 2);
    expect(done.slice(before).every((process) => process === 'second')).toBe(true);
  });

  it('is taken over when its process loses the store, which then does nothing more', async () => {
    const store = await openSite('memory:');
    const { done, start, until } = startProcesses(store);
    let isLost = false;
    const lose: typeof store.leaseJobs = async (request) => {
      if (isLost) throw new Error('no connection');
      return store.leaseJobs(request);
    };
    start('first', { ...store, leaseJobs: lose });
    await until('first', 1);
    isLost = true;
    start('second');
    await until('second', 1);
    const before = done.length;
    await until('second', 20);
    expect(done.slice(before).every((process) => process === 'second')).toBe(true);
  });

  it('is retried after a failure, and does not block other jobs', async () => {
    const store = await openSite('memory:');
    let [failures, successes] = [0, 0];
    const isDone = new Promise<void>((resolve) => {
      const check = (): void => {
        if (failures >= 2 && successes >= 2) resolve();
      };
      const jobs = runByOneProcess({
        store,
        jobs: [
          {
            name: 'broken',
            everyMs: 1,
            async work() {
              failures += 1;
              check();
              throw new Error('broken');
            },
          },
          {
            name: 'whole',
            everyMs: 1,
            async work() {
              successes += 1;
              check();
            },
          },
        ],
      });
      onTestFinished(async () => jobs.stop());
    });
    await isDone;
    expect(failures).toBeGreaterThan(1);
  });
});
