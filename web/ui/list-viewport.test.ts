import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseRows, createListScale } from './list-viewport.js';

const isNeverDrawn = (): boolean => false;

test('visible rows come before the rows around them', () => {
  const chosen = chooseRows({ visible: [10, 12], around: [8, 14], isDrawn: isNeverDrawn, grantRows: () => 4 });
  expect(chosen).toEqual({ rows: [8, 10, 11, 12], missing: 3 });
});

test('rows that are already in the page stay, and are not requested again', () => {
  const requested: number[] = [];
  const grantRows = (wanted: number): number => {
    requested.push(wanted);
    return 0;
  };
  const chosen = chooseRows({ visible: [10, 12], around: [8, 14], isDrawn: (index) => index < 12, grantRows });
  expect(chosen).toEqual({ rows: [8, 9, 10, 11], missing: 3 });
  expect(requested).toEqual([3]);
});

test('a list without rows has nothing to draw', () => {
  expect(
    chooseRows({ visible: [0, -1], around: [0, -1], isDrawn: isNeverDrawn, grantRows: (wanted) => wanted }),
  ).toEqual({
    rows: [],
    missing: 0,
  });
});

test('draws all rows eventually, in order, even if only a few may be drawn at a time', () => {
  const numbers = fc.record({
    from: fc.nat(50),
    length: fc.nat(40),
    beside: fc.nat(3),
    limit: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(numbers, ({ from, length, beside: overscan, limit }) => {
      const drawnRows = new Set<number>();
      const around = [Math.max(0, from - overscan), from + length + overscan] as const;
      for (let missing = Number.POSITIVE_INFINITY; missing > 0;) {
        const chosen = chooseRows({
          visible: [from, from + length],
          around,
          isDrawn: (index) => drawnRows.has(index),
          grantRows: (wanted) => Math.min(wanted, limit),
        });
        expect(chosen.rows.length - drawnRows.size).toBeLessThanOrEqual(limit);
        expect(chosen.missing).toBeLessThan(missing);
        ({ missing } = chosen);
        for (const index of chosen.rows) drawnRows.add(index);
        expect([...chosen.rows]).toEqual([...drawnRows].toSorted((one, other) => one - other));
      }
      expect(drawnRows.size).toBe(around[1] - around[0] + 1);
    }),
  );
});

test('a list that a browser can draw is not scaled', () => {
  const scale = createListScale(1000, 100);
  expect([scale.pageHeight, scale.toList(40), scale.toPage(40), scale.position(70, 40)]).toEqual([1000, 40, 40, 70]);
});

test('the ends of a list that is too tall are the ends of the scroll bar', () => {
  const scale = createListScale(1_000_000, 100, 10_000);
  expect(scale.pageHeight).toBe(10_000);
  expect(scale.toList(0)).toBe(0);
  expect(scale.toList(10_000 - 100)).toBe(1_000_000 - 100);
});

test('a row in a scaled list keeps its distance from the scroll position', () => {
  const scale = createListScale(1_000_000, 100, 10_000);
  const scrollTop = scale.toPage(500_000);
  expect(scale.toList(scrollTop)).toBeCloseTo(500_000);
  expect(scale.position(500_030, scrollTop) - scrollTop).toBeCloseTo(30);
});
