import { run } from '../../scripts/run-tool.js';
import { findExecutable } from '../../src/base/files/index.js';

/** Names on PATH, and the usual locations on macOS and Windows, where browsers are not on PATH. */
const PROGRAMS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Debian's package of the headless browser. */
const DEBIAN_PACKAGE = 'chromium-headless-shell';

/**
 * Finds the browser installed on this host, for platforms without one on npm. If none exists, installs Debian's if this
 * process has permission, as in a container or in CI.
 */
export async function findInstalledChromium(path: string = process.env['PATH'] ?? ''): Promise<string> {
  const found = (await findFirst(path)) ?? ((await installWithApt(path)) ? await findFirst(path) : undefined);
  if (found !== undefined) return found;
  throw new Error(
    `npm has no browser for ${process.platform} ${process.arch}, and none is installed: install Chromium or Chrome, or set SLUICE_CHROMIUM to its path`,
  );
}

async function findFirst(path: string): Promise<string | undefined> {
  for (const program of PROGRAMS) {
    const file = await findExecutable(program, { path, cwd: process.cwd() });
    if (file !== undefined) return file;
  }
  return undefined;
}

/** Returns whether the installation succeeded. */
async function installWithApt(path: string): Promise<boolean> {
  const apt = await findExecutable('apt-get', { path, cwd: process.cwd() });
  if (apt === undefined || process.getuid?.() !== 0) return false;
  process.stderr.write(`installing ${DEBIAN_PACKAGE} with apt-get\n`);
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', DEBIAN_PACKAGE]]) {
    const { exitCode, stderr } = await run(apt, ['--quiet', ...args], process.cwd());
    if (exitCode === 0) continue;
    process.stderr.write(stderr);
    return false;
  }
  return true;
}
