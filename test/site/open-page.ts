import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest';
import { findViolations } from '../browser/check-accessibility.js';
import { watchPage, type PageRecord } from '../browser/watch-page.js';

/** Options for opening a page. */
export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
}

/** A page of the site, and a record of its activity. */
export type OpenPage = Readonly<{ page: Page; context: BrowserContext; record: PageRecord }>;

/** Connects to the browser; every page must end without errors and without a request to another host. */
export function useBrowser(): (url: string, options?: PageOptions) => Promise<OpenPage> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.connect(inject('browserEndpoint'));
  });
  afterAll(async () => browser?.close());
  return async (url, { theme = 'light', width = 1280 } = {}) => {
    if (browser === undefined) throw new Error('The browser has not been started.');
    const viewport = { width, height: 900 };
    const context = await browser.newContext({
      locale: 'en-US',
      colorScheme: theme,
      viewport,
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const record = await watchPage(page, new URL(url).origin, /ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
    onTestFinished(async () => {
      await context.close();
      expect({ errors: record.errors, foreign: record.foreignRequests }).toEqual({ errors: [], foreign: [] });
    });
    await page.goto(url);
    return { page, context, record };
  };
}

/** The label of VitePress's search button lacks the keys that are shown next to it. */
const KNOWN = /^label-content-name-mismatch: <button type="button" class="DocSearch/;

/** Lists the violations that axe finds on a page of the site. */
export async function findProblems(page: Page): Promise<readonly string[]> {
  return (await findViolations(page)).filter((violation) => !KNOWN.test(violation));
}
