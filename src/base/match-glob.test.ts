import { expect, test } from 'vitest';
import { matchPathGlob } from './text.js';

test.each([
  ['src/**', 'src/a.ts', true],
  ['src/**', 'src/a/b.ts', true],
  ['src/**', 'source/a.ts', false],
  ['src/*', 'src/a/b.ts', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/a.tsx', false],
  ['**/*.md', 'README.md', true],
  ['**/*.md', 'docs/a/b.md', true],
  ['src/**/test/*', 'src/a/b/test/x', true],
  ['src/**/test/*', 'src/test/x', true],
  ['**/b', 'ab', false],
  ['**/b', 'a/b', true],
  ['src/**', 'src', false],
  ['a**b', 'a/b', false],
  ['src', 'src/a.ts', true],
  ['src/', 'src/a.ts', true],
  ['src', 'srcs/a.ts', false],
  ['./src/a.ts', 'src/a.ts', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['*', 'a/b', false],
  ['**', 'a/b', true],
  ['a.b', 'axb', false],
  ['docs/[x]', 'docs/[x]', true],
])('matchPathGlob of %s for %s is %s', (glob, path, expected) => {
  expect(matchPathGlob(glob, path)).toBe(expected);
});

test('matchPathGlob takes bounded time for a malicious glob', () => {
  expect(matchPathGlob(`${'*a'.repeat(200)}b`, 'a'.repeat(400))).toBe(false);
  expect(matchPathGlob(`${'**/'.repeat(100)}b`, 'a/'.repeat(200))).toBe(false);
});
