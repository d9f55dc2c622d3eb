import { describe, expect, test } from 'vitest';
import {
  isCiPath,
  isTestPath,
  leavesRepository,
  listDeletedTests,
  listPaths,
  listSubmodules,
  parseChanges,
} from './changes.js';

const OID = 'a'.repeat(40);
const row = (letter: string, paths: readonly string[], mode = '100644') =>
  `:100644 ${mode} ${OID} ${OID} ${letter}\0${paths.join('\0')}\0`;

describe('parseChanges', () => {
  test('parses every kind of change, with any file name', () => {
    const raw = [
      row('A', ['src/new.ts']),
      row('M', ['a file\nwith everything " in it']),
      row('D', ['gone.ts'], '000000'),
      row('R097', ['old.ts', 'new.ts']),
      row('T', ['link'], '120000'),
    ].join('');
    expect(parseChanges(raw).map(({ kind, path, oldPath }) => [kind, path, oldPath])).toEqual([
      ['added', 'src/new.ts', undefined],
      ['modified', 'a file\nwith everything " in it', undefined],
      ['deleted', 'gone.ts', undefined],
      ['renamed', 'new.ts', 'old.ts'],
      ['modified', 'link', undefined],
    ]);
  });

  test('returns an empty list for empty output', () => {
    expect(parseChanges('')).toEqual([]);
  });

  test('a renamed file counts with both paths', () => {
    expect(listPaths(parseChanges(row('R100', ['a', 'b'])))).toEqual(['a', 'b']);
  });
});

test.each([
  'test/a.ts',
  'src/__tests__/x.js',
  'a.test.ts',
  'pkg/a_test.go',
  'tests/x.py',
  'test_x.py',
  'spec/x_spec.rb',
  'src/BasketTest.java',
  'test.js',
  'shop/tests.py',
  'src/tests.rs',
  't/basket.t',
])('%s is a test', (path) => {
  expect(isTestPath(path)).toBe(true);
});

test.each(['src/latest.ts', 'contest/a.ts', 'src/attest.ts', 'protest.md', 'docs/spec.md', 'test'])(
  '%s is not a test',
  (path) => {
    expect(isTestPath(path)).toBe(false);
  },
);

test('CI configuration is recognised', () => {
  expect(['.github/workflows/ci.yml', '.gitlab-ci.yml', 'Jenkinsfile'].every(isCiPath)).toBe(true);
  expect(isCiPath('src/github/a.ts')).toBe(false);
});

describe('listDeletedTests', () => {
  test('lists tests that were deleted or moved to a path where they do not run', () => {
    const raw = [row('D', ['test/a.test.ts'], '000000'), row('R100', ['test/c.test.ts', 'attic/c.ts'])].join('');
    expect(listDeletedTests(parseChanges(raw))).toEqual(['test/a.test.ts', 'test/c.test.ts']);
  });

  test('a test that was changed, added or renamed as a test is not deleted', () => {
    const raw = [row('M', ['test/a.test.ts']), row('A', ['test/n.test.ts']), row('R100', ['test/c.ts', 'test/d.ts'])];
    expect(listDeletedTests(parseChanges(raw.join('')))).toEqual([]);
  });
});

test('submodules are listed, and so is a change of their URLs', () => {
  const raw = [row('A', ['vendor/lib'], '160000'), row('M', ['.gitmodules']), row('D', ['old'], '000000')].join('');
  expect(listSubmodules(parseChanges(raw))).toEqual(['vendor/lib', '.gitmodules']);
});

test.each([
  ['a', '/etc/passwd'],
  ['a', '..'],
  ['a/b', '../../x'],
  ['a', 'b/../../x'],
  ['a/b', 'c/../d'],
  ['a', String.raw`..\x`],
])('a link at %s to %s leads out, or could', (path, target) => {
  expect(leavesRepository(path, target)).toBe(true);
});

test.each([
  ['a', 'b'],
  ['a/b', '../c'],
  ['a/b/c', '../../d/e'],
  ['a', './b'],
])('a link at %s to %s stays inside', (path, target) => {
  expect(leavesRepository(path, target)).toBe(false);
});
