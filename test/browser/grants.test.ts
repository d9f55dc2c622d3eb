import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { FcmpEvent } from '../../src/events/index.js';
import type { WaitingEntry } from '../../src/server/api/index.js';
import { findViolations } from './check-accessibility.js';
import { findColored } from './find-colored.js';
import { createEvent, OPTIONS, REQUEST, seedPermission, WAIT_S, type Permission } from './seed-runs.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

/** The runs created in the store have no files, so the page cannot read their bytes. */
const NO_FILES = { mayFail: /404|409/ };

const app = useConsole(async (site: Site) => seedPermission(site.data));

/** The entry of a request that only the page knows. */
function createEntry(changes: Partial<Permission> = {}): Permission {
  const at = new Date().toISOString();
  return {
    kind: 'permission',
    id: 'r1/px_1_1',
    at,
    text: 'Allow Edit? {"file_path":"src/total.ts"}',
    run: 'r1',
    engine: 'claude',
    task: 'Fix the total.',
    issue_ref: null,
    interaction_id: 'px_1_1',
    seq: 4,
    held_until: new Date(Date.now() + 60_000).toISOString(),
    expires_at: new Date(Date.now() + WAIT_S * 1000).toISOString(),
    tool: 'Edit',
    command: null,
    changes: [{ path: 'src/total.ts', added: 3, removed: 3 }],
    options: OPTIONS,
    ...changes,
  };
}

/** Opens the inbox with these entries, whose run has these events after the request. */
async function openWith(list: () => readonly WaitingEntry[], mayFail?: RegExp) {
  const { page } = await app.open('/workbench', mayFail === undefined ? {} : { mayFail });
  const sent: unknown[] = [];
  let isListed = true;
  let later: readonly FcmpEvent[] = [];
  await page.route('**/v1/waiting', async (route) =>
    route.fulfill({ json: { items: isListed ? list() : [], complete: true } }),
  );
  await page.route('**/v1/runs/*/history?*', async (route) =>
    route.fulfill({
      json: { events: [createEvent('r1', 4, 'permission.required', REQUEST), ...later], next_from: null },
    }),
  );
  await page.route('**/v1/runs/*/reply', async (route) => {
    sent.push(route.request().postDataJSON());
    isListed = false;
    await route.fulfill({ json: { status: 'posted' } });
  });
  await page.goto('/inbox');
  await waitUntilLoaded(page);
  return {
    page,
    sent,
    request: page.getByRole('article', { name: 'Permission request from run r1' }),
    pending: page.getByRole('region', { name: 'Pending actions' }),
    /** Lets these events follow the request, which is then no longer listed. */
    change: (events: readonly FcmpEvent[]) => {
      later = events;
      isListed = false;
    },
  };
}

const allow = async (page: Page): Promise<void> => page.getByRole('button', { name: 'Allow once' }).click();

/** Records the texts of pending actions, even of those that are shown briefly. */
async function recordPending(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const texts: string[] = [];
    Object.assign(window, { texts });
    const options = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => texts.push(document.querySelector('.pending-actions')?.textContent ?? '')).observe(
      document.body,
      options,
    );
  });
  return async () => page.evaluate(() => Reflect.get(window, 'texts') as readonly string[]);
}

