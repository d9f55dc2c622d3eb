import type { Page } from 'playwright-core';

/** Returns the size of a page's JavaScript heap without garbage, in MB. */
export async function measureHeap(page: Page): Promise<number> {
  const browser = await page.context().newCDPSession(page);
  await browser.send('Performance.enable');
  await browser.send('HeapProfiler.collectGarbage');
  const { metrics } = await browser.send('Performance.getMetrics');
  await browser.detach();
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Infinity) / 1_000_000;
}
