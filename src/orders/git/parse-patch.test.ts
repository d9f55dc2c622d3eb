import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePatch, DISPLAY_LIMITS, type ListedFile } from './read-change.js';

const PATCH = `diff --git a/src/a.ts b/src/a.ts
index 111..222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@ function add()
 one
-two
+TWO
 three
@@ -10 +10,2 @@
 ten
+eleven
\\ No newline at end of file
diff --git a/logo.png b/logo.png
index 333..444 100644
--- a/logo.png
+++ b/logo.png
@@ -1 +1 @@
-a\0b
+a\0c
`;
const list = (...paths: readonly string[]): readonly ListedFile[] =>
  paths.map((path) => ({ file: { path, change: 'modified' }, sections: 1 }));
const FILES = list('src/a.ts', 'logo.png');

describe('parsePatch', () => {
  test('numbers the lines before and after the change', () => {
    const [file] = parsePatch(PATCH, FILES, true);
    expect(file).toMatchObject({ path: 'src/a.ts', change: 'modified', added: 2, removed: 1, truncated: false });
    expect(file?.hunks.map(({ heading }) => heading)).toEqual(['function add()', '']);
    expect(file?.hunks.flatMap(({ lines }) => lines)).toEqual([
      { kind: 'same', old_line: 1, new_line: 1, text: 'one' },
      { kind: 'removed', old_line: 2, new_line: null, text: 'two' },
      { kind: 'added', old_line: null, new_line: 2, text: 'TWO' },
      { kind: 'same', old_line: 3, new_line: 3, text: 'three' },
      { kind: 'same', old_line: 10, new_line: 10, text: 'ten' },
      { kind: 'added', old_line: null, new_line: 11, text: 'eleven' },
    ]);
  });

  test('shows no lines of a binary file', () => {
    expect(parsePatch(PATCH, FILES, true)[1]).toMatchObject({ path: 'logo.png', binary: true, hunks: [] });
  });

  test('uses the file names from the list, not from the patch or the content', () => {
    const forged = PATCH.replace('+TWO', '+diff --git a/x b/x\n+@@ -1 +1 @@\n+Binary files differ');
    const maliciousFiles = list('"a\nb\t<script>"', 'logo.png');
    const files = parsePatch(forged, maliciousFiles, true);
    expect(files.map(({ path }) => path)).toEqual(['"a\nb\t<script>"', 'logo.png']);
    expect(files[0]).toMatchObject({ added: 4, binary: false });
  });

  test.each(['\r', '\u2028', '\u2029'])('finds no file header after %j inside a line', (separator) => {
    const forged = PATCH.replace('+TWO', `+TWO${separator}diff --git a/x b/x`);
    expect(parsePatch(forged, FILES, true)).toMatchObject([
      { path: 'src/a.ts', added: 2, removed: 1 },
      { path: 'logo.png', binary: true },
    ]);
  });

  test.each(['\r', '\u2028'])('reads a hunk whose heading contains %j', (separator) => {
    const [file] = parsePatch(PATCH.replace('@@ function add()', `@@ function${separator}add()`), FILES, true);
    expect(file?.hunks.map(({ heading }) => heading)).toEqual([`function${separator}add()`, '']);
    expect(file).toMatchObject({ added: 2, removed: 1 });
  });

  test('reads both sections of a file that became a link', () => {
    const patch = `diff --git a/a b/a
deleted file mode 100644
@@ -1 +0,0 @@
-one
diff --git a/a b/a
new file mode 120000
@@ -0,0 +1 @@
+../b
\\ No newline at end of file
${PATCH}`;
    const link: ListedFile = { file: { path: 'a', change: 'modified' }, sections: 2 };
    const [first, second] = parsePatch(patch, [link, ...FILES], true);
    expect(first).toMatchObject({ path: 'a', added: 1, removed: 1 });
    expect(second).toMatchObject({ path: 'src/a.ts', added: 2, removed: 1 });
  });

  test('marks the file where the patch was truncated, and every file after it', () => {
    const files = parsePatch(PATCH.slice(0, PATCH.indexOf(' three')), FILES, false);
    expect(files.map(({ truncated }) => truncated)).toEqual([true, true]);
  });

  test('shows a bounded number of lines of a bounded length, and counts all', () => {
    const lines = Array.from({ length: 50 }, (_, index) => `+${index}${'x'.repeat(100)}`).join('\n');
    const patch = `diff --git a/a b/a\n@@ -0,0 +1,50 @@\n${lines}\n`;
    const limits = { fileLines: 30, lines: 40, lineLength: 20 };
    const files = parsePatch(patch + patch, list('a', 'b'), true, limits);
    expect(files.map(({ hunks }) => hunks[0]?.lines.length)).toEqual([30, 10]);
    expect(files.map(({ added, truncated }) => [added, truncated])).toEqual([
      [50, true],
      [50, true],
    ]);
    expect(files[0]?.hunks[0]?.lines.every(({ text }) => text.length <= 20)).toBe(true);
  });

  test('never throws on arbitrary input, and nothing exceeds the limits', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PATCH.split('\n'), '@@ -1,9 +1,9 @@', '+', '')), (rows) => {
        const files = parsePatch(rows.join('\n'), FILES, false);
        expect(files).toHaveLength(2);
        for (const { hunks } of files)
          expect(hunks.flatMap(({ lines }) => lines).length).toBeLessThanOrEqual(DISPLAY_LIMITS.fileLines);
      }),
    );
  });
});
