import { describe, expect, it } from 'vitest';
import { createTail } from './tail.js';

interface Row {
  readonly id: string;
  readonly at: number;
}

/** A list that grows, read in pages of two. */
function growing() {
  const rows: Row[] = [];
  const told: string[] = [];
  const look = createTail<Row>({
    from: 1000,
    async list(since, cursor = '0') {
      const found = rows.filter(({ at }) => at >= since).toSorted((one, other) => one.at - other.at);
      const next = Number(cursor) + 2;
      return { items: found.slice(Number(cursor), next), next_cursor: next < found.length ? String(next) : null };
    },
    happeningOf: (row) => row,
    tell: ({ id }) => void told.push(id),
  });
  return { rows, told, look };
}

describe('a tail', () => {
  it('tells each thing once, from its beginning on', async () => {
    const { rows, told, look } = growing();
    rows.push({ id: 'old', at: 999 }, { id: 'a', at: 1000 }, { id: 'b', at: 2000 }, { id: 'c', at: 2000 });
    await look();
    rows.push({ id: 'd', at: 2000 }, { id: 'e', at: 3000 });
    await look();
    await look();
    expect(told).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('also tells what another machine wrote a little late', async () => {
    const { rows, told, look } = growing();
    rows.push({ id: 'a', at: 50_000 });
    await look();
    rows.push({ id: 'late', at: 45_000 });
    await look();
    expect(told).toEqual(['a', 'late']);
  });

  it('tells nothing twice when two look at once', async () => {
    const { rows, told, look } = growing();
    rows.push({ id: 'a', at: 2000 });
    await Promise.all([look(), look()]);
    expect(told).toEqual(['a']);
  });
});
