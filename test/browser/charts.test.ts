import { describe, expect, it } from 'vitest';
import { seedHistory } from './seed-history.js';
import { settle } from './settle.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const house = useConsole(async (site: Site) => {
  await seedHistory(site.data, { perDay: 20 });
  await site.settledOrder('acme/shop#1', { print: 'Trust me.' });
});

describe('the charts', () => {
  it('draw outcomes, repairs, latency, drift and the inbox over time', async () => {
    const { page } = await house.open('/charts?range=week');
    await settle(page);
    for (const name of [
      'Outcomes',
      'Repair levels',
      'Latency',
      'Slowest runs',
      'Drift',
      'Inbox',
      'Reasons for review',
    ]) {
      const chart = page.getByRole('region', { name, exact: true });
      await chart.locator('canvas').first().waitFor();
      const ink = await chart
        .locator('canvas')
        .first()
        .evaluate((canvas: HTMLCanvasElement) => {
          const { data = [] } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
          return [...data].filter((value) => value > 0).length;
        });
      expect(ink).toBeGreaterThan(100);
    }
  });

  it('say the same in figures, for those who do not see them', async () => {
    const { page } = await house.open('/charts?range=week');
    await settle(page);
    const chart = page.getByRole('region', { name: 'Outcomes', exact: true });
    await chart.locator('summary').click();
    const table = chart.getByRole('table');
    await table.waitFor();
    const header = (await table.getByRole('row').first().innerText()).split('\t').map((cell) => cell.trim());
    const column = header.indexOf('success');
    expect(column).toBeGreaterThan(0);
    const rows = await table.getByRole('row').allInnerTexts();
    const counted = rows.slice(1).reduce((sum, row) => sum + Number(row.split('\t')[column]), 0);
    const legend = await chart.getByLabel('Lines').innerText();
    expect(legend).toMatch(new RegExp(`success \\(${counted}\\)`));
  });

  it('keep range and engine in the address', async () => {
    const { page } = await house.open('/charts');
    await settle(page);
    await page.getByLabel('Time').selectOption('week');
    await page.getByLabel('Engine').selectOption('claude');
    await settle(page);
    expect(new URL(page.url()).search).toBe('?range=week&engine=claude');
    await page.reload();
    await settle(page);
    expect(await page.getByLabel('Engine').inputValue()).toBe('claude');
    expect(await page.getByRole('region', { name: 'Latency' }).innerText()).not.toContain('codex');
  });

  it('are loaded when they are opened, not before', async () => {
    const { page, record } = await house.open('/runs');
    await settle(page);
    const before = record.loaded.length;
    expect(record.loaded.filter(({ path }) => /chart/i.test(path))).toEqual([]);
    await page.getByRole('navigation').getByRole('link', { name: 'Charts' }).click();
    await settle(page);
    await page.locator('canvas').first().waitFor();
    expect(record.loaded.slice(before).some(({ path }) => /chart/i.test(path))).toBe(true);
  });
});
