import { describe, expect, it } from 'vitest';
import { findCutOff } from './find-cut-off.js';
import { seedHistory } from './seed-history.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const app = useConsole(async (site: Site) => {
  await seedHistory(site.data, { perDay: 20 });
  await site.runOrder('acme/shop#1', { print: 'Trust me.' });
});

describe('the charts', () => {
  it('draw outcomes, repairs, durations, drift and the inbox over time', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    for (const name of [
      'Outcomes',
      'Repair levels',
      'Cost',
      'Tokens',
      'Duration',
      'Slowest runs',
      'Drift',
      'Inbox',
      'Reasons for review',
    ]) {
      const chart = page.getByRole('region', { name, exact: true });
      await chart.locator('.bar').first().waitFor();
      await expect.poll(async () => chart.getByLabel('Series').locator('strong').first().innerText()).toMatch(/\d/);
    }
  });

  it('fit a phone, however long a value is', async () => {
    const { page } = await app.open('/charts?range=week', { width: 375 });
    await waitUntilLoaded(page);
    await page.evaluate(() => {
      for (const sum of document.querySelectorAll('.legend strong, .value-axis span'))
        sum.textContent = '23 h 59 min 59 s';
    });
    expect(await findCutOff(page)).toEqual([]);
  });

  it('have a table with the same data', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    const chart = page.getByRole('region', { name: 'Outcomes', exact: true });
    await chart.locator('summary').click();
    const table = chart.getByRole('table');
    await table.waitFor();
    const header = (await table.getByRole('row').first().innerText()).split('\t').map((cell) => cell.trim());
    const column = header.indexOf('Success');
    expect(column).toBeGreaterThan(0);
    const rows = await table.getByRole('row').allInnerTexts();
    const counted = rows.slice(1).reduce((sum, row) => sum + Number(row.split('\t')[column]), 0);
    const legend = await chart.getByLabel('Series').innerText();
    expect(legend).toMatch(new RegExp(`Success\\s+${counted}`));
  });

  it('open the runs that a bar or a table row counts', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    const chart = page.getByRole('region', { name: 'Outcomes', exact: true });
    const bar = chart.locator('a.bar.bad').first();
    const count = Number(/: (\d+) Failed$/.exec((await bar.getAttribute('title')) ?? '')?.[1]);
    await bar.click();
    await page.waitForURL('**/runs?outcome=failed&ended_since=*');
    await waitUntilLoaded(page);
    // As many runs as the bar represents, and the filter can be removed.
    await expect.poll(async () => page.getByRole('row').filter({ hasText: 'failed' }).count()).toBe(count);
    await expect.poll(async () => page.getByLabel('Outcome').inputValue()).toBe('failed');
    await page.getByRole('button', { name: 'Remove the filter Ended from' }).click();
    await page.waitForURL('**/runs?outcome=failed');
    await page.goBack();
    await page.goBack();
    await waitUntilLoaded(page);
    await page.getByRole('region', { name: 'Cost', exact: true }).locator('summary').click();
    await page.getByRole('region', { name: 'Data for Cost' }).getByRole('link').first().click();
    await page.waitForURL('**/runs?engine=*&model=*&ended_since=*');
  });

  it('are read and opened with keys: one tab stop, arrows between bars', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    const bars = page.getByRole('region', { name: 'Outcomes', exact: true }).locator('a.bar');
    const stops = await bars.evaluateAll((links) => links.filter((link) => link.tabIndex === 0).length);
    expect(stops).toBe(1);
    await bars.and(page.locator('[tabindex="0"]')).focus();
    const readFocused = async () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
    const day = (await readFocused()).slice(0, 10);
    await page.keyboard.press('ArrowLeft');
    expect(await readFocused()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d: \d+ \w+$/);
    expect((await readFocused()) < day).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs?outcome=*&ended_since=*');
  });

  it('hatch a cost that is not reported, and export it by engine and day with the same totals', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    const cost = page.getByRole('region', { name: 'Cost', exact: true });
    expect(await cost.locator('.bar.hatched').first().getAttribute('title')).toMatch(/not reported by .*gemini/);
    const table = page.getByRole('region', { name: 'Cost by day' });
    const gemini = await table.getByRole('row').filter({ hasText: 'gemini' }).innerText();
    expect(gemini).not.toContain('$');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const parts: Buffer[] = [];
    for await (const part of await download.createReadStream()) parts.push(part as Buffer);
    const lines = Buffer.concat(parts).toString().trim().split('\r\n');
    const cells = lines.map((line) => line.split(','));
    const sumColumn = (column: number): number =>
      cells.slice(1, -1).reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
    const totals = cells.at(-1) ?? [];
    for (let column = 1; column < totals.length - 2; column += 1)
      expect(Number(totals[column])).toBeCloseTo(sumColumn(column), 6);
    const { buckets } = await app.site.client.readStatistics({ query: { step: 86_400 } });
    const expected = buckets.slice(1).flatMap(({ usage }) => usage);
    expect(Number(totals.at(-3))).toBeCloseTo(
      expected.reduce((sum, one) => sum + one.cost, 0),
      6,
    );
    expect(totals.slice(-2)).toEqual(['false', 'false']);
  });

  it('have steps of an hour, a day or a week', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    const steps = page.getByRole('region', { name: 'Outcomes', exact: true }).locator('.bar-step');
    await expect.poll(async () => steps.count()).toBe(7);
    await page.getByLabel('Step').selectOption('hour');
    await page.waitForURL('**/charts?range=week&step=hour');
    await expect.poll(async () => steps.count()).toBe(168);
    await page.getByLabel('Period').selectOption('quarter');
    await expect.poll(async () => steps.count()).toBe(13);
  });

  it('sum tokens and cost by engine and model', async () => {
    const { page } = await app.open('/charts?range=week&engine=claude');
    await waitUntilLoaded(page);
    const table = page.getByRole('region', { name: 'Tokens and cost' });
    const [, row = ''] = await table.getByRole('row').allInnerTexts();
    expect(row).toMatch(/claude\s+claude-opus-4-5\s+\d+\s+[\d,]+\s+[\d,]+\s+[\d,]+\s+\$\d+\.\d\d/);
    const { buckets } = await app.site.client.readStatistics({ query: { step: 86_400 } });
    // The page leaves out the first day, which is not whole.
    const runs = buckets
      .slice(1)
      .flatMap(({ usage }) => usage)
      .filter(({ engine }) => engine === 'claude');
    expect(Number(row.split('\t')[2])).toBeGreaterThanOrEqual(runs.length);
    await expect
      .poll(async () => page.getByRole('region', { name: 'Cost', exact: true }).innerText())
      .toContain('claude-opus-4-5');
  });

  it('keep range and engine in the address', async () => {
    const { page } = await app.open('/charts');
    await waitUntilLoaded(page);
    await page.getByLabel('Period').selectOption('week');
    await page.getByLabel('Engine').selectOption('claude');
    await waitUntilLoaded(page);
    expect(new URL(page.url()).search).toBe('?range=week&engine=claude');
    await page.reload();
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByLabel('Engine').inputValue()).toBe('claude');
    expect(await page.getByRole('region', { name: 'Duration', exact: true }).innerText()).not.toContain('codex');
  });

  it('are loaded when they are opened, not before', async () => {
    const { page, record } = await app.open('/runs');
    await waitUntilLoaded(page);
    const before = record.loaded.length;
    expect(record.loaded.filter(({ path }) => /chart/i.test(path))).toEqual([]);
    await page.getByRole('navigation').getByRole('link', { name: 'Charts' }).click();
    await waitUntilLoaded(page);
    await page.locator('.bar').first().waitFor();
    expect(record.loaded.slice(before).some(({ path }) => /chart/i.test(path))).toBe(true);
  });
});
