import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { longSession } from './codex-lines.js';
import { useConsole } from './use-console.js';

const EVENTS = 50_000;
/** Of all lenses together, in the page at any one time. */
const MOST_ROWS = 300;

const house = useConsole(async (site) => site.endedRun({ says: longSession(EVENTS) }));

/** How many rows are in the page, of how many. */
async function rows(page: Page): Promise<{ readonly there: number; readonly known: number }> {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll('.virtual-row')];
    return { there: shown.length, known: Math.max(0, ...shown.map((row) => Number(row.ariaSetSize))) };
  });
}

describe(`a run of ${EVENTS} events`, () => {
  it(`is opened, scrolled and jumped through with at most ${MOST_ROWS} rows in the page`, async () => {
    const { page } = await house.open(`/runs/${house.seeds.id}`);
    let most = 0;
    const count = async (): Promise<number> => {
      const { there, known } = await rows(page);
      most = Math.max(most, there);
      return known;
    };
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(EVENTS);
    await page.getByText('All events', { exact: true }).waitFor();
    for (const name of ['Conversation', 'Events', 'Raw bytes']) {
      const list: Locator = page.locator(`.virtual[aria-label="${name}"]`);
      for (const share of [0.1, 0.5, 0.9, 1]) {
        await list.evaluate((box, to) => box.scrollTo({ top: box.scrollHeight * to }), share);
        await list.locator('.virtual-row').first().waitFor();
        await count();
      }
      await list.focus();
      await page.keyboard.press('End');
      await expect.poll(async () => list.innerText()).toMatch(/Completed|turn\.completed|run\.completed/);
      await page.keyboard.press('Home');
      await expect.poll(async () => list.innerText()).toMatch(/Begins|run\.started|thread\.started/);
      await count();
    }
    expect(most).toBeLessThanOrEqual(MOST_ROWS);
    expect(most).toBeGreaterThan(20);
  });
});
