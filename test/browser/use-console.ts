import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest';
import type { ConfigFile } from '../../src/server/config/config.js';
import { startSite } from './start-site.js';
import type { Site, SiteOptions } from './start-site.js';
import { watchPage } from './watch-page.js';
import type { PageRecord } from './watch-page.js';

/** Options for opening a page in a test. */
export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  /** The browser's language. */
  readonly locale?: 'en-US' | 'zh-CN';
  readonly width?: number;
  readonly height?: number;
  /** A URL other than the site's, for a test with a proxy in between. */
  readonly url?: string;
  /** Not signed in, if no tokens are configured. */
  readonly isSignedOut?: boolean;
  /** Errors that the test causes on purpose. */
  readonly mayFail?: RegExp;
}

/** A page and a record of its activity. */
export interface OpenPage {
  readonly page: Page;
  readonly record: PageRecord;
}

/** Wide enough for the panes side by side. */
const WIDTH = 1280;
const HEIGHT = 800;

/**
 * Starts a server and a browser for the running test file. `seed` is called once, before the tests. Every page must
 * end without errors, without a request to another host and without a violation of its policy.
 */
export function useConsole<Seeds>(
  seed: (site: Site) => Promise<Seeds>,
  changes: Partial<ConfigFile> = {},
  options: SiteOptions = {},
) {
  let browser: Browser | undefined;
  let site: Site | undefined;
  let seeds: Seeds | undefined;

  beforeAll(async () => {
    [browser, site] = await Promise.all([chromium.connect(inject('browserEndpoint')), startSite(changes, options)]);
    seeds = await seed(site);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  return {
    get site(): Site {
      return requireStarted(site);
    },
    get seeds(): Seeds {
      return requireStarted(seeds);
    },
    async open(path: string, pageOptions: PageOptions = {}): Promise<OpenPage> {
      const {
        theme = 'light',
        locale = 'en-US',
        width = WIDTH,
        height = HEIGHT,
        url = requireStarted(site).url,
      } = pageOptions;
      const context = await requireStarted(browser).newContext({
        locale,
        baseURL: url,
        colorScheme: theme,
        viewport: { width, height },
        reducedMotion: 'reduce',
      });
      const { cookie } = requireStarted(site);
      if (cookie !== undefined && pageOptions.isSignedOut !== true) await context.addCookies([{ ...cookie, url }]);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const record = await watchPage(page, new URL(url).origin, pageOptions.mayFail);
      onTestFinished(async () => {
        await context.close();
        const { errors, foreignRequests, violations, dialogs } = record;
        expect({ errors, foreignRequests, violations, dialogs }).toEqual({
          errors: [],
          foreignRequests: [],
          violations: [],
          dialogs: [],
        });
      });
      await page.goto(path);
      return { page, record };
    },
  };
}

function requireStarted<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the console is not started yet');
  return value;
}