describe('a grant', () => {
  it('is given next to the diff: the row says in words what is wanted, and offers nothing', async () => {
    const { page, request } = await openWith(() => [createEntry()]);
    const row = page.locator('[data-entry="r1/px_1_1"]');
    await expect.poll(async () => row.innerText()).toContain('Wants to edit src/total.ts, +3 −3');
    expect(await row.innerText()).not.toContain('{');
    expect(await row.getByRole('button').count()).toBe(0);
    await request.locator('.diff-line.removed').first().waitFor();
    expect(await request.locator('.diff-line.added').count()).toBe(3);
    await request.getByText(/Without an answer, it is denied at \d.* \(in 2[34] h\)/).waitFor();
    // An agent's label does not hide that an option applies from now on.
    await request.getByRole('button', { name: 'Yes (always)' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it('is not a bulk action, but a denial is', async () => {
    const { page, sent } = await openWith(() => [createEntry(), createEntry({ id: 'r2/px_1_1', run: 'r2' })]);
    await page.getByLabel('Select all').check();
    const bar = page.getByRole('group', { name: 'Bulk actions' });
    await expect.poll(async () => bar.getByRole('button').allInnerTexts()).toEqual(['Deny']);
    await bar.getByRole('button', { name: 'Deny' }).click();
    const denial = { interaction_id: 'px_1_1', option_id: 'no' };
    await expect.poll(() => sent).toEqual([denial, denial]);
  });

  it('can be withdrawn, and is then not sent', async () => {
    const { page, sent, pending, request } = await openWith(() => [createEntry()]);
    await allow(page);
    await pending.getByText('Allowing Edit').waitFor();
    await pending.getByText(/Sent in [1-6] s/).waitFor();
    await expect.poll(async () => page.locator('[data-entry="r1/px_1_1"]').innerText()).toContain('Not sent yet');
    expect(await findViolations(page)).toEqual([]);
    await pending.getByRole('button', { name: 'Withdraw' }).click();
    await pending.waitFor({ state: 'detached' });
    await expect.poll(async () => request.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
    expect(sent).toEqual([]);
  });

  it('is sent after the delay, once, and then offers nothing to undo it', async () => {
    const { page, sent, pending } = await openWith(() => [createEntry()]);
    await allow(page);
    await pending.getByText(/Sent in [1-6] s/).waitFor();
    expect(sent).toEqual([]);
    await expect.poll(() => sent).toEqual([{ interaction_id: 'px_1_1', option_id: 'yes' }]);
    await pending.waitFor({ state: 'detached' });
    await page.getByText('Nothing is waiting for you').waitFor();
    expect(await page.getByRole('button', { name: /Withdraw|Undo/ }).count()).toBe(0);
    expect(sent).toHaveLength(1);
  });

  it('is sent at once on request, with the reason', async () => {
    const { page, sent, pending } = await openWith(() => [createEntry()]);
    await page.getByLabel('Reason (optional)').fill('I read it.');
    await allow(page);
    await pending.getByRole('button', { name: 'Send now' }).click();
    await expect.poll(() => sent).toEqual([{ interaction_id: 'px_1_1', option_id: 'yes', why: 'I read it.' }]);
  });

  it('a denial is sent at once', async () => {
    const { page, sent } = await openWith(() => [createEntry()]);
    const readShown = await recordPending(page);
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => sent).toEqual([{ interaction_id: 'px_1_1', option_id: 'no' }]);
    expect((await readShown()).join()).not.toContain('Withdraw');
  });

  it.each(['held_until', 'expires_at'] as const)('is sent before the wait ends (%s)', async (limit) => {
    // Every response moves the end, so it is never far away.
    const { page, sent } = await openWith(() => [createEntry({ [limit]: new Date(Date.now() + 4000).toISOString() })]);
    const readShown = await recordPending(page);
    await allow(page);
    await expect.poll(() => sent).toEqual([{ interaction_id: 'px_1_1', option_id: 'yes' }]);
    expect((await readShown()).join()).not.toMatch(/Sent in [4-6] s/);
  });

  it('a closed tab grants nothing', async () => {
    const { page, sent, pending } = await openWith(() => [createEntry()]);
    await allow(page);
    await pending.getByText('Allowing Edit').waitFor();
    const other = await page.context().newPage();
    await page.close();
    await other.goto('/inbox');
    await other.getByRole('heading', { level: 1 }).waitFor();
    expect(sent).toEqual([]);
    expect(await other.getByRole('region', { name: 'Pending actions' }).count()).toBe(0);
  });

  it.each([
    [
      'someone else answered',
      createEvent('r1', 5, 'permission.replied', {
        interaction_id: 'px_1_1',
        decision: 'deny',
        option_id: 'no',
        by: 'person',
        who: 'Ada',
      }),
      'Ada has denied it meanwhile. Nothing was sent.',
    ],
    [
      'the agent withdrew it',
      createEvent('r1', 5, 'permission.replied', {
        interaction_id: 'px_1_1',
        decision: 'deny',
        option_id: 'deny',
        by: 'rule',
        why: 'The agent canceled it.',
      }),
      'The request was withdrawn or denied meanwhile: The agent canceled it. Nothing was sent.',
    ],
    [
      'the agent asks for something else',
      createEvent('r1', 5, 'permission.required', { ...REQUEST, interaction_id: 'px_2_1' }, 2),
      'The agent no longer waits for this request. Nothing was sent.',
    ],
    [
      'the run ended',
      createEvent('r1', 5, 'conversation.failed', {}),
      'The run has ended meanwhile. Nothing was sent.',
    ],
  ])('is not sent if %s meanwhile, and the row says so', async (_, event, message) => {
    const { page, sent, pending, change } = await openWith(() => [createEntry()]);
    await allow(page);
    await pending.getByText('Allowing Edit').waitFor();
    change([event]);
    const row = page.locator('[data-entry="r1/px_1_1"]');
    await row.getByText(message).waitFor();
    expect(await pending.getByRole('button', { name: /Send now|Withdraw/ }).count()).toBe(0);
    expect(sent).toEqual([]);
    await row.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(async () => row.count()).toBe(0);
  });

  it('is not offered if the request could not be loaded', async () => {
    const { page, request } = await openWith(() => [createEntry()], /500/);
    await page.route('**/v1/runs/*/history?*', async (route) => route.fulfill({ status: 500, json: {} }));
    await page.reload();
    await request.getByText('it can only be denied').waitFor();
    await request.getByRole('button', { name: 'Deny' }).waitFor();
    expect(await request.getByRole('button', { name: /Allow|always/ }).count()).toBe(0);
  });

  it('nothing is red while the agent waits for it', async () => {
    const { page } = await app.open(`/runs/${app.seeds}`, NO_FILES);
    await page.locator('.diff-line.added').first().waitFor();
    expect(await findColored(page, '--bad')).toEqual([]);
  });

  it('works the same on the run page', async () => {
    const { page } = await app.open(`/runs/${app.seeds}`, NO_FILES);
    let replies = 0;
    page.on('request', (request) => (replies += request.url().endsWith('/reply') ? 1 : 0));
    await page.locator('.diff-line.added').first().waitFor();
    await allow(page);
    const pending = page.getByRole('region', { name: 'Pending actions' });
    await pending.getByText('Allowing Edit').waitFor();
    await pending.getByRole('button', { name: 'Withdraw' }).click();
    await pending.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe(`/runs/${app.seeds}`);
    expect(replies).toBe(0);
    // The recorded run cannot continue, so the server refuses the answer, and the page says so.
    await page.getByRole('button', { name: 'Deny' }).click();
    await pending.getByText('The run is not waiting for this reply.').waitFor();
    expect(replies).toBe(1);
  });
});
