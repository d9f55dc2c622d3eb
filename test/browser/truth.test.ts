import { describe, expect, it } from 'vitest';
import { createUlidGenerator } from '../../src/base/ulid.js';
import { codex, toBytes } from '../../src/events/contract/translate-lines.contract.js';
import { createTranslator } from '../../src/events/index.js';
import { openStore } from '../../src/store/open-store.js';
import { longSession } from './codex-lines.js';
import { measureHeap } from './measure-heap.js';
import { seedHistory } from './seed-history.js';
import { seedRetriedRun } from './seed-runs.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';
import { waitUntilLoaded } from './wait-until-loaded.js';

const BEHIND_MS = 134_000;
/** The runs created in the store have no files, so the page cannot read their bytes. */
const NO_FILES = { mayFail: /404/ };

const app = useConsole(
  async (site: Site) => {
    const order = await site.runOrder('acme/shop#1', { complain: 'A harmless note.', result: {} });
    await seedHistory(site.data, { days: 2, perDay: 20 });
    const retried = await seedRetriedRun(site.data, '{"colour": "blue", "size": 3}');
    const exhausted = await seedRetriedRun(site.data, null);
    return { retried, exhausted, order: order.run, behind: await seedLiveRun(site.data, longSession(20_000)) };
  },
  { budgets: { day: { tokens: 1_000_000_000 } } },
);

/** Creates a run that another worker still executes, with events from two minutes ago that no page has read. */
async function seedLiveRun(data: string, records: readonly (object | string)[]) {
  const at = Date.now() - BEHIND_MS;
  const id = createUlidGenerator(() => at)();
  const translator = createTranslator({ engine: 'codex', runId: id, attempt: 1, mode: 'auto', clock: () => at });
  const store = await openStore(`sqlite:${data}/sluice.db`);
  const spec = { engine: 'codex', prompt: 'Print a lot.', workdir: '/srv/shop' };
  await store.createRun({ id, spec, state: 'running', workerId: 'elsewhere', leaseMs: 86_400_000, now: at });
  await store.close();
  const print = async (more: readonly (object | string)[]) => {
    const writer = await openStore(`sqlite:${data}/sluice.db`);
    const events = translator.push('stdout', toBytes(more));
    for (let from = 0; from < events.length; from += 1000) await writer.append(id, events.slice(from, from + 1000));
    await writer.close();
  };
  await print(records);
  return { id, print };
}

