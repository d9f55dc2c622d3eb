import { describe, expect, it, onTestFinished } from 'vitest';
import { createThreadPool } from './index.js';

const entry = new URL('./fixtures/misbehaving-thread.ts', import.meta.url);

/** Starting takes longer than a task may. */
const slowEntry = new URL('./fixtures/slow-thread.ts', import.meta.url);

/** Longer than any task here takes under load. */
const TASK_TIMEOUT_MS = 30_000;

interface PoolOptions {
  readonly entry?: URL;
  readonly taskMs?: number;
  readonly startMs?: number;
  readonly queue?: number;
}

function openPool(options: PoolOptions = {}) {
  const pool = createThreadPool<string, string>({
    entry,
    threads: 1,
    queue: 8,
    taskMs: TASK_TIMEOUT_MS,
    memoryMb: 64,
    ...options,
  });
  onTestFinished(() => pool.close());
  return pool;
}

describe('a thread pool', () => {
  it("runs tasks in order, without the process's environment", async () => {
    const pool = openPool();
    expect(await Promise.all(['one', 'two', 'three'].map(async (task) => pool.run(task, 'a')))).toEqual([
      'one 0',
      'two 0',
      'three 0',
    ]);
  });

  it('rethrows the error of a task, and keeps the thread', async () => {
    const pool = openPool();
    await expect(pool.run('throw', 'a')).rejects.toThrow(new RangeError('thrown in the thread'));
    expect(await pool.run('next', 'a')).toBe('next 0');
  });

  it('stops a task that never returns, and continues with the next', async () => {
    const pool = openPool({ taskMs: 5000 });
    const endlessTask = pool.run('loop', 'a');
    const next = pool.run('next', 'a');
    await expect(endlessTask).rejects.toMatchObject({ reason: 'timed_out' });
    expect(await next).toBe('next 0');
  });

  it('does not count the time that the thread needs to start', async () => {
    const pool = openPool({ entry: slowEntry, taskMs: 1000 });
    expect(await pool.run('task', 'a')).toBe('task');
  });

  it('blames no task for a thread that does not start', async () => {
    const pool = openPool({ entry: slowEntry, startMs: 100 });
    await expect(pool.run('task', 'a')).rejects.toMatchObject({ reason: 'not_started' });
    const brokenPool = openPool({ entry: new URL('./fixtures/no-such-thread.ts', import.meta.url) });
    await expect(brokenPool.run('task', 'a')).rejects.toMatchObject({ reason: 'not_started' });
  });

  it.each(['exit', 'memory'])('continues after a task that ends its thread by %s', async (task) => {
    const pool = openPool();
    await expect(pool.run(task, 'a')).rejects.toMatchObject({ reason: 'crashed' });
    expect(await pool.run('next', 'a')).toBe('next 0');
  });

  it('rejects tasks when its queue is full, and when one caller uses half of it', async () => {
    const pool = openPool({ queue: 8 });
    const runningTask = pool.run('loop', 'greedy');
    const waitingTasks = [1, 2, 3, 4].map(async (task) => pool.run(String(task), 'greedy'));
    await expect(pool.run('five', 'greedy')).rejects.toMatchObject({ reason: 'busy' });
    const otherTasks = ['b', 'c'].flatMap((key) => [pool.run(key, key), pool.run(key, key)]);
    await expect(pool.run('late', 'e')).rejects.toMatchObject({ reason: 'busy' });
    pool.close();
    const outcomes = await Promise.allSettled([runningTask, ...waitingTasks, ...otherTasks]);
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'rejected'));
  });

  it('serves callers in turn', async () => {
    const pool = openPool();
    const order: string[] = [];
    const run = async (task: string, key: string) => order.push(await pool.run(task, key));
    await Promise.all([run('a1', 'a'), run('a2', 'a'), run('a3', 'a'), run('b1', 'b')]);
    expect(order).toEqual(['a1 0', 'a2 0', 'b1 0', 'a3 0']);
  });
});
