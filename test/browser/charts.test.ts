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
      await chart.locator('.strip-bar').first().waitFor();
      await expect.poll(async () => chart.locator('.strip-sum').first().innerText()).toMatch(/\d/);
    }
  });

  it('fit a phone, however long a value is', async () => {
    const { page } = await app.open('/charts?range=week', { width: 375 });
    await waitUntilLoaded(page);
    await page.evaluate(() => {
      for (const sum of document.querySelectorAll('.strip-sum')) sum.textContent = '23 h 59 min 59 s';
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
    const bar = chart.locator('.strip.bad .strip-hit').first();
    const count = Number(/: (\d+) Failed$/.exec((await bar.locator('title').textContent()) ?? '')?.[1]);
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

  it('sum tokens and cost by engine and model', async () => {
    const { page } = await app.open('/charts?range=week&engine=claude');
    await waitUntilLoaded(page);
    const table = page.getByRole('region', { name: 'Tokens and cost' });
    const [, row = ''] = await table.getByRole('row').allInnerTexts();
    expect(row).toMatch(/claude\s+claude-opus-4-5\s+\d+\s+[\d,]+\s+[\d,]+\s+[\d,]+\s+\$\d+\.\d\d/);
    const { buckets } = await app.site.client.readStatistics({});
    const runs = buckets.flatMap(({ usage }) => usage).filter(({ engine }) => engine === 'claude');
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
    await page.locator('.strip-bar').first().waitFor();
    expect(record.loaded.slice(before).some(({ path }) => /chart/i.test(path))).toBe(true);
  });
});
