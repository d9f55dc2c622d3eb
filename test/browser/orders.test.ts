import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { dropNextResponse } from './drop-response.js';
import { labelState } from '../../web/ui/parts.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { until } from './start-site.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

/**
 * Creates an order that advances, one that is blocked, and one that needs a decision; each comment reaches a file but
 * not the webhook.
 */
async function seedOrders(site: Site) {
  const advancing = await site.runOrder('acme/shop#1', { result: {} });
  const blocked = await site.runOrder('acme/shop#2', {
    result: { status: 'blocked', blocked_by: 'acme/shop#1' },
  });
  const undecided = await site.runOrder('acme/shop#3', { print: '=cmd|calc!A1' });
  await until('deliveries have ended', async () => {
    const { items } = await site.client.listOutbox({ query: { limit: 100 } });
    return items.length >= 6 && items.every(({ state }) => state === 'delivered' || state === 'dead')
      ? items
      : undefined;
  });
  return { good: advancing, blocked, unclear: undecided };
}

/** A repository that orders may name; no worker can fetch it. */
const REPOSITORY = 'file:///nowhere/shop.git';

const app = useConsole(seedOrders, {
  max_delivery_tries: 1,
  repos: [REPOSITORY],
  sinks: [
    { type: 'markdown' },
    {
      type: 'webhook',
      url: 'http://127.0.0.1:9/hook',
      secret_env: 'SLUICE_TEST_SECRET',
      allow_private_addresses: true,
    },
  ],
});

describe('the outbox', () => {
  it("lists each comment's destination, attempts and error", async () => {
    const { page } = await app.open('/outbox?issue_ref=acme%2Fshop%231');
    await waitUntilLoaded(page);
    const rows = page.getByRole('row').filter({ hasText: 'acme/shop#1' });
    const failed = rows.filter({ hasText: 'failed' });
    await failed.waitFor();
    await expect.poll(async () => failed.innerText()).toMatch(/webhook[\s\S]*127\.0\.0\.1[\s\S]*1/);
    await expect.poll(async () => rows.filter({ hasText: 'delivered' }).innerText()).toContain('acme_shop_1.md');
  });

  it('shows a comment as delivered', async () => {
    const { page } = await app.open('/outbox?issue_ref=acme%2Fshop%231&state=delivered');
    await page.getByRole('table').getByRole('button').first().click();
    const shown = await page.getByRole('table').locator('pre').textContent();
    const { items } = await app.site.client.listOutbox({
      query: { issue_ref: 'acme/shop#1', state: 'delivered' },
    });
    const message = items.find(({ body }) => body === shown);
    expect(message).toBeDefined();
    expect(await readFile(message?.delivered_to ?? '', 'utf8')).toContain(shown);
  });

  it('shows one notice per failing sink, and redelivers its comments or one of them', async () => {
    const { page } = await app.open('/outbox?issue_ref=acme%2Fshop%231&state=dead');
    await page.getByText(/webhook: 3 comments not delivered/).waitFor();
    const tries = async () =>
      (await app.site.client.listOutbox({ query: { issue_ref: 'acme/shop#1', limit: 10 } })).items
        .filter(({ sink }) => sink === 'webhook')
        .map((message) => [message.state, message.tries]);
    expect(await tries()).toEqual([['dead', 1]]);
    await page.getByRole('button', { name: 'Redeliver to webhook' }).click();
    // The first redelivery counts as the second attempt.
    await expect.poll(tries).toEqual([['dead', 2]]);
    await page.getByRole('table').getByRole('button').first().click();
    const redelivered = page.waitForResponse((response) => response.url().includes('/redeliver'));
    await page.getByRole('button', { name: 'Redeliver', exact: true }).click();
    expect((await redelivered).status()).toBe(200);
    await expect.poll(tries).toEqual([['dead', 2]]);
  });

  it('narrows by state', async () => {
    const { page } = await app.open('/outbox');
    await waitUntilLoaded(page);
    await page.getByLabel('State').selectOption('dead');
    await waitUntilLoaded(page);
    const rows = page.getByRole('table').getByRole('row');
    await expect.poll(async () => rows.filter({ hasText: 'delivered' }).count()).toBe(0);
    await expect.poll(async () => rows.filter({ hasText: 'failed' }).count()).toBeGreaterThanOrEqual(3);
  });
});

describe('the list of executions', () => {
  it('has a row for every execution, with its details when opened', async () => {
    const { page } = await app.open('/executions?issue_ref=acme%2Fshop%232');
    await waitUntilLoaded(page);
    const row = page.getByRole('row').filter({ hasText: 'acme/shop#2' });
    await expect.poll(async () => row.first().innerText()).toContain('Blocked');
    await row.first().getByRole('button').click();
    await page.getByRole('link', { name: app.seeds.blocked.run_id }).waitFor();
    await expect.poll(async () => page.getByRole('table').innerText()).toContain('dep_unresolved');
  });

  it('narrows by decision and wrapper, in the address', async () => {
    const { page } = await app.open('/executions');
    await waitUntilLoaded(page);
    await page.getByLabel('Decision').selectOption('advance');
    const rows = page.getByRole('table').getByRole('row');
    await expect.poll(async () => rows.filter({ hasText: 'acme/shop' }).count()).toBe(1);
    await page.getByLabel('Wrapper').fill('nobody');
    await page.getByText('No executions match').waitFor();
    expect(new URL(page.url()).search).toBe('?decision=advance&worker=nobody');
  });

  it('is exported with its filters, without formulas', async () => {
    const { page } = await app.open('/executions?decision=needs-human');
    await waitUntilLoaded(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /CSV/ }).click(),
    ]);
    const file = join(app.site.folder, 'executions.csv');
    await download.saveAs(file);
    const text = await readFile(file, 'utf8');
    expect(text).toContain('acme/shop#3');
    expect(text).not.toContain('acme/shop#2');
    expect(text).not.toMatch(/(?:^|,)"?[=+@]/m);
  });
});

