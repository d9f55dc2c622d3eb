import type { Page } from 'playwright-core';

/** Waits until a page has loaded its data: it has a heading, and nothing is marked as busy. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
}
