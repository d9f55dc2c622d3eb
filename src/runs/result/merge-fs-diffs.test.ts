import { expect, test } from 'vitest';
import { hasChanges, mergeFsDiffs, NO_CHANGES } from './run-findings.js';

const diff = (changes: Partial<typeof NO_CHANGES>) => ({ ...NO_CHANGES, ...changes });

test.each([
  ['created, then modified: created', { created: ['a'] }, { modified: ['a'] }, { created: ['a'] }],
  ['created, then deleted: no change', { created: ['a'] }, { deleted: ['a'] }, {}],
  ['deleted, then created: modified', { deleted: ['a'] }, { created: ['a'] }, { modified: ['a'] }],
  ['modified, then deleted: deleted', { modified: ['a'] }, { deleted: ['a'] }, { deleted: ['a'] }],
  ['modified twice: modified', { modified: ['a'] }, { modified: ['a'] }, { modified: ['a'] }],
  ['different files: all of them', { created: ['b'] }, { created: ['a'] }, { created: ['a', 'b'] }],
])('%s', (_, first, second, merged) => {
  expect(mergeFsDiffs(diff(first), diff(second))).toEqual(diff(merged));
});

test('hasChanges is true for any change', () => {
  expect(hasChanges(NO_CHANGES)).toBe(false);
  expect(hasChanges(diff({ deleted: ['a'] }))).toBe(true);
});
