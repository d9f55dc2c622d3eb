import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { trackChanges } from './track-changes.js';

async function makeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-changes-')));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  return folder;
}

test.each([
  ['next to the working folder', '../data', ['a.txt', 'runs/b.txt']],
  ['inside it', '.sluice', ['a.txt', 'runs/b.txt']],
  ['inside it, with a name that starts with two dots', '..sluice', ['a.txt', 'runs/b.txt']],
  ['that is the working folder itself', '.', ['a.txt']],
])('changes are reported, except in a data folder %s', async (_, dataPath, created) => {
  const workdir = join(await makeFolder(), 'work');
  const data = join(workdir, dataPath);
  await mkdir(join(workdir, 'runs'), { recursive: true });
  await mkdir(join(data, 'runs', 'x'), { recursive: true });
  const tracker = await trackChanges(workdir, data);
  await writeFile(join(workdir, 'a.txt'), '');
  await writeFile(join(workdir, 'runs', 'b.txt'), '');
  await writeFile(join(data, 'runs', 'x', 'c.txt'), '');
  const { fsDiff, warnings } = await tracker.findChanges();
  expect(fsDiff.created).toEqual(created);
  expect(warnings).toEqual([]);
});

test.each([
  'acp-sessions/s.json',
  'mirrors/m.git/HEAD',
  'worktrees/w/a.txt',
  'checks/c/a.txt',
  'comments/acme_shop_1.md',
  'sluice.db',
  'sluice.db-wal',
])('%s in a working folder that is also the data folder is not an artifact', async (path) => {
  const folder = await makeFolder();
  const tracker = await trackChanges(folder, folder);
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), '');
  expect((await tracker.findChanges()).fsDiff.created).toEqual([]);
});
