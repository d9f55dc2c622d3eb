import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findInstalledChromium } from './installed-chromium.js';

/** Creates a folder with executables of these names. */
async function createFolder(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-browser-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  for (const name of names) {
    await writeFile(join(folder, name), '');
    await chmod(join(folder, name), 0o755);
  }
  return folder;
}

it('prefers the headless browser, wherever it is on PATH', async () => {
  const folders = [await createFolder('google-chrome'), await createFolder('chromium-headless-shell')];
  await expect(findInstalledChromium(folders.join(delimiter))).resolves.toBe(
    join(folders[1] ?? '', 'chromium-headless-shell'),
  );
});

it('explains what to do if no browser is installed', async () => {
  await expect(findInstalledChromium(await createFolder())).rejects.toThrow('SLUICE_CHROMIUM');
});
