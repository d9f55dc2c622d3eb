import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { session } from './codex-lines.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';

const app = useConsole(async (site) => site.runToEnd({ prints: session(codex.message('Hello.')) }));

/** Limits of a first visit, over the wire. */
const FIRST_LOAD = 60_000;

describe('the console', () => {
  it('opens with what happens now, with an initial load of at most 60 kB', async () => {
    const { page, record } = await app.open('/');
    await waitUntilLoaded(page);
    await expect.poll(async () => page.title()).toBe('Now · Sluice');
    const files = record.loaded.filter(({ path }) => !path.startsWith('/v1/'));
    expect(files.map(({ path }) => path.split('.').at(-1))).toContain('js');
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(FIRST_LOAD);
  });

  it('opens in the language of the browser, with only its texts and as few bytes, and remembers another one', async () => {
    const { page, record } = await app.open('/', { locale: 'zh-CN' });
    await waitUntilLoaded(page);
    await expect.poll(async () => page.title()).toBe('现在 · Sluice');
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    const files = record.loaded.filter(({ path }) => !path.startsWith('/v1/'));
    expect(files.filter(({ path }) => path.includes('texts.zh-CN')).length).toBeGreaterThan(1);
    expect(files.filter(({ path }) => path.includes('texts.en'))).toEqual([]);
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(FIRST_LOAD);
    await page.getByRole('button', { name: 'English' }).click();
    await expect.poll(async () => page.title()).toBe('Now · Sluice');
    await page.reload();
    await waitUntilLoaded(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('中文');
    await page.keyboard.press('Enter');
    await expect.poll(async () => page.title()).toBe('现在 · Sluice');
  });

  it('is sent compressed, so the measured bytes are real', async () => {
    const { record, page } = await app.open('/');
    await waitUntilLoaded(page);
    for (const { path, bytes } of record.loaded.filter((file) => file.path.endsWith('.js'))) {
      const response = await fetch(`${app.site.url}${path}`, { headers: { 'accept-encoding': 'identity' } });
      expect(bytes).toBeLessThanOrEqual(gzipSync(Buffer.from(await response.arrayBuffer())).length + 200);
    }
  });

  it.each([
    ['Now', '/now', 'g n'],
    ['Runs', '/runs', 'g r'],
    ['Schedules', '/schedules', 'g d'],
    ['Sinks', '/sinks', 'g v'],
    ['Budgets', '/budgets', 'g b'],
    ['Approval rules', '/rules', 'g a'],
    ['Tokens', '/tokens', 'g t'],
    ['Inbox', '/inbox', 'g i'],
    ['Issues', '/issues', 'g s'],
    ['Outbox', '/outbox', 'g o'],
    ['Executions', '/executions', 'g e'],
    ['Workbench', '/workbench', 'g w'],
    ['Workers', '/workers', 'g k'],
    ['Charts', '/charts', 'g c'],
  ])('leads to %s by its link, by its keys and by the way back', async (name, path, keys) => {
    const { page } = await app.open('/runs/no/where');
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.waitForURL(`**${path}`);
    await waitUntilLoaded(page);
    await expect.poll(async () => page.title()).toBe(`${name} · Sluice`);
    await expect.poll(async () => page.getByRole('heading', { level: 1 }).innerText()).toBe(name);
    await page.goBack();
    await page.waitForURL('**/runs/no/where');
    for (const key of keys.split(' ')) await page.keyboard.press(key);
    await page.waitForURL(`**${path}`);
    await expect.poll(async () => page.locator('[aria-current=page]').innerText()).toContain(name);
  });

  it('skips to the page', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.id === 'main');
    expect(new URL(page.url()).pathname).toBe('/runs');
  });

  it('remembers the theme the user chose', async () => {
    const { page } = await app.open('/runs', { theme: 'light' });
    await waitUntilLoaded(page);
    const ink = async () => page.evaluate(() => getComputedStyle(document.body).color);
    const light = await ink();
    const button = page.getByRole('button', { name: /^Theme/ });
    while (!(await button.innerText()).includes('dark')) await button.click();
    const dark = await ink();
    expect(dark).not.toBe(light);
    await page.reload();
    await waitUntilLoaded(page);
    expect(await ink()).toBe(dark);
  });

  it('shows that a page does not exist', async () => {
    const { page } = await app.open('/runs/no/where');
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByRole('heading', { level: 1 }).innerText()).toBe('Page not found');
  });

  it('reports an unreachable server and recovers when it is back', async () => {
    const { page } = await app.open('/runs', { mayFail: /ERR_FAILED|Failed to load resource/ });
    await waitUntilLoaded(page);
    await page.route('**/v1/**', async (route) => route.abort());
    await page.goto('/inbox');
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    await page.unroute('**/v1/**');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByRole('heading', { level: 1 }).innerText()).toBe('Inbox');
  });
});
