import { chromium } from 'playwright-core';
import type { BrowserServer } from 'playwright-core';
import { unpackChromium } from './unpack-chromium.js';

/** Starts the browser as a process that several programs can use. */
export async function launchChromium(fonts: { readonly withSystemFonts?: boolean } = {}): Promise<BrowserServer> {
  const { executablePath, env } = await unpackChromium(fonts);
  return chromium.launchServer({ executablePath, args: ['--no-sandbox'], env: { ...process.env, ...env } });
}
