import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { WorkerRecord } from '../../src/store/records/index.js';
import { findViolations } from './check-accessibility.js';
import { until } from './start-site.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';

const TOKEN = 'a-secret-of-a-test-that-is-not-shown';
const PHONE = { width: 375, height: 740 };
const request = { issue_ref: 'local#nightly', role: 'qa', worker: 'scripted', instructions: '{"print":"done"}' };

/** Twelve hours from now, so that it has no tick while the test runs. */
const CRON = `0 ${String((new Date().getHours() + 12) % 24)} * * *`;

const app = useConsole(async (site) => site.client.listSchedules(), {
  tokens: [{ name: 'ada', scopes: ['read', 'run', 'decide'], value: TOKEN }],
  schedules: { nightly: { cron: CRON, request: { ...request, repo_dir: process.cwd() } } },
  approvals: [
    { decide: 'deny', command: 'rm *', why: '<b>Never</b>' },
    { decide: 'allow', tool: 'Read' },
  ],
  sinks: [{ type: 'webhook', name: 'hook', url: 'http://127.0.0.1:9/', secret_env: 'SLUICE_TEST_SECRET' }],
});

/** Opens a page, signed in with the token. */
async function open(path: string): Promise<Page> {
  const { page } = await app.open(`${path}#token=${TOKEN}`);
  await waitUntilLoaded(page);
  return page;
}

describe('a schedule', () => {
  it('is paused with a reason and by name, on all servers, resumed, and run now', async () => {
    const page = await open('/schedules');
    const row = page.getByRole('row').filter({ hasText: 'nightly' }).first();
    await expect.poll(async () => row.innerText()).toMatch(/\(in [^]*Not run yet$/);
    expect(await row.innerText()).toContain(CRON);
    await row.getByRole('button', { name: 'nightly' }).click();
    expect(await findViolations(page)).toEqual([]);
    await expect.poll(async () => page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
    await page.getByLabel('Reason for the pause').fill('Release week.');
    await page.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('Paused by ada: Release week.').waitFor();
    expect((await app.site.client.listSchedules()).items[0]).toMatchObject({
      next_at: null,
      paused: { who: 'ada', why: 'Release week.' },
    });
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(async () => row.getByText('Paused').count()).toBe(0);
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('status').getByText('ada ran it').waitFor();
    const { orders } = await app.site.client.getIssue({ ref: 'local#nightly' });
    expect(orders).toHaveLength(1);
  });

  it('is on the page of now with its next tick and its last result', async () => {
    const page = await open('/now');
    const card = page.getByRole('region', { name: 'Schedules' });
    await card.getByRole('link', { name: 'nightly' }).waitFor();
    await expect.poll(async () => card.innerText()).toMatch(/\d\d:\d\d[^]*\(in [^]*Last:\s*Submitted[^]*ada ran it/);
    await card.getByRole('link', { name: 'nightly' }).click();
    await page.getByRole('button', { name: 'Run now' }).waitFor();
  });

  it('says why it did nothing if it is run while its issue is busy', async () => {
    const page = await open('/schedules?row=nightly');
    await until('the issue has an undecided item', async () => {
      const { items } = await app.site.client.listInbox({ query: { issue_ref: 'local#nightly' } });
      return items[0];
    });
    await page.getByRole('button', { name: 'Run now' }).click();
    const status = page.getByRole('status');
    await expect.poll(async () => status.allInnerTexts()).toContainEqual(expect.stringMatching(/^Skipped/));
    expect((await status.allInnerTexts()).join(' ')).toContain('the issue has an undecided inbox item');
    await page.getByRole('link', { name: 'local#nightly' }).waitFor();
  });
});

describe('a worker that died', () => {
  const DEAD: WorkerRecord = {
    id: '01JD0000000000000000000ABC',
    host: 'machine-2',
    version: '0.2.0',
    engines: ['codex'],
    capacity: 4,
    busy: 1,
    seen_at: new Date(Date.now() - 120_000).toISOString(),
    state: 'gone',
    runs: ['01JD0000000000000000000RUN'],
  };

  it('is marked on every page, and named with its runs and what happens to them', async () => {
    const page = await open('/workbench');
    await page.route('**/v1/workers', async (route) => {
      // Without the tag of the list that the page has, the server sends it again.
      const headers = { ...route.request().headers(), 'if-none-match': '' };
      const response = await route.fetch({ headers });
      const { items } = (await response.json()) as { items: readonly WorkerRecord[] };
      await route.fulfill({ json: { items: [...items, DEAD], next_cursor: null } });
    });
    await page.goto('/charts');
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Workers/ });
    await expect.poll(async () => link.innerText()).toMatch(/1\s*worker has died/);
    await page.goto('/now');
    const card = page.getByRole('region', { name: 'Dead workers' });
    await card.getByText('machine-2 · 000ABC').waitFor();
    await card.getByRole('link', { name: DEAD.runs[0] ?? '' }).waitFor();
    await card.getByText('when a worker starts on machine-2').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await link.click();
    const row = page.getByRole('row').filter({ hasText: 'machine-2 · 000ABC' });
    await row.getByText('Another worker ends them once their leases have expired').waitFor();
    // Its last report is not its load.
    expect(await row.innerText()).not.toContain('1 of 4');
  });
});

describe('a failing sink', () => {
  it('is redelivered from its page, with live counts and its error', async () => {
    await app.site.client.submitOrder({ body: { ...request, issue_ref: 'acme/shop#1', repo_dir: app.site.work } });
    await until('the sink fails', async () => {
      const { items } = await app.site.client.listSinks();
      return items.find(({ state }) => state !== 'waiting');
    });
    const page = await open('/sinks');
    const row = page.getByRole('row').filter({ hasText: 'hook' });
    await expect.poll(async () => row.innerText()).toMatch(/webhook[^]*(?:Failing|Failed|Broken)/);
    await row.getByRole('button', { name: 'Redeliver' }).click();
    await row.getByText(/queued, first retry now|of \d+ delivered/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.goto('/now');
    const card = page.getByRole('region', { name: 'Failing sinks' });
    await card.getByText('hook').first().waitFor();
  });
});

describe('the settings', () => {
  it('list the approval rules in their order, as text', async () => {
    const page = await open('/rules');
    const rows = page.getByRole('row');
    await expect.poll(async () => rows.nth(1).innerText()).toMatch(/1\s+Deny\s+Any\s+rm \*\s+Any\s+<b>Never<\/b>/);
    await expect.poll(async () => rows.nth(2).innerText()).toMatch(/2\s+Allow\s+Read/);
    await page.setViewportSize(PHONE);
    await expect.poll(async () => rows.nth(2).innerText()).toMatch(/2\s+Allow\s+Read/);
    const tool = rows.nth(2).getByRole('cell', { name: 'Tool Read' });
    expect(await tool.evaluate((cell) => getComputedStyle(cell, '::before').content)).toContain('Tool');
  });

  it('list the tokens without their values', async () => {
    const page = await open('/tokens');
    await expect.poll(async () => page.getByRole('row').nth(1).innerText()).toMatch(/ada\s+read\s+run\s+decide/);
    expect(await page.content()).not.toContain(TOKEN);
    await page.setViewportSize(PHONE);
    await expect.poll(async () => page.getByRole('row').nth(1).innerText()).toMatch(/ada\s+read\s+run\s+decide/);
  });
});
