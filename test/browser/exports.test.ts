import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BUNDLED_MAIN } from '../command-stage.js';
import { seedConsole } from './seed-console.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';

const run = promisify(execFile);
const app = useConsole(seedConsole);

/** Clicks a button that downloads a file, and returns the path of the file. */
async function download(page: Page, button: Locator): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-download-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

/** Unpacks a downloaded case as described in its tooltip, and runs the suite; returns its report. */
async function runSuite(archive: string): Promise<string> {
  const suite = join(archive, '..', 'sluice-suite');
  await mkdir(suite);
  await run('tar', ['-xf', archive, '-C', suite]);
  const args = [BUNDLED_MAIN, 'suite', 'run', '--suite', suite, '--json'];
  return (await run(process.execPath, args)).stdout;
}

/** Opens the menu of a run page, and returns one of its links. */
async function openMenu(page: Page, name: string): Promise<Locator> {
  await page.locator('summary').filter({ hasText: 'More' }).click();
  return page.getByRole('link', { name });
}

describe('a report', () => {
  it('of a run is one HTML file without scripts and links', async () => {
    const { page } = await app.open(`/runs/${app.seeds.reviewed}`);
    await waitUntilLoaded(page);
    const file = await download(page, await openMenu(page, 'Report'));
    expect(file).toMatch(/\.html$/);
    const html = await readFile(file, 'utf8');
    expect(html).toContain('Review how the list is sorted.');
    expect(html).not.toMatch(/<script|<link|<img|<iframe|src=/i);
    // It can be opened from disk, without a server.
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
    const other = await context?.newPage();
    await other?.setContent(html);
    await expect.poll(async () => other?.locator('body').innerText()).toContain('The copy is sorted, the list is not.');
    await context?.close();
  });

  it('of a waiting result is offered in the inbox', async () => {
    const { page } = await app.open(`/inbox/${app.seeds.item}`);
    await waitUntilLoaded(page);
    const html = await readFile(await download(page, page.getByRole('link', { name: 'Report' })), 'utf8');
    expect(html).toContain('acme/shop#9');
  });
});

describe('a test case', () => {
  it.each([
    [
      'the inbox',
      () => `/inbox/${app.seeds.item}`,
      async (page: Page) => page.getByRole('link', { name: 'Test case' }),
    ],
    ['a run page', () => `/runs/${app.seeds.reviewed}`, async (page: Page) => openMenu(page, 'Test case')],
  ])('of %s passes in a suite', async (_, getPath, findLink) => {
    const { page } = await app.open(getPath());
    await waitUntilLoaded(page);
    const file = await download(page, await findLink(page));
    expect(JSON.parse(await runSuite(file))).toMatchObject({ cases: 1, failed: 0, reports: [{ status: 'same' }] });
  });

  it('from the workbench has input, schema and options, and passes in a suite', async () => {
    const { page } = await app.open('/workbench');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Model output').getByRole('textbox').fill('Sure: {"count": "3",}');
    await page.getByLabel('JSON Schema').fill('{"properties": {"count": {"type": "integer"}}}');
    await page.getByLabel('Align').check();
    await page.locator('.outcome').getByText('Success', { exact: true }).waitFor();
    const file = await download(page, page.getByRole('button', { name: 'Test case' }));
    expect(JSON.parse(await runSuite(file))).toMatchObject({ cases: 1, failed: 0, reports: [{ status: 'same' }] });
    const { stdout } = await run('tar', ['-xOf', file]);
    expect(stdout).toContain('"count": "3"');
    expect(stdout).toContain('integer');
  });
});
