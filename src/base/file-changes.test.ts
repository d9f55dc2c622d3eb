import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines, readPatch } from './file-changes.js';

const write = (lines: ReturnType<typeof diffLines>): string =>
  lines.map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`).join('\n');

describe('a line diff', () => {
  test('has the lines that differ, and three lines of context', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = before.with(10, 'another');
    expect(write(diffLines(before.join('\n'), after.join('\n')))).toBe(
      ' line 7\n line 8\n line 9\n-line 10\n+another\n line 11\n line 12\n line 13',
    );
  });

  test('keeps common lines in the middle', () => {
    expect(write(diffLines('a\nb\nc', 'x\nb\ny'))).toBe('-a\n+x\n b\n-c\n+y');
  });

  test('is limited to 2,000 lines', () => {
    const large = Array.from({ length: 5000 }, (_, index) => `${index}`).join('\n');
    expect(diffLines(large, large.replaceAll('1', '2')).length).toBeLessThanOrEqual(2000);
  });

  test('has all lines of a new file, and no changes for equal content', () => {
    expect(write(diffLines('', 'a\nb\n'))).toBe('+a\n+b');
    expect(diffLines('a', 'a').every(({ kind }) => kind === 'same')).toBe(true);
  });

  test('adds as many more lines than it removes as the new text is longer', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const changes = diffLines(before.join('\n'), after.join('\n'));
        const count = (kind: string): number => changes.filter((line) => line.kind === kind).length;
        expect(count('added') - count('removed')).toBe(
          (after.join('\n') === '' ? 0 : after.length) - (before.join('\n') === '' ? 0 : before.length),
        );
      }),
    );
  });

  test('can be read from a patch', () => {
    expect(readPatch('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c\n')).toEqual([
      { kind: 'same', text: '--- a/x' },
      { kind: 'same', text: '+++ b/x' },
      { kind: 'same', text: '@@ -1 +1 @@' },
      { kind: 'removed', text: 'a' },
      { kind: 'added', text: 'b' },
      { kind: 'same', text: 'c' },
    ]);
  });
});
