import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathOf, readRoute } from './route.js';
import type { Route } from './route.js';

const route: fc.Arbitrary<Route> = fc.oneof(
  fc
    .constantFrom('runs' as const, 'outbox' as const, 'audit' as const, 'workbench' as const, 'charts' as const)
    .map((page) => ({ page })),
  fc.string({ minLength: 1, unit: 'grapheme' }).map((id) => ({ page: 'run' as const, id })),
  fc.option(fc.string({ minLength: 1, unit: 'grapheme' })).map((id) => ({ page: 'inbox' as const, id })),
  fc.option(fc.string({ minLength: 1, unit: 'grapheme' })).map((ref) => ({ page: 'issues' as const, ref })),
);

test('a path leads back to the route it was made of', () => {
  fc.assert(
    fc.property(route, (value) => {
      expect(readRoute(pathOf(value))).toEqual(value);
    }),
  );
});

test('the first page is the list of runs', () => {
  expect(readRoute('/')).toEqual({ page: 'runs' });
});

test('a reference with a slash stays one part', () => {
  expect(pathOf({ page: 'issues', ref: 'owner/project#7' })).toBe('/issues/owner%2Fproject%237');
});

test.each(['/nothing', '/runs/1/2', '/outbox/1'])('%s is no page', (path) => {
  expect(readRoute(path)).toEqual({ page: 'unknown', path });
});

test('a broken escape is taken as it stands', () => {
  expect(readRoute('/runs/%zz')).toEqual({ page: 'run', id: '%zz' });
});
