import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PAGE_GROUPS, PAGE_NAMES, PAGES, readRoute, toPath } from './route.js';
import type { PageName, Route } from './route.js';

const route: fc.Arbitrary<Route> = fc.oneof(
  fc
    .constantFrom(...PAGE_NAMES.filter((name): name is Exclude<PageName, 'inbox' | 'issues'> => !name.startsWith('i')))
    .map((page) => ({ page })),
  fc.string({ minLength: 1, unit: 'grapheme' }).map((id) => ({ page: 'run' as const, id })),
  fc.option(fc.string({ minLength: 1, unit: 'grapheme' })).map((id) => ({ page: 'inbox' as const, id })),
  fc.option(fc.string({ minLength: 1, unit: 'grapheme' })).map((ref) => ({ page: 'issues' as const, ref })),
);

test('readRoute is the inverse of toPath', () => {
  fc.assert(
    fc.property(route, (value) => {
      expect(readRoute(toPath(value))).toEqual(value);
    }),
  );
});

test('the root path is what happens now', () => {
  expect(readRoute('/')).toEqual({ page: 'now' });
});

test('a reference with a slash stays one path segment', () => {
  expect(toPath({ page: 'issues', ref: 'owner/project#7' })).toBe('/issues/owner%2Fproject%237');
});

test.each(['/nothing', '/runs/1/2', '/outbox/1'])('%s is not a page', (path) => {
  expect(readRoute(path)).toEqual({ page: 'unknown', path });
});

test('an invalid escape is kept unchanged', () => {
  expect(readRoute('/runs/%zz')).toEqual({ page: 'run', id: '%zz' });
});

test('every page is in a group of the navigation, and has a key for itself', () => {
  expect(PAGE_GROUPS.flatMap(({ pages }) => pages)).toEqual(PAGE_NAMES);
  expect(new Set(Object.values(PAGES).map(({ key }) => key)).size).toBe(PAGE_NAMES.length);
});
