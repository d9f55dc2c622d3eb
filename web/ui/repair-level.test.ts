import { expect, test } from 'vitest';
import { isOnlyExtracted } from './parts.js';

test.each([
  ['deterministic_generic', ['extracted'], true],
  ['deterministic_generic', ['extracted', 'missing_comma'], false],
  ['deterministic_generic', [], false],
  ['schema_aligned', ['extracted'], false],
  ['none', [], false],
] as const)('%s with %j is only extracted: %s', (level, kinds, expected) => {
  expect(isOnlyExtracted(level, kinds)).toBe(expected);
});
