import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { findCutOff } from '../browser/find-cut-off.js';
import { findProblems, useBrowser } from './open-page.js';

const open = useBrowser();
const sites = inject('sites');
const site = sites[1] ?? { base: '', folder: '', url: '' };
const address = `${site.url}playground.html`;

/** Replaces the input, and waits until it is parsed. */
async function type(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Model output').getByRole('textbox').fill(text);
}

const outcome = async (page: Page): Promise<string> => page.locator('.outcome').innerText();
const value = async (page: Page): Promise<string> =>
  page.getByRole('region', { name: 'The value, line by line' }).innerText();

/** The scripts and styles that a page loaded, by path; without those of pages that it links to. */
async function listLoaded(page: Page): Promise<readonly string[]> {
  const urls = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  return urls
    .map((url) => new URL(url).pathname)
    .filter((path) => /\.(?:js|css)$/.test(path) && !path.includes('.md.'));
}

describe.each(sites)('the playground at $base', ({ url }) => {
  it('parses while one types, and shows repairs, schema errors and the value', async () => {
    const { page } = await open(`${url}playground.html`);
    await page.getByLabel('JSON Schema').fill('{"type": "object", "required": ["score"]}');
    await type(page, 'Sure! {"score": 8,}');
    await expect.poll(async () => outcome(page)).toContain('Repaired');
    await expect.poll(async () => value(page)).toMatch(/score[^]*8/);
    await page.getByRole('button').filter({ hasText: 'extra_comma' }).first().waitFor();
    await type(page, '{"points": 8}');
    await expect.poll(async () => outcome(page)).toContain('SCHEMA_MISMATCH');
  });

  it('works without a network after the first visit, also in the second tab', async () => {
    const { page, context } = await open(`${url}playground.html`);
    await page.evaluate(async () => navigator.serviceWorker.ready);
    await context.setOffline(true);
    await page.reload();
    await type(page, '{"offline": true,}');
    await expect.poll(async () => value(page)).toContain('offline');
    await page.getByText('Other parsers').click();
    await page.getByRole('region', { name: 'Result of jsonrepair' }).waitFor();
    await page.getByRole('button', { name: 'An agent’s log' }).click();
    await page.getByText('I will create the file now.').first().waitFor();
  });
});

describe('the playground', () => {
  it('streams the input', async () => {
    const { page } = await open(address);
    await type(page, '{"a": 1}');
    await expect.poll(async () => value(page)).toContain('"a": 1');
    const streaming = page.getByRole('region', { name: 'Streaming' });
    await streaming.getByRole('button', { name: 'Play' }).click();
    const progress = streaming.getByRole('progressbar');
    await expect.poll(async () => progress.evaluate((bar: HTMLProgressElement) => bar.position)).toBe(1);
    await expect.poll(async () => streaming.getByLabel('The value so far').innerText()).toContain('"a": 1');
  });

  it('compares the result with JSON.parse and jsonrepair', async () => {
    const { page } = await open(address);
    await type(page, '{"city": "Oslo", "temp": 2');
    await expect.poll(async () => outcome(page)).toContain('TRUNCATED');
    expect((await listLoaded(page)).filter((path) => path.includes('jsonrepair'))).toEqual([]);
    await page.getByText('Other parsers').click();
    await expect
      .poll(async () => page.getByRole('region', { name: 'Result of jsonrepair' }).innerText())
      .toContain('2');
    await page.getByRole('region', { name: 'Result of JSON.parse' }).waitFor();
  });

  it.each([
    ['', async (page: Page) => type(page, '{"shared": [1, 2'), 'shared'],
    [
      '?tab=log',
      async (page: Page) => page.locator('.log-input textarea').fill('{"type":"turn.started"}'),
      'turn.started',
    ],
  ])('copies a link that restores the state of %j', async (query, change, expected) => {
    const { page, context } = await open(address + query);
    await change(page);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Share link' }).click();
    await page.getByText('Link copied').waitFor();
    const link = await page.evaluate(async () => navigator.clipboard.readText());
    expect(link.startsWith(`${address}${query}#case=`)).toBe(true);
    const other = await open(link);
    await expect.poll(async () => other.page.locator('.playground').innerText()).toContain(expected);
  });

  it.each(['Codex', 'Claude Code', 'Gemini', 'OpenCode', 'Qwen Code'])(
    'shows a log of %s: the conversation, the events and the bytes, with no byte lost',
    async (name) => {
      const { page } = await open(`${address}?tab=log`);
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByText('Wrote the file.').first().waitFor();
      await expect.poll(async () => page.getByRole('status').first().innerText()).toMatch(/([\d,]+) of \1 bytes/);
      await page.getByText('lifecycle.run.started').first().waitFor();
      await page
        .getByRole('button', { name: /stdout/ })
        .first()
        .click();
      await expect.poll(async () => page.locator('.event.highlighted').count()).toBeGreaterThan(0);
    },
  );

  it.each(['light', 'dark'] as const)('is accessible with the theme %s', async (theme) => {
    const { page } = await open(address, { theme });
    await expect.poll(async () => outcome(page)).toContain('Success');
    expect(await findProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'An agent’s log' }).click();
    await page.getByText('lifecycle.run.started').first().waitFor();
    expect(await findProblems(page)).toEqual([]);
  });

  it.each(['', '?tab=log'])('fits on a phone: %j', async (query) => {
    const { page } = await open(address + query, { width: 390 });
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    expect(await findCutOff(page)).toEqual([]);
  });

  it('loads at most 120 kB more than any other page', async () => {
    const other = await open(`${site.url}glossary.html`);
    const shell = new Set(await listLoaded(other.page));
    const { page } = await open(address);
    await type(page, '{"a": 1}');
    await expect.poll(async () => outcome(page)).toContain('SCHEMA_MISMATCH');
    const worker = readdirSync(join(site.folder, 'assets')).filter((name) => name.includes('workbench-worker'));
    const paths = [...(await listLoaded(page)), ...worker.map((name) => `${site.base}assets/${name}`)];
    const own = [...new Set(paths)].filter((path) => !shell.has(path));
    const sizes = own.map((path) => gzipSync(readFileSync(join(site.folder, path.slice(site.base.length)))).length);
    expect(own.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000);
  });
});
