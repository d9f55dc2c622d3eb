import { describe, expect, inject, it } from 'vitest';
import { findBrokenLinks } from '../../scripts/site/find-broken-links.js';
import { findCutOff } from '../browser/find-cut-off.js';
import { makeFolder } from '../temporary-folder.js';
import { findProblems, useBrowser } from './open-page.js';

const open = useBrowser();
const sites = inject('sites');
const [, inFolder] = sites;
const address = inFolder?.url ?? '';

/** One page of each kind. */
const PAGES = [
  '',
  'start.html',
  'guides/parsing.html',
  'api/tool-calls.html',
  'http/parsing.html',
  'errors/json.html',
  'configuration.html',
  'decisions/2026-11-17-site.html',
  'zh/',
  'zh/start.html',
  'zh/guides/parsing.html',
];

describe.each(sites)('the site at $base', ({ base, folder, url }) => {
  it('has no broken link', () => {
    expect(findBrokenLinks(folder, base)).toEqual([]);
  });

  it('navigates from the front page to a guide, and loads its pictures', async () => {
    const { page } = await open(url);
    await page.locator('.VPFeature', { hasText: 'I have an answer' }).click();
    await page.waitForURL(`${url}guides/parsing.html`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.goto(`${url}start.html`);
    const picture = page.locator('main img').first();
    await expect.poll(async () => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  });

  it.each([
    ['guides/parsing.html', '中文', 'zh/guides/parsing.html'],
    ['zh/guides/parsing.html', 'English', 'guides/parsing.html'],
    ['start.html', '中文', 'zh/start.html'],
    ['configuration.html', '中文', 'zh/'],
  ])('switches the language of %s to %s', async (from, language, to) => {
    const { page } = await open(url + from);
    await page.locator('.VPNavBarTranslations').hover();
    await page.locator('.VPNavBarTranslations').getByRole('link', { name: language }).click();
    await expect.poll(() => page.url()).toBe(url + to);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  it.each([
    ['SCHEMA_MISMATCH', 'errors/json.html#'],
    ['被截断的值', 'zh/guides/parsing.html'],
  ])('finds %s', async (words, expected) => {
    const { page } = await open(`${url}guides/parsing.html`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill(words);
    const results = page.locator('.results a');
    await expect
      .poll(async () => results.evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href)))
      .toContainEqual(expect.stringContaining(`${url}${expected}`));
  });
});

describe('the page', () => {
  it.each(PAGES)('/%s is accessible in both themes, and fits on a phone', async (path) => {
    const { page } = await open(address + path);
    await page.getByRole('main').waitFor();
    expect(await findProblems(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html.dark').waitFor();
    expect(await findProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(async () => findCutOff(page)).toEqual([]);
  });
});

describe('an error code', () => {
  it('has an address', async () => {
    const { page } = await open(`${address}errors/json.html#SCHEMA_MISMATCH`);
    const row = page.locator('tr', { has: page.locator('#SCHEMA_MISMATCH') });
    await expect.poll(async () => row.isVisible()).toBe(true);
    await expect.poll(async () => row.evaluate((element) => element.getBoundingClientRect().top)).toBeLessThan(700);
  });
});

describe('findBrokenLinks', () => {
  it('finds links to missing pages, files and anchors, and those outside the base path', async () => {
    const folder = await makeFolder({
      'index.html': '<a href="/a/b/one.html#part">1</a><a class="x" href="/a/b/gone.html">2</a><img src="/a/b/x.png">',
      'one.html': '<h2 id="part"></h2><a href="#gone">3</a><a href="/one.html">4</a><a href="https://x.org">5</a>',
    });
    expect(findBrokenLinks(folder, '/a/b/')).toEqual([
      'index.html → /a/b/gone.html',
      'index.html → /a/b/x.png',
      'one.html → #gone',
      'one.html → /one.html',
    ]);
  });
});
