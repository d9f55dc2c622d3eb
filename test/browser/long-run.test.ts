import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { longSession } from './codex-lines.js';
import { measureHeap } from './measure-heap.js';
import { useConsole } from './use-console.js';

const EVENTS = 50_000;
/** The maximum number of rows in the page at any time, across all panes. */
const MAX_ROWS = 300;
/** The maximum number of rows created in one task, across all panes. */
const MAX_ROWS_PER_TASK = 8;
/** The memory for these events, in both logs. */
const MAX_HEAP_MB = 90;
/** How far {@link turnWheel} scrolls. */
const TURNS = 12;

/** The lists of a run, and the tab of the inspector that shows each. */
const LISTS = [
  ['Conversation', null],
  ['Events', /^Event/],
  ['Raw bytes', /^Raw/],
] as const;

const app = useConsole(async (site) => site.runToEnd({ prints: longSession(EVENTS) }));

/** Returns the number of rows in the page and in total. */
async function rows(page: Page): Promise<{ readonly rowsInPage: number; readonly known: number }> {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll('.virtual-row')];
    return { rowsInPage: shown.length, known: Math.max(0, ...shown.map((row) => Number(row.ariaSetSize))) };
  });
}

describe(`a run of ${EVENTS} events`, () => {
  it(`is opened, scrolled and jumped through with at most ${MAX_ROWS} rows in the page`, async () => {
    const { page } = await app.open(`/runs/${app.seeds.id}`);
    await page.getByRole('tab', { name: /^Event/ }).click();
    let maxRows = 0;
    const count = async (): Promise<number> => {
      const { rowsInPage, known } = await rows(page);
      maxRows = Math.max(maxRows, rowsInPage);
      return known;
    };
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(EVENTS);
    await page.getByText('Complete', { exact: true }).waitFor();
    // Half of the events that a page holds at most; see `MAX_EVENTS`.
    expect(await measureHeap(page)).toBeLessThan(MAX_HEAP_MB);
    for (const [name, tab] of LISTS) {
      if (tab !== null) await page.getByRole('tab', { name: tab }).click();
      const list: Locator = page.locator(`.virtual[aria-label="${name}"]`);
      for (const fraction of [0.1, 0.5, 0.9, 1]) {
        await list.evaluate((box, to) => box.scrollTo({ top: box.scrollHeight * to }), fraction);
        await list.locator('.virtual-row').first().waitFor();
        await count();
      }
      await list.focus();
      await page.keyboard.press('End');
      await expect.poll(async () => list.innerText()).toMatch(/Completed|turn\.completed|run\.completed/);
      await page.keyboard.press('Home');
      await expect.poll(async () => list.innerText()).toMatch(/Session started|run\.started|thread\.started/);
      await count();
    }
    expect(maxRows).toBeLessThanOrEqual(MAX_ROWS);
    expect(maxRows).toBeGreaterThan(20);
  });

  it('draws every row of a wheel scroll in the same frame, and the rows of a jump a few at a time', async () => {
    const { page } = await app.open(`/runs/${app.seeds.id}`);
    await page.getByText('Complete', { exact: true }).waitFor({ timeout: 60_000 });
    for (const [name, tab] of LISTS) {
      if (tab !== null) await page.getByRole('tab', { name: tab }).click();
      const list = page.locator(`.virtual[aria-label="${name}"]`);
      await list.locator('.virtual-row').first().waitFor();
      const created = await list.evaluate(jump);
      expect(Math.max(...created)).toBeLessThanOrEqual(MAX_ROWS_PER_TASK);
      expect(created.length).toBeGreaterThan(1);
      expect(await list.evaluate(turnWheel)).toEqual(Array.from({ length: TURNS }, () => 'covered'));
    }
  });
});

/** Scrolls to the middle of a list, and returns the number of rows created in each task. Runs in the page. */
async function jump(box: Element): Promise<readonly number[]> {
  const created: number[] = [];
  const watch = new MutationObserver((changes) => {
    const added = changes
      .flatMap(({ addedNodes }) => [...addedNodes])
      .filter((node) => node.parentElement?.role === 'list');
    if (added.length > 0) created.push(added.length);
  });
  watch.observe(box, { childList: true, subtree: true });
  box.scrollTop = box.scrollHeight / 2;
  for (let frame = 0; frame < 30; frame += 1) {
    await new Promise((resolve) => {
      requestAnimationFrame(resolve);
    });
  }
  watch.disconnect();
  return created;
}

/** Scrolls like a wheel, and returns for each frame whether rows covered the list without gaps. Runs in the page. */
async function turnWheel(box: Element): Promise<readonly string[]> {
  const states: string[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    const scrolled = new Promise((resolve) => {
      box.addEventListener('scroll', () => requestAnimationFrame(resolve), { once: true });
    });
    box.scrollTop += 120;
    await scrolled;
    const { top, bottom } = box.getBoundingClientRect();
    const drawn = [...box.querySelectorAll<HTMLElement>('.virtual-row')].map((row) => ({
      index: Number(row.dataset['index']),
      rect: row.getBoundingClientRect(),
    }));
    const seen = drawn
      .filter(({ rect }) => rect.bottom > top && rect.top < bottom)
      .toSorted((one, other) => one.index - other.index);
    const [first] = seen;
    const isCovered =
      (first?.rect.top ?? bottom) <= top + 1 &&
      (seen.at(-1)?.rect.bottom ?? top) >= bottom - 1 &&
      seen.every(({ index }, at) => index === (first?.index ?? 0) + at);
    states.push(isCovered ? 'covered' : seen.map(({ index }) => index).join(' '));
  }
  return states;
}
