import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EventRow } from '../event-rows.js';
import { createGatherer } from '../store.js';

function createRow(runId: string, seq: number, lines = '{}\n'): EventRow {
  return { runId, protocol: 'fcmp', attempt: 0, firstSeq: seq, lastSeq: seq, lines };
}

function open(fail: (rows: readonly EventRow[]) => boolean = () => false) {
  const writes: string[][] = [];
  const append = createGatherer(async (rows) => {
    if (fail(rows)) throw new Error('no room');
    writes.push(rows.map(({ runId, firstSeq }) => `${runId}${firstSeq}`));
    return [];
  }, 1);
  return { writes, append };
}

describe('appends of multiple runs', () => {
  it('are one write if concurrent', async () => {
    const { writes, append } = open();
    await Promise.all(['a', 'b', 'c'].map(async (run) => append([createRow(run, 1)])));
    expect(writes).toEqual([['a1', 'b1', 'c1']]);
  });

  it('are written together as long as all of them are active', async () => {
    const { writes, append } = open();
    const work = async (run: string): Promise<void> => {
      for (let seq = 1; seq <= 20; seq += 1) await append([createRow(run, seq)]);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(work));
    expect(writes.flat()).toHaveLength(80);
    expect(writes.length).toBeLessThan(30);
  });

  it('continue without a run that has stopped', async () => {
    const { writes, append } = open();
    await Promise.all([append([createRow('a', 1)]), append([createRow('b', 1)])]);
    for (let seq = 2; seq <= 4; seq += 1) await append([createRow('a', seq)]);
    expect(writes).toEqual([['a1', 'b1'], ['a2'], ['a3'], ['a4']]);
  });

  it('are written in parts if they are large', async () => {
    const { writes, append } = open();
    const large = 'x'.repeat(3_000_000);
    await Promise.all([1, 2, 3].map(async (seq) => append([createRow('a', seq, large)])));
    expect(writes).toEqual([['a1'], ['a2'], ['a3']]);
  });

  it('do not stop after a failed append', async () => {
    const { writes, append } = open((rows) => rows.some(({ runId }) => runId === 'bad'));
    await expect(append([createRow('bad', 1)])).rejects.toThrow('no room');
    await append([createRow('good', 1)]);
    await append([]);
    expect(writes).toEqual([['good1'], []]);
  });
});

describe('two concurrent writes', () => {
  /** Writes that the test completes. */
  function createPausedGatherer() {
    const writes: { readonly rows: string[]; readonly end: () => void }[] = [];
    const append = createGatherer(
      async (rows) =>
        new Promise((end) => {
          writes.push({ rows: rows.map(({ runId, firstSeq }) => `${runId}:${firstSeq}`), end: () => end([]) });
        }),
      2,
    );
    return { writes, append };
  }
  const turn = async (): Promise<void> => {
    for (const _ of [1, 2]) await setImmediate();
  };

  it('share the rows of many runs', async () => {
    const { writes, append } = createPausedGatherer();
    const all = Promise.all(Array.from({ length: 200 }, async (_, run) => append([createRow(`r${run}`, 1)])));
    await turn();
    expect(writes.map(({ rows }) => rows.length)).toEqual([100, 100]);
    for (const { end } of writes) end();
    await all;
  });

  it('of few rows are combined', async () => {
    const { writes, append } = createPausedGatherer();
    const all = Promise.all(['a', 'b', 'c'].map(async (run) => append([createRow(run, 1)])));
    await turn();
    expect(writes.map(({ rows }) => rows)).toEqual([['a:1', 'b:1', 'c:1']]);
    for (const { end } of writes) end();
    await all;
  });

  it('never contain rows of the same run, so these are stored in order', async () => {
    const { writes, append } = createPausedGatherer();
    const first = append([createRow('a', 1)]);
    await turn();
    const others = [append([createRow('a', 2)]), append([createRow('b', 1)]), append([createRow('a', 3)])];
    await turn();
    expect(writes.map(({ rows }) => rows)).toEqual([['a:1'], ['b:1']]);
    writes[0]?.end();
    await first;
    await turn();
    expect(writes.map(({ rows }) => rows)).toEqual([['a:1'], ['b:1'], ['a:2', 'a:3']]);
    for (const { end } of writes) end();
    await Promise.all(others);
  });
});
