import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Change, InboxItem } from '../../src/server/api/index.js';
import { findViolations } from './check-accessibility.js';
import { findColored } from './find-colored.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { until } from './start-site.js';
import type { Instructions, Site } from './start-site.js';
import { useConsole } from './use-console.js';

const app = useConsole(async () => undefined);

/** A result with typical worker errors: the form is filled in with its content. */
const INVALID_RESULT = `{ 'issue_ref': 'ISSUE', 'run_id': 'RUN_ID', 'status': 'ok', 'changes': { 'pr': 'https://example.org/pull/9' },
  'tests': { 'command': 'npm test', 'result': 'pass', 'evidence': '214 passed' }, 'summary': 'Keeps the order.', }`;

const PATH = '<img src=x onerror="window.pwned=1">.ts';

/** Creates a malicious agent's change. */
function createChange({ issue_ref, run_id }: InboxItem): Change {
  const lines = [
    { kind: 'same', old_line: 1, new_line: 1, text: 'one' },
    { kind: 'removed', old_line: 2, new_line: null, text: 'two' },
    { kind: 'added', old_line: null, new_line: 2, text: '<script>window.pwned=1</script>' },
  ] as const;
  const hunks = [{ heading: 'function <b>', lines }];
  const file = {
    path: PATH,
    change: 'modified',
    added: 1,
    removed: 1,
    binary: false,
    truncated: false,
    hunks,
  } as const;
  const base_commit = 'a'.repeat(40);
  return { issue_ref, run_id, source: 'worktree', base_commit, commit: null, files: [file], truncated: true };
}

let issues = 0;

/** Submits an order that ends in the inbox, for one test. */
async function submitWaitingOrder(site: Site, instructions: Instructions): Promise<InboxItem> {
  issues += 1;
  const ref = `acme/shop#${100 + issues}`;
  await site.runOrder(ref, {
    ...instructions,
    ...(instructions.raw === undefined ? {} : { raw: instructions.raw.replace('ISSUE', ref) }),
  });
  const { items } = await site.client.listInbox({ query: { issue_ref: ref } });
  const [item] = items;
  if (item === undefined) throw new Error(`no inbox item for ${ref}`);
  return item;
}

/** Reads the comment that the page shows. */
const preview = async (page: Page): Promise<string | null> =>
  page.getByLabel('Comment', { exact: true }).locator('pre').textContent();

/** Opens an item and waits until it is complete: an element clicked while a page is loading can move. */
async function openItem(id: string): Promise<Page> {
  const { page } = await app.open(`/inbox/${id}`);
  await waitUntilLoaded(page);
  return page;
}

/** Chooses an action in the bar. */
async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole('toolbar', { name: 'Decide' }).getByRole('button', { name: action, exact: true }).click();
}

/** Sends the chosen action without waiting, and opens the item again when it is resolved. */
async function confirm(page: Page): Promise<string> {
  const { pathname } = new URL(page.url());
  await page.getByText('Exactly as it will be delivered.').waitFor();
  const shown = await preview(page);
  await page.locator('.decide-bar button[type=submit]').click();
  const pendingActions = page.getByRole('region', { name: 'Pending actions' });
  await pendingActions.getByRole('button', { name: 'Send now' }).click();
  await pendingActions.waitFor({ state: 'detached' });
  await page.goto(pathname);
  await page.getByLabel('Settled').waitFor();
  return shown ?? '';
}

/** Returns the comment delivered for a decision, from the outbox and from the file it was written to. */
async function readDeliveredComment(
  site: Site,
  item: InboxItem,
): Promise<{ readonly body: string; readonly file: string }> {
  const message = await until('the comment is delivered', async () => {
    const { items } = await site.client.listOutbox({ query: { issue_ref: item.issue_ref, state: 'delivered' } });
    return items.find(({ trigger }) => trigger === `resolve:${item.id}`);
  });
  const name = `${item.issue_ref.replaceAll(/[/#:]/g, '_')}.md`;
  return { body: message.body, file: await readFile(join(site.data, 'comments', name), 'utf8') };
}

