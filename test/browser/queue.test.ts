import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { WaitingEntry } from '../../src/server/api/index.js';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { findViolations } from './check-accessibility.js';
import { session } from './codex-lines.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const app = useConsole(async () => undefined);

/** Starts a run that waits for an answer. */
async function ask(site: Site, question: string, task = 'Paint the shed.'): Promise<string> {
  const { id } = await site.startRun({
    mode: 'interactive',
    prompt: task,
    prints: session(codex.message(question)),
    printsAfterReply: session(codex.message('Blue it is.\n{"__SKILL_DONE__": true}', 'item_1')),
  });
  await site.waitForRun(id, 'waiting');
  return id;
}

let issues = 0;

/** Creates a result awaiting review, and returns its id. */
async function review(site: Site): Promise<string> {
  issues += 1;
  const ref = `acme/queue#${issues}`;
  await site.runOrder(ref, { print: 'done' });
  const { items } = await site.client.listInbox({ query: { issue_ref: ref } });
  return items[0]?.id ?? '';
}

const MALICIOUS_TEXT = '<img src=x onerror="window.pwned=1">\u001B[31m\u202Ered';

const PERMISSION: Extract<WaitingEntry, { kind: 'permission' }> = {
  kind: 'permission',
  id: 'r1/px_1_1',
  at: '2026-11-15T06:30:00.000Z',
  text: `Allow ${MALICIOUS_TEXT}? {"command":"rm -r dist"}`,
  run: 'r1',
  engine: 'claude',
  task: MALICIOUS_TEXT,
  issue_ref: null,
  interaction_id: 'px_1_1',
  seq: 4,
  held_until: '2026-11-15T06:31:00.000Z',
  expires_at: '2099-11-16T06:30:00.000Z',
  tool: MALICIOUS_TEXT,
  command: null,
  changes: [{ path: `src/${MALICIOUS_TEXT}.ts`, added: 1, removed: 1 }],
  options: [
    { id: 'yes', label: 'Allow once', kind: 'allow_once' },
    { id: 'no', label: 'Deny', kind: 'reject_once' },
  ],
};
const SINK: WaitingEntry = {
  kind: 'sink',
  id: 'sink hook',
  at: '2026-11-15T06:30:00.000Z',
  text: 'hook answered 401',
  sink: 'hook',
  state: 'broken',
  open: 3,
  dead: 4,
};

/** The event that requests the permission. */
const PERMISSION_EVENT = {
  protocol_version: 'fcmp/1.2',
  run_id: 'r1',
  seq: 4,
  ts: '2026-11-15T06:30:00.000Z',
  engine: 'claude',
  type: 'permission.required',
  data: {
    interaction_id: 'px_1_1',
    tool_call_id: 't1',
    tool: MALICIOUS_TEXT,
    input: { file_path: MALICIOUS_TEXT },
    diff: [
      { path: `src/${MALICIOUS_TEXT}.ts`, old_text: 'one\ntwo\n', new_text: 'one\n<script>window.pwned=1</script>\n' },
    ],
    options: PERMISSION.options,
  },
  meta: { attempt: 1 },
  correlation: {},
  raw_ref: null,
};

/** Lets the page read that event. */
async function servePermissionEvent(page: Page): Promise<void> {
  await page.route('**/v1/runs/r1/history?*', async (route) =>
    route.fulfill({ json: { events: [PERMISSION_EVENT], next_from: null } }),
  );
}

/** Opens the inbox with these entries instead of the server's. */
async function openWith(
  entries: readonly WaitingEntry[],
  path = '/inbox',
  size: { readonly width?: number; readonly height?: number } = {},
): Promise<Page> {
  const { page } = await app.open('/workbench', size);
  await page.route('**/v1/waiting', async (route) => route.fulfill({ json: { items: entries, complete: true } }));
  await servePermissionEvent(page);
  await page.goto(new URL(path, page.url()).href);
  await waitUntilLoaded(page);
  return page;
}

