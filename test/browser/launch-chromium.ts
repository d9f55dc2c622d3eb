import { chromium } from 'playwright-core';
import type { BrowserServer } from 'playwright-core';
import { findInstalledChromium } from './installed-chromium.js';
import { unpackChromium, type Chromium, type Fonts } from './unpack-chromium.js';

/** Starts the browser as a process that multiple clients can use. */
export async function launchChromium(fonts: Fonts = {}): Promise<BrowserServer> {
  const { executablePath, env } = await chooseChromium(fonts);
  return chromium.launchServer({ executablePath, args: ['--no-sandbox'], env: { ...process.env, ...env } });
}

/** Chooses the browser named by `SLUICE_CHROMIUM`, or the npm package's, which exists only for Linux on x64. */
async function chooseChromium(fonts: Fonts): Promise<Chromium> {
  const own = process.env['SLUICE_CHROMIUM'];
  if (own !== undefined) return { executablePath: own, env: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return unpackChromium(fonts);
  return { executablePath: await findInstalledChromium(), env: {} };
}
