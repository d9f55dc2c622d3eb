import { expect, test } from 'vitest';
import { hasChanges, mergeFsDiffs, NO_CHANGES } from './merge-fs-diffs.js';

const diff = (changes: Partial<typeof NO_CHANGES>) => ({ ...NO_CHANGES, ...changes });

test.each([
  ['made, then changed: made', { created: ['a'] }, { modified: ['a'] }, { created: ['a'] }],
  ['made, then deleted: nothing', { created: ['a'] }, { deleted: ['a'] }, {}],
  ['deleted, then made: changed', { deleted: ['a'] }, { created: ['a'] }, { modified: ['a'] }],
  ['changed, then deleted: deleted', { modified: ['a'] }, { deleted: ['a'] }, { deleted: ['a'] }],
  ['changed twice: changed', { modified: ['a'] }, { modified: ['a'] }, { modified: ['a'] }],
  ['different files: each', { created: ['b'] }, { created: ['a'] }, { created: ['a', 'b'] }],
])('%s', (_, first, second, merged) => {
  expect(mergeFsDiffs(diff(first), diff(second))).toEqual(diff(merged));
});

test('hasChanges is true for any change', () => {
  expect(hasChanges(NO_CHANGES)).toBe(false);
  expect(hasChanges(diff({ deleted: ['a'] }))).toBe(true);
});
