import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/server/api/index.js';
import { compareChanges, findEqual } from './issues-page.js';

type Line = Change['files'][number]['hunks'][number]['lines'][number];

/** Writes a change of one file: ` same`, `-removed` and `+added` lines, from a line number of the commit. */
function change(lines: readonly string[], from = 1, more: Partial<Change['files'][number]> = {}): Change {
  let oldLine = from - 1;
  let newLine = from - 1;
  const hunk = lines.map((line): Line => {
    const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
    if (kind !== 'added') oldLine += 1;
    if (kind !== 'removed') newLine += 1;
    return {
      kind,
      old_line: kind === 'added' ? null : oldLine,
      new_line: kind === 'removed' ? null : newLine,
      text: line.slice(1),
    };
  });
  const file = {
    path: 'list.ts',
    change: 'modified',
    added: 1,
    removed: 1,
    binary: false,
    truncated: false,
    hunks: [{ heading: '', lines: hunk }],
    ...more,
  } as const;
  return {
    issue_ref: 'a#1',
    run_id: 'r',
    source: 'worktree',
    base_commit: 'c',
    commit: null,
    files: [file],
    truncated: false,
  };
}

const NO_CHANGE: Change = { ...change([]), files: [] };
const write = (one: Change, other: Change) =>
  compareChanges(one, other).map(({ path, lines }) => [
    path,
    lines.map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`).join('\n'),
  ]);

describe('the difference between two changes', () => {
  test('is nothing if both leave the same file', () => {
    expect(write(change([' a', '-b', '+c']), change(['-b', '+c'], 2))).toEqual([]);
  });

  test('is what one run has and the other has not', () => {
    expect(write(change([' a', '-b', '+x', ' c']), change([' a', '-b', '+y', ' c']))).toEqual([
      ['list.ts', ' a\n-x\n+y\n c'],
    ]);
  });

  test('takes the lines of the commit where only one run has edited', () => {
    expect(write(change(['-b', '+x'], 2), change(['-z', '+w'], 26))).toEqual([['list.ts', '-x\n-z\n+b\n+w']]);
    expect(write(NO_CHANGE, change([' a', '+b']))).toEqual([['list.ts', ' a\n+b']]);
  });

  test('includes a new file, and names one that cannot be compared', () => {
    expect(write(NO_CHANGE, change(['+first', '+second']))).toEqual([['list.ts', '+first\n+second']]);
    expect(compareChanges(NO_CHANGE, change(['+a'], 1, { binary: true }))).toEqual([
      { path: 'list.ts', lines: [], isPartial: true },
    ]);
  });
});

test('equal changes are recognized, but unknown and empty ones are not', () => {
  const same = change([' a', '+b']);
  const runs = [
    { run_id: 'r1', change: same },
    { run_id: 'r2', change: change([' a', '+c']) },
    { run_id: 'r3', change: { ...same, run_id: 'other' } },
    { run_id: 'r4', change: NO_CHANGE },
    { run_id: 'r5', change: NO_CHANGE },
    { run_id: 'r6', change: change([], 1, { binary: true }) },
    { run_id: 'r7', change: change([], 1, { binary: true }) },
  ];
  expect([...findEqual(runs)]).toEqual([['r3', 'r1']]);
});
