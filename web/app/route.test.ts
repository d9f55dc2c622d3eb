import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRoute, toPath } from './route.js';
import type { Route } from './route.js';

const route: fc.Arbitrary<Route> = fc.oneof(
  fc
    .constantFrom(
      'runs' as const,
      'outbox' as const,
      'executions' as const,
      'workbench' as const,
      'workers' as const,
      'charts' as const,
    )
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

test('the root path is the list of runs', () => {
  expect(readRoute('/')).toEqual({ page: 'runs' });
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
