import { expect, test } from 'vitest';
import { readColumns } from './run-table.js';
import { putView, readViews } from './runs-page.js';

test('valid views are read, others are skipped', () => {
  const view = { name: 'Mine', query: 'outcome=failed' };
  expect(readViews(JSON.stringify([view, { name: 1 }, null, 'x', { name: 'long', query: 'x'.repeat(5000) }]))).toEqual([
    view,
  ]);
  for (const text of [null, '', '{', '{}', '7']) expect(readViews(text)).toEqual([]);
});

test('a view with the longest possible search is read', () => {
  const query = new URLSearchParams({ search: '日'.repeat(200), outcome: 'failed' }).toString();
  const views = putView([], { name: 'Long', query });
  expect(readViews(JSON.stringify(views))).toEqual(views);
});

test('a view replaces one with the same name, and needs a name', () => {
  const views = putView([], { name: ' Mine ', query: 'a=1' });
  expect(putView(views, { name: 'Mine', query: 'a=2' })).toEqual([{ name: 'Mine', query: 'a=2' }]);
  expect(putView(views, { name: '  ', query: 'a=2' })).toBe(views);
});

test('columns keep their order, and unknown ones are skipped', () => {
  expect(readColumns('duration,Nonsense,engine')).toEqual(['engine', 'duration']);
  expect(readColumns('')).toEqual([]);
  expect(readColumns(null)).toContain('cost');
});
