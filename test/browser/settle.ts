import type { Page } from 'playwright-core';

/** Waits until a page has shown what it loads: there is a heading, and nothing says that it is busy. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
}