describe('the list of issues', () => {
  it('shows each issue with its state, most recently changed first', async () => {
    const { page } = await app.open('/issues');
    await waitUntilLoaded(page);
    const { items } = await app.site.client.listIssues();
    const rows = await page.getByRole('table').getByRole('row').allInnerTexts();
    expect(rows.slice(1)).toEqual(
      items.map(({ issue_ref, state }) => {
        const label = labelState(state);
        return expect.stringMatching(new RegExp(`${label}[^]*${issue_ref}`));
      }),
    );
    await page.getByRole('link', { name: 'acme/shop#2' }).click();
    await page.waitForURL('**/issues/acme%2Fshop%232');
  });

  it('opens the history of an issue with links to its orders, decisions and comments', async () => {
    const { page } = await app.open('/issues/acme%2Fshop%233');
    await waitUntilLoaded(page);
    const main = page.getByRole('main');
    await main.getByText(app.seeds.unclear.run_id).first().waitFor();
    await expect.poll(async () => main.innerText()).toContain('Needs a decision');
    const links = await main
      .getByRole('link')
      .evaluateAll((found) => found.map((link) => (link instanceof HTMLAnchorElement ? link.pathname : '')));
    expect(links).toContain(`/runs/${app.seeds.unclear.run}`);
    expect(links.some((path) => path.startsWith('/inbox/'))).toBe(true);
  });
});

describe('the order form', () => {
  const mayFail = /v1\/orders/;
  const countOrders = async (ref: string) => (await app.site.client.getIssue({ ref })).orders.length;
  /** Submits an order whose response is lost. Returns the button that was pressed. */
  const submitUnanswered = async (page: Page) => {
    await dropNextResponse(page, '/v1/orders');
    const submit = page.getByRole('button', { name: 'Submit order' });
    await submit.click();
    await page.getByText('the order is submitted only once').waitFor();
    return submit;
  };

  it('keeps the repository empty once the user has cleared it', async () => {
    const { page } = await app.open('/issues?order');
    const repository = page.getByRole('combobox', { name: 'Repository' });
    expect(await repository.inputValue()).not.toBe('');
    await repository.fill('');
    await page.getByRole('button', { name: 'Submit order' }).click();
    await page.getByText('Enter the absolute path of a folder on the server').waitFor();
    expect(await repository.inputValue()).toBe('');
  });

  it('accepts a repository by its URL, and lists the configured ones next to the field', async () => {
    const { page } = await app.open('/issues?order');
    await page.getByLabel('Issue').fill('acme/shop#77');
    await page.getByLabel('Role').fill('dev');
    await page.getByLabel('Instructions').fill('{}');
    const field = page.getByRole('combobox', { name: 'Repository' });
    await field.fill('https://git.example.org/other.git');
    const submit = page.getByRole('button', { name: 'Submit order' });
    await submit.click();
    await page
      .getByText(`not configured. Add its URL to "repos" in the configuration. Configured: ${REPOSITORY}.`)
      .waitFor();
    await expect.poll(async () => field.evaluate((input) => input === document.activeElement)).toBe(true);
    await field.fill(REPOSITORY);
    await submit.click();
    await page.waitForURL('**/issues/acme%2Fshop%2377');
    const { orders } = await app.site.client.getIssue({ ref: 'acme/shop#77' });
    expect(orders[0]?.order).toMatchObject({ repo: REPOSITORY });
  });

  it('submits one order if the response was lost and the form is resubmitted, even after a reload', async () => {
    const { page } = await app.open('/issues/acme%2Fshop%231?order', { mayFail });
    const before = await countOrders('acme/shop#1');
    const submit = await submitUnanswered(page);
    await page.reload();
    await submit.click();
    await page.waitForURL('**/issues/acme%2Fshop%231');
    expect(await countOrders('acme/shop#1')).toBe(before + 1);
  });

  it('submits another order if the form was changed after the response was lost', async () => {
    const { page } = await app.open('/issues/acme%2Fshop%232?order', { mayFail });
    const before = await countOrders('acme/shop#2');
    const submit = await submitUnanswered(page);
    await page.getByLabel('Instructions').fill('{"exit": 0}');
    await submit.click();
    await page.waitForURL('**/issues/acme%2Fshop%232');
    expect(await countOrders('acme/shop#2')).toBe(before + 2);
  });
});

describe('the list of workers', () => {
  it('shows each worker with its host, load and last report, and warns if none is alive', async () => {
    const { page } = await app.open('/workers');
    const row = page.getByRole('row').filter({ hasText: 'alive' });
    await row.waitFor();
    await expect.poll(async () => row.innerText()).toMatch(/of \d[\s\S]*codex/);
    await page.route('**/v1/workers', async (route) => {
      // Without the tag of the list that the page has, the server sends it again.
      const headers = { ...route.request().headers(), 'if-none-match': '' };
      const response = await route.fetch({ headers });
      const { items } = (await response.json()) as { items: object[] };
      await route.fulfill({ json: { items: items.map((item) => ({ ...item, state: 'gone' })), next_cursor: null } });
    });
    await page.getByText('No worker is running').waitFor();
  });
});
