import { describe, expect, it } from 'vitest';
import type { EventRow } from './event-rows.js';
import { createGatherer } from './gather.js';

function row(runId: string, seq: number, lines = '{}\n'): EventRow {
  return { runId, protocol: 'fcmp', attempt: 0, firstSeq: seq, lastSeq: seq, lines };
}

function open(fail: (rows: readonly EventRow[]) => boolean = () => false) {
  const writes: string[][] = [];
  const append = createGatherer(async (rows) => {
    if (fail(rows)) throw new Error('no room');
    writes.push(rows.map(({ runId, firstSeq }) => `${runId}${firstSeq}`));
  });
  return { writes, append };
}

describe('appends of several runs', () => {
  it('at the same time are one write', async () => {
    const { writes, append } = open();
    await Promise.all(['a', 'b', 'c'].map(async (run) => append([row(run, 1)])));
    expect(writes).toEqual([['a1', 'b1', 'c1']]);
  });

  it('are written together as long as all of them are active', async () => {
    const { writes, append } = open();
    const work = async (run: string): Promise<void> => {
      for (let seq = 1; seq <= 20; seq += 1) await append([row(run, seq)]);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(work));
    expect(writes.flat()).toHaveLength(80);
    expect(writes.length).toBeLessThan(30);
  });

  it('go on without a run that has stopped', async () => {
    const { writes, append } = open();
    await Promise.all([append([row('a', 1)]), append([row('b', 1)])]);
    for (let seq = 2; seq <= 4; seq += 1) await append([row('a', seq)]);
    expect(writes).toEqual([['a1', 'b1'], ['a2'], ['a3'], ['a4']]);
  });

  it('are written in parts if they are large', async () => {
    const { writes, append } = open();
    const large = 'x'.repeat(3_000_000);
    await Promise.all([1, 2, 3].map(async (seq) => append([row('a', seq, large)])));
    expect(writes).toEqual([['a1'], ['a2'], ['a3']]);
  });

  it('that fail do not stop those that follow', async () => {
    const { writes, append } = open((rows) => rows.some(({ runId }) => runId === 'bad'));
    await expect(append([row('bad', 1)])).rejects.toThrow('no room');
    await append([row('good', 1)]);
    await append([]);
    expect(writes).toEqual([['good1'], []]);
  });
});
