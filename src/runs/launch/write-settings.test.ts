import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeSettings } from './prepare-launch.js';

async function makeFolders() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-settings-')));
  onTestFinished(async () => rm(root, { recursive: true, force: true }));
  const [runDir, elsewhere] = [join(root, 'run'), join(root, 'elsewhere')];
  await mkdir(runDir);
  await mkdir(elsewhere);
  return { runDir, elsewhere };
}

test('settings are written with their folders, and replace earlier settings', async () => {
  const { runDir } = await makeFolders();
  const path = join(runDir, 'a', 'b', 'settings.json');
  for (const text of ['{"long": true}', '{}']) {
    await writeSettings(runDir, [{ path, text }]);
    expect(await readFile(path, 'utf8')).toBe(text);
  }
  await writeSettings(runDir, [{ path: join(runDir, 'top.json'), text: 'x' }]);
  expect(await readFile(join(runDir, 'top.json'), 'utf8')).toBe('x');
});

test('a link in place of the file is replaced, not followed', async () => {
  const { runDir, elsewhere } = await makeFolders();
  await writeFile(join(elsewhere, 'victim'), 'mine');
  await symlink(join(elsewhere, 'victim'), join(runDir, 'settings.json'));
  await writeSettings(runDir, [{ path: join(runDir, 'settings.json'), text: 'x' }]);
  expect(await readFile(join(elsewhere, 'victim'), 'utf8')).toBe('mine');
  expect(await readFile(join(runDir, 'settings.json'), 'utf8')).toBe('x');
});

test('a link in place of a folder, or a path outside the run folder, is rejected', async () => {
  const { runDir, elsewhere } = await makeFolders();
  await symlink(elsewhere, join(runDir, 'tmp'));
  for (const path of [join(runDir, 'tmp', 'README.txt'), join(elsewhere, 'x')]) {
    await expect(writeSettings(runDir, [{ path, text: 'x' }])).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  }
  expect(await readdir(elsewhere)).toEqual([]);
});