describe('the console says what is true', () => {
  it('an attempt that was rejected and retried is not shown as running, and its answer is compared with the next', async () => {
    const { page } = await app.open(`/runs/${app.seeds.retried}`, NO_FILES);
    await waitUntilLoaded(page);
    await page.getByRole('tab', { name: 'Attempts' }).click();
    const table = page.getByRole('region', { name: 'Attempts side by side' });
    const outcomes = table.getByRole('row').filter({ hasText: 'Outcome' });
    await expect.poll(async () => outcomes.innerText()).toContain('Rejected: ');
    expect(await outcomes.innerText()).toContain('size');
    expect(await outcomes.innerText()).not.toContain('Running');
    const changes = table.getByRole('row').filter({ hasText: 'Changes in the next answer' });
    expect(await changes.locator('.diff-line.added').innerText()).toContain('"size": 3');
  });

  it('used-up retries are not advised again', async () => {
    const { page } = await app.open(`/runs/${app.seeds.exhausted}`, NO_FILES);
    const card = page.getByRole('region', { name: 'Failure' });
    await card.waitFor();
    expect(await card.innerText()).toContain('All retries were used.');
    expect(await card.innerText()).not.toContain('allow retries');
  });

  it('a cost is a lower bound if an engine reports none', async () => {
    const { page } = await app.open('/charts?range=week');
    await waitUntilLoaded(page);
    const tile = page.locator('.summary-row .card').filter({ hasText: 'Cost' });
    await expect.poll(async () => tile.innerText()).toMatch(/≥ \$\d[^]*1 engine reports no cost/);
    const table = page.getByRole('region', { name: 'Tokens and cost' });
    expect(await table.getByRole('row').filter({ hasText: 'gemini' }).innerText()).toMatch(/–$/);
    expect(await table.getByRole('row').last().innerText()).toMatch(/≥ \$\d/);
    await page.goto('/runs?engine=gemini');
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByRole('row').nth(1).getByRole('cell', { name: '–' }).count()).toBe(1);
  });

  it('only a failure is red: a line on stderr is not', async () => {
    const { page } = await app.open(`/runs/${app.seeds.order}`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    const row = timeline.getByRole('listitem').filter({ hasText: 'A harmless note.' });
    await row.waitFor();
    expect(await row.innerText()).not.toMatch(/Error|Failed/);
    expect(await row.locator('.failed, .error').count()).toBe(0);
  });

  /** Opens the run whose events are old on a slow network, so that the page cannot catch up before `limitSpeed(-1)`. */
  async function openBehind() {
    const { page } = await app.open('/runs', NO_FILES);
    await waitUntilLoaded(page);
    const browser = await page.context().newCDPSession(page);
    const limitSpeed = async (downloadThroughput: number) =>
      browser.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput,
        uploadThroughput: -1,
      });
    await limitSpeed(100_000);
    await page.goto(`/runs/${app.seeds.behind.id}`);
    const status = page.getByRole('status', { name: 'Connection' });
    await expect.poll(async () => status.innerText(), { timeout: 60_000 }).toMatch(/^[\d,]+ behind, catching up$/);
    return { page, status, limitSpeed };
  }

  it('a page that is behind says by how much, until it has caught up', async () => {
    const { status, limitSpeed } = await openBehind();
    await limitSpeed(-1);
    await expect.poll(async () => status.innerText(), { timeout: 60_000 }).toBe('Live');
  });

  it('a page that is behind jumps to the end, and says what it has skipped', async () => {
    const { page, status, limitSpeed } = await openBehind();
    await page.getByRole('button', { name: 'Jump to the end' }).click();
    await limitSpeed(-1);
    await page.getByText(/^Events [\d,]+ to [\d,]+\. The export/).waitFor();
    await expect.poll(async () => status.innerText(), { timeout: 60_000 }).toBe('Live');
    await page.getByText('Message 19999: looked at part 19999').first().waitFor();
    await expect.poll(async () => page.getByText('Message 15000:').count()).toBe(0);
  });

  it('a page at its limit drops the oldest events, says so, and still follows the run', async () => {
    // Each message is stored in both logs; the limit is 128 Mi characters.
    const long = Array.from({ length: 70 }, (_, index) =>
      codex.message(`Message ${index}: ${'x'.repeat(1_000_000)}`, `item_${index}`),
    );
    const { id, print } = await seedLiveRun(app.site.data, [codex.thread(), codex.turn, ...long]);
    const { page } = await app.open(`/runs/${id}`, NO_FILES);
    await page.getByText(/^Events 1 to \d+\. The export/).waitFor();
    await print([codex.message('Message 70: small', 'item_70')]);
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await conversation.getByText('Message 70: small').waitFor();
    const status = page.getByRole('status', { name: 'Connection' });
    await expect.poll(async () => status.innerText(), { timeout: 30_000 }).toBe('Live');
    expect(await conversation.getByRole('listitem').count()).toBeLessThan(15);
    // Nothing still refers to the dropped events, which have 128 MB of text.
    await expect.poll(async () => measureHeap(page)).toBeLessThan(80);
  });

  it('panes say nothing about rows that have not arrived', async () => {
    const { page } = await app.open('/runs', NO_FILES);
    await waitUntilLoaded(page);
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/runs/*/events?*', async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.goto(`/runs/${app.seeds.retried}`);
    await page.locator('.run-pane-skeleton').first().waitFor();
    expect(await page.locator('.run-panes').innerText()).not.toMatch(/No (?:messages|events|bytes|items)/);
    release();
    await page.getByRole('region', { name: 'Conversation' }).getByText('"size": 3').first().waitFor();
  });

  it('the counts of waiting items agree', async () => {
    const { page } = await app.open('/inbox');
    const items = Array.from({ length: 133 }, (_, index) => ({
      kind: 'sink',
      id: `sink ${index}`,
      at: new Date().toISOString(),
      text: 'It responded with 401.',
      sink: `hook-${index}`,
      state: 'broken',
      open: 1,
      dead: 0,
    }));
    await page.route('**/v1/waiting', async (route) => route.fulfill({ json: { items, complete: true } }));
    await expect.poll(async () => page.getByRole('link', { name: /^Inbox/ }).innerText()).toMatch(/133/);
    expect(await page.getByRole('heading', { name: /^Deliveries/ }).innerText()).toContain('133');
    expect(await page.title()).toContain('(133)');
  });

  it('the time zone is shown where a day begins', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Failed yesterday' }).click();
    await page.getByText(/^Created from .* \(UTC/).waitFor();
    await page.goto('/budgets');
    await page.getByText('The budgets of a day begin at 00:00 UTC').waitFor();
    expect(await page.getByRole('region', { name: 'Budgets' }).innerText()).toContain('Today');
  });
});