describe('the queue', () => {
  it('has questions and results in one list, with the text of the question, and a count in the title', async () => {
    const run = await ask(app.site, 'Which colour shall the *shed* have?');
    const item = await review(app.site);
    const { page } = await app.open('/inbox');
    await waitUntilLoaded(page);
    const rows = page.locator('.entry');
    await expect.poll(async () => rows.count()).toBeGreaterThanOrEqual(2);
    await expect.poll(async () => rows.first().innerText()).toContain('Which colour shall the *shed* have?');
    await expect
      .poll(async () => page.getByRole('region', { name: 'Results to review' }).innerText())
      .toContain('acme/queue#');
    await expect.poll(async () => page.title()).toMatch(/^\(\d+\) Inbox/);
    // The first entry is open next to the list, and can be answered there.
    await page.getByRole('article', { name: `Question from run ${run}` }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.goto(new URL(`/inbox/${item}`, page.url()).href);
    await page.getByRole('toolbar', { name: 'Decide' }).waitFor();
  });

  it('does not send an answer within the list to a question that has replaced the answered one', async () => {
    const question: WaitingEntry = {
      kind: 'question',
      id: 'r1/q1',
      at: '2026-11-15T06:30:00.000Z',
      text: 'Which colour shall the gate have?',
      run: 'r1',
      engine: 'claude',
      task: 'Paint the gate.',
      issue_ref: null,
      interaction_id: 'q1',
      seq: 4,
      held_until: '2026-11-15T06:31:00.000Z',
      expires_at: '2099-11-16T06:30:00.000Z',
      options: [],
    };
    const page = await openWith([question], '/inbox', { width: 390, height: 844 });
    let replies = 0;
    await page.route('**/v1/runs/r1/reply', async (route) => {
      replies += 1;
      await route.fulfill({ json: { status: 'posted' } });
    });
    const row = page.locator('.entry').filter({ hasText: 'Paint the gate.' });
    await row.getByLabel('Answer in one line').fill('Blue.');
    const next = { ...question, id: 'r1/q2', interaction_id: 'q2', text: 'Which size shall the gate have?' };
    await page.route('**/v1/waiting', async (route) => route.fulfill({ json: { items: [next], complete: true } }));
    await row.locator('button[type=submit]').evaluate((button) => (button as HTMLButtonElement).click());
    await row.getByText('Which size shall the gate have?').waitFor();
    await waitUntilLoaded(page);
    expect(replies).toBe(0);
  });

  it('answers a question within the list, even on a phone', async () => {
    const run = await ask(app.site, 'Which colour shall the door have?', 'Paint the door.');
    const { page } = await app.open('/inbox?search=door', { width: 390, height: 844 });
    await waitUntilLoaded(page);
    const row = page.locator('.entry').filter({ hasText: 'Paint the door.' });
    await row.getByLabel('Answer in one line').fill('Blue.');
    await row.getByRole('button', { name: 'Send answer' }).click();
    const ended = await app.site.waitForRun(run, 'ended');
    expect(ended.result?.status).toBe('success');
    await expect.poll(async () => row.count()).toBe(0);
  });

  it('searches in questions, reasons and codes', async () => {
    const run = await ask(app.site, 'Shall the fence be painted?', 'Paint the fence.');
    const { page } = await app.open('/inbox');
    await waitUntilLoaded(page);
    await page.getByLabel('Search the inbox').fill('FENCE painted');
    await expect.poll(async () => page.locator('.entry').count()).toBe(1);
    await page.getByRole('article', { name: `Question from run ${run}` }).waitFor();
    await page.getByLabel('Search the inbox').fill('output_unparseable');
    await expect.poll(async () => page.getByRole('region', { name: 'Waiting agents' }).count()).toBe(0);
    await app.site.client.cancelRun({ id: run });
  });

  it('decides with keys in a bar that is always visible, and opens the next item', async () => {
    const item = await review(app.site);
    const { page } = await app.open(`/inbox/${item}`);
    await waitUntilLoaded(page);
    const bar = page.getByRole('toolbar', { name: 'Decide' });
    await bar.waitFor();
    const box = await bar.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
    const submit = await bar.getByRole('button', { name: 'Choose an action' }).boundingBox();
    expect((submit?.y ?? 0) + (submit?.height ?? 0)).toBeLessThanOrEqual(800);
    const reason = await bar.getByRole('textbox', { name: 'Reason' }).boundingBox();
    expect(submit?.y).toBe(reason?.y);
    await page.setViewportSize({ width: 1600, height: 800 });
    // Everything on one line.
    expect((await bar.boundingBox())?.height).toBeLessThan((box?.height ?? 0) / 1.5);
    await page.keyboard.press('r');
    await page.keyboard.type('Not like this.');
    // Enter alone does not send anything.
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    const pendingActions = page.getByRole('region', { name: 'Pending actions' });
    await pendingActions.getByText('Reject: acme/queue#').waitFor();
    // The next item is open by itself.
    await expect.poll(() => new URL(page.url()).pathname).not.toContain(item);
    expect((await app.site.client.getInboxItem({ id: item })).resolution).toBeNull();
    await pendingActions.getByRole('button', { name: 'Send now' }).click();
    await pendingActions.waitFor({ state: 'detached' });
    const { resolution } = await app.site.client.getInboxItem({ id: item });
    expect(resolution).toMatchObject({ action: 'reject', why: 'Not like this.' });
  });

  it('keeps the draft of a decision that is withdrawn', async () => {
    const item = await review(app.site);
    const { page } = await app.open(`/inbox/${item}`);
    await waitUntilLoaded(page);
    await page.getByRole('toolbar', { name: 'Decide' }).getByRole('button', { name: 'Retry' }).click();
    await page.getByLabel('Reason', { exact: true }).fill('Perhaps it was the network.');
    await page.getByRole('button', { name: 'Retry and comment' }).click();
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.waitForURL(`**/inbox/${item}`);
    await expect
      .poll(async () => page.getByLabel('Reason', { exact: true }).inputValue())
      .toBe('Perhaps it was the network.');
    await expect.poll(async () => page.getByRole('button', { name: 'Retry and comment' }).isEnabled()).toBe(true);
    expect((await app.site.client.getInboxItem({ id: item })).resolution).toBeNull();
  });

  it('does not send a decision if another user has settled the item meanwhile, and the row says so', async () => {
    const item = await review(app.site);
    const { page } = await app.open(`/inbox/${item}`);
    await waitUntilLoaded(page);
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByLabel('Reason', { exact: true }).fill('Perhaps it was the network.');
    await page.getByRole('button', { name: 'Retry and comment' }).click();
    await page.getByRole('region', { name: 'Pending actions' }).getByText('Retry: acme/queue#').waitFor();
    await app.site.client.resolveItem({ id: item, body: { action: 'reject', why: 'I was here first.' } });
    const row = page.locator(`[data-entry="${item}"]`);
    await row.getByText(/has settled it meanwhile \(reject\)\. Nothing was sent\./).waitFor();
    expect((await app.site.client.getInboxItem({ id: item })).resolution).toMatchObject({ action: 'reject' });
  });

  it('sends an action for multiple entries after a few seconds, during which it can be withdrawn', async () => {
    const items = [await review(app.site), await review(app.site)];
    const { page } = await app.open('/inbox?search=acme/queue');
    await waitUntilLoaded(page);
    const mark = async (): Promise<void> => {
      for (const id of items) await page.locator(`[data-entry="${id}"] input.entry-mark`).check();
    };
    await mark();
    await page.getByRole('group', { name: 'Bulk actions' }).getByRole('button', { name: 'Reject' }).click();
    // Nothing happens without a reason.
    await expect
      .poll(async () => page.getByLabel('Reason for all selected items').getAttribute('aria-invalid'))
      .toBe('true');
    await page.getByLabel('Reason for all selected items').fill('Out of scope.');
    await page.getByRole('group', { name: 'Bulk actions' }).getByRole('button', { name: 'Reject' }).click();
    const pendingActions = page.getByRole('region', { name: 'Pending actions' });
    await pendingActions.getByText('Rejecting 2 results').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await pendingActions.getByRole('button', { name: 'Withdraw' }).click();
    await pendingActions.waitFor({ state: 'detached' });
    for (const id of items) expect((await app.site.client.getInboxItem({ id })).resolution).toBeNull();
    await mark();
    await page.getByLabel('Reason for all selected items').fill('Out of scope.');
    await page.getByRole('group', { name: 'Bulk actions' }).getByRole('button', { name: 'Reject' }).click();
    // It is sent even though another page is open.
    await page.getByRole('link', { name: 'Issues' }).click();
    await pendingActions.getByText('Rejecting 2 results').waitFor();
    await pendingActions.waitFor({ state: 'detached' });
    for (const id of items) {
      const { resolution } = await app.site.client.getInboxItem({ id });
      expect(resolution).toMatchObject({ action: 'reject', why: 'Out of scope.' });
    }
  });

  it('shows what a permission would change as a diff, malicious names and lines as text', async () => {
    const page = await openWith([PERMISSION], '/inbox?entry=r1%2Fpx_1_1');
    const request = page.getByRole('article', { name: 'Permission request from run r1' });
    await request.locator('.diff-line.removed').waitFor();
    await expect.poll(async () => request.locator('.diff-line.removed').innerText()).toContain('two');
    await expect
      .poll(async () => request.locator('.diff-line.added').innerText())
      .toContain('<script>window.pwned=1</script>');
    await expect
      .poll(async () => request.locator('.file-change').innerText())
      .toContain('src/<img src=x onerror="window.pwned=1">');
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(await findViolations(page)).toEqual([]);
  });

  it('has one entry for a failing sink, and redelivers its comments', async () => {
    const page = await openWith([SINK], '/inbox?entry=sink%20hook');
    await expect.poll(async () => page.locator('.entry').count()).toBe(1);
    await expect.poll(async () => page.locator('.entry').innerText()).toContain('7 comments not delivered');
    await page.route('**/v1/outbox/redeliver', async (route) => {
      expect(route.request().postDataJSON()).toEqual({ sink: 'hook' });
      await route.fulfill({ json: { redelivered: 7 } });
    });
    await page.getByRole('button', { name: 'Redeliver all' }).click();
    await page.getByText('0 of 7 delivered, 3 to go, 4 failed: hook answered 401').waitFor();
    const retried = { ...SINK, open: 7, dead: 0 };
    await page.route('**/v1/waiting', async (route) => route.fulfill({ json: { items: [retried], complete: true } }));
    await page.getByText('7 queued, first retry now').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it('shows that the linked entry is no longer waiting', async () => {
    const page = await openWith([], '/inbox?entry=gone');
    await page.getByText('This item is no longer waiting').waitFor();
    await page.goto(new URL('/inbox', page.url()).href);
    await page.getByText('Nothing is waiting for you').waitFor();
    await expect.poll(async () => page.title()).toBe('Inbox · Sluice');
  });

  it('sends notifications of new entries if they are allowed and the tab is hidden', async () => {
    const { page } = await app.open('/workbench');
    await servePermissionEvent(page);
    let entries: readonly WaitingEntry[] = [SINK];
    await page.route('**/v1/waiting', async (route) => route.fulfill({ json: { items: entries, complete: true } }));
    await page.addInitScript(() => {
      const shown: string[] = [];
      class Fake extends EventTarget {
        static permission = 'default';
        static async requestPermission(): Promise<string> {
          Fake.permission = 'granted';
          return 'granted';
        }
        constructor(title: string, { body }: { body: string }) {
          super();
          shown.push(`${title}: ${body}`);
        }
      }
      Object.assign(window, { Notification: Fake, shown });
    });
    await page.goto(new URL('/inbox', page.url()).href);
    await waitUntilLoaded(page);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notifications on' }).waitFor();
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }));
    entries = [PERMISSION, SINK];
    const read = async (): Promise<unknown> => page.evaluate(() => Reflect.get(window, 'shown'));
    await expect.poll(read).toEqual([expect.stringContaining('An agent requests permission: Wants to edit')]);
  });
});

describe('without a worker', () => {
  it('every page shows that no worker is running', async () => {
    const { page } = await app.open('/workbench');
    await page.route('**/v1/workers', async (route) => route.fulfill({ json: { items: [], next_cursor: null } }));
    await page.goto(new URL('/runs', page.url()).href);
    await page.getByText('No worker is running.').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