describe('the inbox', () => {
  it('shows the number of open items on every page, oldest first', async () => {
    const first = await submitWaitingOrder(app.site, { print: 'done' });
    const second = await submitWaitingOrder(app.site, { print: 'done too' });
    const { page } = await app.open('/runs');
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /Inbox/ });
    await expect.poll(async () => link.innerText()).toMatch(/[1-9]/);
    await link.click();
    await waitUntilLoaded(page);
    const rows = await page.getByRole('main').getByRole('listitem').allInnerTexts();
    const positions = [first, second].map(({ issue_ref }) => rows.findIndex((row) => row.includes(issue_ref)));
    expect(positions[0]).toBeGreaterThanOrEqual(0);
    expect(positions[0]).toBeLessThan(positions[1] ?? -1);
  });

  it('shows why an item waits, what to do, the evidence and the output', async () => {
    const item = await submitWaitingOrder(app.site, {
      raw: INVALID_RESULT,
      print: 'All done.',
      complain: 'the cache is cold',
    });
    const page = await openItem(item.id);
    await page.getByText(item.reason).first().waitFor();
    await page.getByRole('article').getByText(item.next).waitFor();
    await expect.poll(async () => page.getByRole('article').innerText()).toContain('RESULT_NOT_JSON');
    await page.locator('summary').filter({ hasText: 'stderr' }).click();
    await page.getByText('the cache is cold', { exact: true }).waitFor();
  });

  it('shows verified evidence separately from reported evidence', async () => {
    const item = await submitWaitingOrder(app.site, { result: {}, exit: 3 });
    const page = await openItem(item.id);
    const verdicts = await page.getByRole('list', { name: 'Verdicts' }).innerText();
    expect(verdicts).toMatch(/Result\s+Verified\s+work_result.json names this run and reports ok; exit code 3\./);
    expect(verdicts).toMatch(/Tests\s+Reported, not verified/);
  });

  it('delivers exactly the comment it showed when a result is edited and accepted', async () => {
    const item = await submitWaitingOrder(app.site, { raw: INVALID_RESULT });
    const page = await openItem(item.id);
    await choose(page, 'Edit and accept');
    await expect.poll(async () => page.getByLabel('Summary').inputValue()).toBe('Keeps the order.');
    await page.getByLabel('Summary').fill('Keeps the order of the list, also on later pages. “Quotes”, <tags> & all.');
    await page.getByLabel('Reason', { exact: true }).fill('I ran the tests myself, twice.');
    await page.getByLabel('Your name').fill('Ada');
    const shown = await confirm(page);
    const { body, file } = await readDeliveredComment(app.site, item);
    expect(shown).toBe(body);
    expect(file).toContain(body);
    expect(body).toContain('“Quotes”, &lt;tags> & all.');
    const { issue } = await app.site.client.getIssue({ ref: item.issue_ref });
    expect(issue.state).toBe('review');
    await expect
      .poll(async () => page.getByLabel('Settled').innerText())
      .toMatch(/Ada[\s\S]*I ran the tests myself, twice\./);
  });

  it('shows the change as a diff, and sends comments on its lines with the decision', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'done' });
    const { page } = await app.open('/inbox');
    await page.route('**/diff?*', async (route) => route.fulfill({ json: createChange(item) }));
    await page.goto(new URL(`/inbox/${item.id}`, page.url()).href);
    await waitUntilLoaded(page);
    const change = page.getByRole('region', { name: 'Change' });
    await expect.poll(async () => change.innerText()).toContain(`<img src=x onerror="window.pwned=1">.ts`);
    await expect
      .poll(async () => change.locator('.diff-line.added').innerText())
      .toContain('<script>window.pwned=1</script>');
    await expect.poll(async () => change.locator('.diff-line.removed').innerText()).toMatch(/removed:\s*two/);
    await change.getByRole('button', { name: 'Comment on line 2', exact: true }).click();
    await change.getByLabel('Your comment on line 2', { exact: true }).fill('Keep the old one.');
    await change.getByRole('button', { name: 'Comment on line 2 before the change' }).click();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    await choose(page, 'Reject');
    await page.getByLabel('Reason', { exact: true }).fill('Not like this.');
    const shown = await confirm(page);
    expect(shown).toContain('line 2: Keep the old one.');
    const { resolution } = await app.site.client.getInboxItem({ id: item.id });
    expect(resolution).toMatchObject({
      comments: [{ path: PATH, line: 2, side: 'new', text: 'Keep the old one.' }],
    });
  });

  it('does not move content below a large change', async () => {
    const first = await submitWaitingOrder(app.site, { print: 'done' });
    const { page, record } = await app.open('/inbox');
    const large = createChange(first);
    const lines = Array.from({ length: 400 }, (_, index) => ({
      kind: 'added' as const,
      old_line: null,
      new_line: index + 1,
      text: `line ${index}`,
    }));
    const files = large.files.map((file) => ({ ...file, hunks: [{ heading: '', lines: lines.slice(0, 150) }] }));
    await page.route('**/diff?*', async (route) => route.fulfill({ json: { ...large, files } }));
    record.shifts.length = 0;
    await page.goto(new URL(`/inbox/${first.id}`, page.url()).href);
    await waitUntilLoaded(page);
    await page.getByRole('toolbar', { name: 'Decide' }).waitFor();
    expect(record.shifts.reduce((sum, { value }) => sum + value, 0)).toBeLessThan(0.001);
  });

  it('shows why there is no change', async () => {
    const page = await openItem((await submitWaitingOrder(app.site, { print: 'done' })).id);
    const change = page.getByRole('region', { name: 'Change' });
    await expect.poll(async () => change.innerText()).toContain("The order's folder is not a git repository.");
  });

  it('accepts a result that can be read, unless that is withdrawn', async () => {
    const item = await submitWaitingOrder(app.site, { result: {}, exit: 3 });
    const page = await openItem(item.id);
    await choose(page, 'Accept');
    await page.getByLabel('Reason', { exact: true }).fill('The exit code is that of the linter.');
    await page.getByText('Exactly as it will be delivered.').waitFor();
    await page.getByRole('button', { name: 'Accept and comment' }).click();
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.waitForURL(`**/inbox/${item.id}`);
    expect((await app.site.client.getInboxItem({ id: item.id })).resolution).toBeNull();
    const shown = await confirm(page);
    expect(shown).toBe((await readDeliveredComment(app.site, item)).body);
  });

  it('does not offer to accept an unreadable result', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    const accept = page.getByRole('button', { name: 'Accept', exact: true });
    await accept.waitFor();
    await expect.poll(async () => accept.isDisabled()).toBe(true);
  });

  it('rejects: the issue is blocked, and the comment has the reason', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    await choose(page, 'Reject');
    await page.getByLabel('Reason', { exact: true }).fill('There is no evidence.');
    const shown = await confirm(page);
    expect(shown).toBe((await readDeliveredComment(app.site, item)).body);
    expect(shown).toContain('There is no evidence.');
    const { issue } = await app.site.client.getIssue({ ref: item.issue_ref });
    expect(issue.state).toBe('blocked');
    // Its order needed a decision, and needs none any more.
    for (const path of [
      `/issues/${encodeURIComponent(item.issue_ref)}`,
      `/executions?issue_ref=${encodeURIComponent(item.issue_ref)}`,
    ]) {
      await page.goto(path);
      await waitUntilLoaded(page);
      await page.locator('.badge').getByText('Needs a decision').first().waitFor();
      expect(await findColored(page, '--warn', '--warn-soft')).toEqual([]);
    }
  });

  it('retries: the order is queued again as a new run', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    await choose(page, 'Retry');
    await page.getByLabel('Reason', { exact: true }).fill('Perhaps it was the network.');
    const shown = await confirm(page);
    expect(shown).toBe((await readDeliveredComment(app.site, item)).body);
    const { issue } = await app.site.client.getIssue({ ref: item.issue_ref });
    expect(issue.active_run_id).not.toBe(item.run_id);
  });

  it('requires a reason', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    await choose(page, 'Reject');
    await page.getByRole('button', { name: 'Reject and comment' }).click();
    await expect.poll(async () => page.getByLabel('Reason', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await expect.poll(async () => page.getByRole('region', { name: 'Pending actions' }).count()).toBe(0);
  });

  it('reports that another user has decided, and keeps the draft', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    await choose(page, 'Reject');
    await page.getByLabel('Reason', { exact: true }).fill('My long reason.');
    await page.getByText('Exactly as it will be delivered.').waitFor();
    await app.site.client.resolveItem({ id: item.id, body: { action: 'reject', why: 'I was here first.' } });
    await page.getByLabel('Settled').getByText('I was here first.').waitFor();
    await page.getByText('Already settled').waitFor();
    await expect.poll(async () => page.getByRole('article').innerText()).toContain('My long reason.');
  });

  it('keeps an unfinished reason across a reload', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    await choose(page, 'Reject');
    await page.getByLabel('Reason', { exact: true }).fill('Because the');
    await page.reload();
    await expect.poll(async () => page.getByLabel('Reason', { exact: true }).inputValue()).toBe('Because the');
  });

  it('can be decided with only the keyboard', async () => {
    const item = await submitWaitingOrder(app.site, { print: 'Trust me.' });
    const page = await openItem(item.id);
    const bar = page.getByRole('toolbar', { name: 'Decide' });
    await bar.getByRole('button', { name: 'Retry', exact: true }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(async () => page.evaluate(() => document.activeElement?.id)).toBe('why');
    await page.keyboard.type('Not good enough.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const pendingActions = page.getByRole('region', { name: 'Pending actions' });
    const sendNow = pendingActions.getByRole('button', { name: 'Send now' });
    await sendNow.focus();
    await page.keyboard.press('Enter');
    await pendingActions.waitFor({ state: 'detached' });
    expect((await app.site.client.getInboxItem({ id: item.id })).resolution).toMatchObject({ action: 'reject' });
  });
});
