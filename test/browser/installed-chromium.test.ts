import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { installedChromium } from './installed-chromium.js';

/** A folder with programs of these names. */
async function makeFolder(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-browser-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  for (const name of names) {
    await writeFile(join(folder, name), '');
    await chmod(join(folder, name), 0o755);
  }
  return folder;
}

it('takes the browser that shows no window, wherever on PATH it is', async () => {
  const folders = [await makeFolder('google-chrome'), await makeFolder('chromium-headless-shell')];
  await expect(installedChromium(folders.join(delimiter))).resolves.toBe(
    join(folders[1] ?? '', 'chromium-headless-shell'),
  );
});

it('explains what to do if none is installed', async () => {
  await expect(installedChromium(await makeFolder())).rejects.toThrow('SLUICE_CHROMIUM');
});
