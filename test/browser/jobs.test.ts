import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.js';
import { seedHistory } from './seed-history.js';
import { seedPermission, seedRetriedRun } from './seed-runs.js';
import { until, type Site } from './start-site.js';
import { useConsole } from './use-console.js';
import { waitUntilLoaded } from './wait-until-loaded.js';

/** Twelve hours from now, so that it has no tick while the test runs. */
const CRON = `0 ${String((new Date().getHours() + 12) % 24)} * * *`;
const request = { issue_ref: 'local#nightly', role: 'qa', worker: 'scripted', instructions: '{"print":"done"}' };

const app = useConsole(
  async (site: Site) => {
    await seedHistory(site.data, { days: 3, perDay: 5, hasEvents: false });
    const failed = await seedRetriedRun(site.data, null, site.work);
    const permission = await seedPermission(site.data);
    await seedDeadWorker(site.data);
    await site.runOrder('acme/shop#1', { result: {}, exit: 3 });
    for (let order = 2; order <= 11; order += 1) await site.runOrder(`acme/shop#${order}`, { print: 'done' });
    await until('the sink fails', async () =>
      (await site.client.listSinks()).items.find(({ state }) => state !== 'waiting'),
    );
    return { failed, permission };
  },
  {
    schedules: { nightly: { cron: CRON, request: { ...request, repo_dir: process.cwd() } } },
    prices: { 'gemini-*': { input: 2, cached_input: 0.2, output: 12 } },
    sinks: [{ type: 'webhook', name: 'hook', url: 'http://127.0.0.1:9/', secret_env: 'SLUICE_TEST_SECRET' }],
  },
  { env: { SLUICE_TEST_SECRET: 'a-secret-of-this-test' } },
);

/** Reports a worker that has not been seen for two minutes. */
async function seedDeadWorker(data: string): Promise<void> {
  const store = await openStore(`sqlite:${data}/sluice.db`);
  const now = Date.now() - 120_000;
  const worker = { id: '01JD0000000000000000000ABC', host: 'machine-2', version: '0.2.0', engines: ['codex'] };
  await store.reportWorker({ ...worker, capacity: 4, busy: 0, isStopping: false, now, aliveUntil: now + 30_000 });
  await store.close();
}

/** The runs created in the store have no files, so the page cannot read their bytes. */
const NO_FILES = { mayFail: /404|409/ };

/** Opens the first page, and counts clicks, including those into a field that does not have the focus. */
async function startJob() {
  const { page } = await app.open('/', NO_FILES);
  await waitUntilLoaded(page);
  let clicks = 0;
  return {
    page,
    click: async (target: Locator): Promise<void> => {
      clicks += 1;
      await target.click();
    },
    type: async (field: Locator, text: string): Promise<void> => {
      await field.waitFor();
      if (!(await field.evaluate((element) => element === document.activeElement))) clicks += 1;
      await field.fill(text);
    },
    clicks: () => clicks,
  };
}

const card = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
/** Finds the link to the first entry with these words. */
const findEntry = (page: Page, words: string): Locator =>
  card(page, 'Waiting for you').locator('.now-row').filter({ hasText: words }).getByRole('link').first();
const pendingActions = (page: Page): Locator => page.getByRole('region', { name: 'Pending actions' });

const counted: string[] = [];
afterAll(() => process.stdout.write(`clicks: ${counted.join(', ')}\n`));

/** Describes a job that takes at most this many clicks from the first page. */
function job(name: string, limit: number, work: (tools: Awaited<ReturnType<typeof startJob>>) => Promise<void>): void {
  it(`${name}: ${limit}`, async () => {
    const tools = await startJob();
    await work(tools);
    counted.push(`${name} ${tools.clicks()}`);
    expect(tools.clicks()).toBeLessThanOrEqual(limit);
  });
}

