import { describe, expect, it } from 'vitest';
import { describeProgress, withProgress } from './progress.js';

/** A terminal that records its output, and a clock that the test sets. */
function openTerminal(isTerminal = true) {
  const written: string[] = [];
  const clock = { now: 0 };
  const stderr = {
    isTerminal,
    write: async (text: string): Promise<void> => {
      written.push(text);
      return Promise.resolve();
    },
  };
  return { written, clock, io: { stderr }, options: { label: 'replay', unit: 'bytes', clock: () => clock.now } };
}

describe('progress on a terminal', () => {
  it('shows the rate and the time left, at most five times a second, and is removed at the end', async () => {
    const { written, clock, io, options } = openTerminal();
    await withProgress(io, options, async (set) => {
      for (clock.now = 0; clock.now <= 2000; clock.now += 50) set(clock.now * 1000, 4_000_000);
      return Promise.resolve();
    });
    expect(written[0]).toBe('\r\u001B[Kreplay: 500.0 kB of 4.0 MB, 1.0 MB/s, 4 s left');
    expect(written).toHaveLength(9);
    expect(written.at(-1)).toBe('\r\u001B[K');
  });

  it('shows nothing for a short task', async () => {
    const { written, io, options } = openTerminal();
    await withProgress(io, options, async (set) => Promise.resolve(set(1, 1)));
    expect(written).toEqual([]);
  });

  it('is also removed after a failure', async () => {
    const { written, clock, io, options } = openTerminal();
    const failingWork = withProgress(io, options, async (set) => {
      clock.now = 1000;
      set(1, 2);
      return Promise.reject(new Error('no'));
    });
    await expect(failingWork).rejects.toThrow('no');
    expect(written.at(-1)).toBe('\r\u001B[K');
  });

  it('measures the speed of each part separately', async () => {
    const { written, clock, io, options } = openTerminal();
    await withProgress(io, { ...options, unit: 'rows' }, async (set) => {
      clock.now = 9000;
      set(0, 100, 'events');
      clock.now = 10_000;
      set(50, 100, 'events');
      return Promise.resolve();
    });
    expect(written[1]).toBe('\r\u001B[Kreplay events: 50 of 100 rows, 50/s, 1 s left');
  });
});

it('progress is not written to a pipe', async () => {
  const { written, clock, io, options } = openTerminal(false);
  await withProgress(io, options, async (set) => {
    clock.now = 5000;
    return Promise.resolve(set(1, 2));
  });
  expect(written).toEqual([]);
});

it.each([
  [{ done: 50, total: 200, ms: 1000, unit: 'cases' }, '50 of 200 cases, 50/s, 3 s left'],
  [{ done: 1500, ms: 1000, unit: 'bytes' }, '1.5 kB, 1.5 kB/s'],
  [{ done: 999_999, ms: 1001, unit: 'bytes' }, '1.0 MB, 999.0 kB/s'],
  [{ done: 9999, ms: 10_000, unit: 'bytes' }, '10.0 kB, 1.0 kB/s'],
  [{ done: 1, total: 7201, ms: 1000, unit: 'rows' }, '1 of 7,201 rows, 1/s, 2 h 0 min left'],
  [{ done: 0, total: 10, ms: 0, unit: 'rows' }, '0 of 10 rows, 0/s'],
  [{ done: 10, total: 1207, ms: 1000, unit: 'rows' }, '10 of 1,207 rows, 10/s, 2 min 0 s left'],
])('describes %j as %s', (progress, line) => {
  expect(describeProgress(progress)).toBe(line);
});
