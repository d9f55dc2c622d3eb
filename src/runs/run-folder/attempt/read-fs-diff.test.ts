import { expect, test } from 'vitest';
import type { RunFolderWarning } from '../run-folder-error.js';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openRunFolder } from '../open-run-folder.js';
import { isArtifactPath, readFsDiff } from './attempt-capture.js';

async function read(text: string | undefined) {
  const folder = await openRunFolder(await makeRunFolder(text === undefined ? {} : { 'fs-diff.1.json': text }));
  const warnings: RunFolderWarning[] = [];
  return {
    diff: await readFsDiff(folder, 1, (warning) => warnings.push(warning)),
    warnings: warnings.map(({ code }) => code),
  };
}

test("the list contains the working folder's files, without Sluice's own", async () => {
  expect(
    await read(
      JSON.stringify({
        created: ['artifacts/text.md', '.audit/stdout.1.log', 7],
        modified: 'x',
        deleted: ['a', './.audit/x', 'b'],
      }),
    ),
  ).toEqual({ diff: { created: ['artifacts/text.md'], modified: [], deleted: ['a', 'b'] }, warnings: [] });
});

test('a missing list is undefined, and an invalid list causes a warning', async () => {
  expect(await read(undefined)).toEqual({ diff: undefined, warnings: [] });
  expect(await read('{"created":')).toEqual({ diff: undefined, warnings: ['FS_DIFF_IGNORED'] });
  expect(await read('null')).toEqual({ diff: undefined, warnings: ['FS_DIFF_IGNORED'] });
  expect(await read('[]')).toEqual({ diff: undefined, warnings: ['FS_DIFF_IGNORED'] });
});

test.each([
  ['a.md', true],
  ['artifacts/汉字.md', true],
  ['..a/b', true],
  ['', false],
  ['../a', false],
  ['a/../../b', false],
  ['/etc/passwd', false],
  [String.raw`C:\x`, false],
  [String.raw`a\..\..\b`, false],
  ['sub/.audit/x', false],
  ['a\0b', false],
])('%j is an artifact path: %s', (path, expected) => {
  expect(isArtifactPath(path)).toBe(expected);
});
