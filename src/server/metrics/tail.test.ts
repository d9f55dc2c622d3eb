import { describe, expect, it } from 'vitest';
import { createTail } from './create-metrics.js';

interface Row {
  readonly id: string;
  readonly at: number;
}

/** A growing list, listed in pages of two. */
function createGrowingList(elsewhere: readonly string[] = []) {
  const rows: Row[] = [];
  const reported: string[] = [];
  const reportNew = createTail<Row>({
    from: 1000,
    async list(since, { cursor = '0' }) {
      const matching = rows.filter(({ at }) => at >= since).toSorted((one, other) => one.at - other.at);
      const next = Number(cursor) + 2;
      return { items: matching.slice(Number(cursor), next), next_cursor: next < matching.length ? String(next) : null };
    },
    toTailEntry: (row) => row,
    claim: async (ids) => ids.filter((id) => !elsewhere.includes(id)),
    report: ({ id }) => void reported.push(id),
  });
  return { rows, reported, reportNew };
}

describe('a tail', () => {
  it('reports each entry once, from its start time on', async () => {
    const { rows, reported, reportNew } = createGrowingList();
    rows.push({ id: 'old', at: 999 }, { id: 'a', at: 1000 }, { id: 'b', at: 2000 }, { id: 'c', at: 2000 });
    await reportNew();
    rows.push({ id: 'd', at: 2000 }, { id: 'e', at: 3000 });
    await reportNew();
    await reportNew();
    expect(reported).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('also reports entries that another host wrote slightly late', async () => {
    const { rows, reported, reportNew } = createGrowingList();
    rows.push({ id: 'a', at: 50_000 });
    await reportNew();
    rows.push({ id: 'late', at: 45_000 });
    await reportNew();
    expect(reported).toEqual(['a', 'late']);
  });

  it('loses nothing if reading a newest-first list fails halfway', async () => {
    const pages = [[{ id: 'new', at: 100_000 }], [{ id: 'old', at: 50_000 }]];
    const reported: string[] = [];
    let isBroken = true;
    const reportNew = createTail<Row>({
      from: 1000,
      async list(since, { cursor = '0' }) {
        if (cursor === '1' && isBroken) throw new Error('out of reach');
        const items = (pages[Number(cursor)] ?? []).filter(({ at }) => at >= since);
        return { items, next_cursor: cursor === '0' ? '1' : null };
      },
      toTailEntry: (row) => row,
      claim: async (ids) => ids,
      report: ({ id }) => void reported.push(id),
    });
    await expect(reportNew()).rejects.toThrow('out of reach');
    isBroken = false;
    await reportNew();
    expect(reported).toEqual(['new', 'old']);
  });

  it('skips entries that another process has reported', async () => {
    const { rows, reported, reportNew } = createGrowingList(['b']);
    rows.push({ id: 'a', at: 2000 }, { id: 'b', at: 2000 }, { id: 'c', at: 3000 });
    await reportNew();
    await reportNew();
    expect(reported).toEqual(['a', 'c']);
  });

  it('reports nothing twice if two reads overlap', async () => {
    const { rows, reported, reportNew } = createGrowingList();
    rows.push({ id: 'a', at: 2000 });
    await Promise.all([reportNew(), reportNew()]);
    expect(reported).toEqual(['a']);
  });
});
