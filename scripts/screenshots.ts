/**
 * Takes the screenshots of the console for the README: `npm run screenshots`. Opens every page of a new server in the
 * test browser and writes it to `docs/screenshots`. Needs pngquant, because the package contains some of them.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { launchChromium } from '../test/browser/launch-chromium.js';
import { setup } from '../test/build-product.js';
import { seedHistory } from '../test/browser/seed-history.js';
import { seedConsole } from '../test/browser/seed-console.js';
import { waitUntilLoaded } from '../test/browser/wait-until-loaded.js';
import { startSite } from '../test/browser/start-site.js';
import { PROJECT } from './run-tool.js';

const FOLDER = join(PROJECT, 'docs/screenshots');
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

interface Screenshot {
  readonly name: string;
  readonly path: string;
  readonly theme?: 'dark';
  readonly size?: typeof PHONE;
  /** The element to select before the screenshot is taken, by its text. */
  readonly selected?: string;
}

/** Pause between the lines of an agent: without one, its timeline would look unrealistic. */
const LINE_DELAY_MS = 350;

// The server of the tests, built from these sources.
await setup();
const site = await startSite();
// With the host's fonts: the browser's own fonts include no monospaced one.
const server = await launchChromium({ withSystemFonts: true });
try {
  await seedHistory(site.data);
  const { reviewed, asking, item } = await seedConsole(site, { paceMs: LINE_DELAY_MS });
  const screenshots: readonly Screenshot[] = [
    { name: 'now', path: '/now' },
    { name: 'runs', path: '/runs' },
    { name: 'start-run', path: '/runs?start' },
    { name: 'run', path: `/runs/${reviewed}`, selected: 'command_execution' },
    { name: 'run-asks', path: `/runs/${asking}` },
    { name: 'inbox', path: `/inbox/${item}` },
    { name: 'issues', path: '/issues/acme%2Fshop%239' },
    { name: 'outbox', path: '/outbox' },
    { name: 'executions', path: '/executions' },
    { name: 'workbench', path: '/workbench' },
    { name: 'workers', path: '/workers' },
    { name: 'charts', path: '/charts?range=week' },
    { name: 'charts-dark', path: '/charts?range=week', theme: 'dark' },
    { name: 'run-dark', path: `/runs/${reviewed}`, selected: 'command_execution', theme: 'dark' },
    { name: 'inbox-phone', path: `/inbox/${item}`, size: PHONE },
    { name: 'runs-phone-dark', path: '/runs', size: PHONE, theme: 'dark' },
  ];
  await mkdir(FOLDER, { recursive: true });
  const browser = await chromium.connect(server.wsEndpoint());
  for (const { name, path, selected, theme = 'light', size = DESKTOP } of screenshots) {
    const context = await browser.newContext({
      locale: 'en-US',
      baseURL: site.url,
      colorScheme: theme,
      viewport: size,
      isMobile: size === PHONE,
      reducedMotion: 'reduce',
    });
    if (site.cookie !== undefined) await context.addCookies([{ ...site.cookie, url: site.url }]);
    const page = await context.newPage();
    await page.goto(path);
    await waitUntilLoaded(page);
    if (selected !== undefined) await page.locator('.choose').filter({ hasText: selected }).first().click();
    // Canvas drawings and individually measured rows appear shortly after the rest.
    await page.waitForTimeout(1000);
    const file = join(FOLDER, `${name}.png`);
    await page.screenshot({ path: file });
    execFileSync('pngquant', ['--force', '--output', file, '--', file], { stdio: 'inherit' });
    console.log(`${name}.png ${Math.round((await stat(file)).size / 1000)} kB`);
    await context.close();
  }
  await browser.close();
} finally {
  await server.close();
  await site.stop();
}