describe('the clicks that a job takes', () => {
  job('find a failure of yesterday or today and its cause', 1, async ({ page, click }) => {
    await click(card(page, 'Failed since yesterday').getByRole('link', { name: 'Choose a size.' }));
    await card(page, 'Failure').getByText('SCHEMA_MISMATCH').first().waitFor();
  });

  job('compare the attempts of a failure', 2, async ({ page, click }) => {
    await click(card(page, 'Failed since yesterday').getByRole('link', { name: 'Choose a size.' }));
    await click(page.getByRole('tab', { name: 'Attempts' }));
    await card(page, 'Attempts side by side').getByText('Rejected: ').first().waitFor();
  });

  job('run a failure again with changes', 3, async ({ page, click, type }) => {
    await click(card(page, 'Failed since yesterday').getByRole('link', { name: 'Choose a size.' }));
    await click(page.getByRole('link', { name: 'Edit and run' }));
    await type(page.getByLabel('Prompt'), 'Choose a smaller size.');
    const sent = page.waitForRequest((sending) => {
      const isStart = sending.method() === 'POST' && sending.url().endsWith('/v1/runs');
      return isStart && (sending.postData() ?? '').includes('Choose a smaller size.');
    });
    await page.keyboard.press('Control+Enter');
    await sent;
  });

  job('read the diff of a permission request, and allow it', 2, async ({ page, click }) => {
    await click(findEntry(page, 'edit src/total.ts'));
    await page.locator('.diff-line.added').first().waitFor();
    await click(page.getByRole('button', { name: 'Allow once' }));
    await pendingActions(page).getByRole('button', { name: 'Withdraw' }).waitFor();
  });

  job('settle a result', 3, async ({ page, click, type }) => {
    await click(findEntry(page, 'acme/shop#1'));
    const bar = page.getByRole('toolbar', { name: 'Decide' });
    await click(bar.getByRole('button', { name: 'Accept', exact: true }));
    await type(page.getByLabel('Reason', { exact: true }), 'The exit code is that of the linter.');
    await click(page.getByRole('button', { name: 'Accept and comment' }));
    await pendingActions(page).getByText('acme/shop#1').waitFor();
  });

  job('settle ten results', 4, async ({ page, click, type }) => {
    await click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Inbox/ }));
    await page.keyboard.press('/');
    await page.getByLabel('Search').fill('acme/shop');
    await page.locator('.entry').filter({ hasText: 'edit src/total.ts' }).waitFor({ state: 'detached' });
    const bulk = page.getByRole('group', { name: 'Bulk actions' });
    await click(bulk.getByRole('checkbox'));
    await type(page.getByLabel('Reason for all selected items'), 'Out of scope.');
    await click(bulk.getByRole('button', { name: 'Reject' }));
    await pendingActions(page).getByText('Rejecting 1').waitFor();
  });

  job('redeliver the comments of a failing sink', 1, async ({ page, click }) => {
    await click(card(page, 'Failing sinks').getByRole('button', { name: 'Redeliver' }));
    await card(page, 'Failing sinks')
      .getByText(/queued, first retry now|of \d+ delivered/)
      .waitFor();
  });

  job('see that a worker has died', 0, async ({ page }) => {
    await card(page, 'Dead workers').getByText('machine-2 · 000ABC').waitFor();
  });

  job('see when a schedule is due', 0, async ({ page }) => {
    await card(page, 'Schedules').locator('.now-row').filter({ hasText: 'nightly' }).getByText(/\(in /).waitFor();
  });

  job('read the cost of each engine by day', 1, async ({ page, click }) => {
    await click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Charts' }));
    const rows = card(page, 'Cost by day').getByRole('row');
    await rows.filter({ hasText: 'claude' }).waitFor();
    await rows.filter({ hasText: 'codex' }).waitFor();
    // It reports no cost, but its model has a price.
    await rows.filter({ hasText: /gemini.*≈ \$\d/s }).waitFor();
  });
});
