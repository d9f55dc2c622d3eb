import type { Locator, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FcmpEvent } from '../../src/events/index.js';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { command, longSession, longSessionRecord, session } from './codex-lines.js';
import { openProxy } from './open-proxy.js';
import { seedConsole } from './seed-console.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const app = useConsole(async (site: Site) => {
  const long = await site.runToEnd({ prints: longSession(600) });
  return { ...(await seedConsole(site)), long: long.id };
});

type Pane = 'Conversation' | 'Events' | 'Raw bytes';

/** Finds a pane's list. */
const pane = (page: Page, name: Pane): Locator => page.locator(`.virtual[aria-label="${name}"]`);
/** Finds a pane's highlighted rows. */
const highlightedRows = (page: Page, name: Pane): Locator => pane(page, name).locator('.highlighted');

/** Opens a page and waits until it has loaded all events of a run. */
async function openRun(id: string): Promise<Page> {
  const { page } = await app.open(`/runs/${id}`);
  await page.getByText('Complete', { exact: true }).waitFor();
  await waitUntilLoaded(page);
  return page;
}

/**
 * Scrolls on from a third of the list until a row with these words is in the page, which contains only rows near the
 * visible part.
 */
async function scrollTo(list: Locator, words: string): Promise<void> {
  await list.evaluate(async (box, wanted) => {
    for (
      box.scrollTop = box.scrollHeight / 3;
      !(box.textContent ?? '').includes(wanted);
      box.scrollTop += box.clientHeight / 2
    ) {
      if (box.scrollTop + box.clientHeight >= box.scrollHeight) throw new Error(`there is no ${wanted}`);
      // One frame to notice, one to draw; the raw pane's bytes are fetched.
      for (let frames = 0; frames < 4; frames++)
        await new Promise((resolve) => {
          requestAnimationFrame(resolve);
        });
    }
  }, words);
}

/** Reads all rows of a list in order, scrolling to each. */
async function readAll(list: Locator): Promise<readonly string[]> {
  return list.evaluate(async (box) => {
    const texts = new Map<number, string>();
    for (box.scrollTop = 0; ; box.scrollTop += box.clientHeight / 2) {
      for (let frames = 0; frames < 4; frames++)
        await new Promise((resolve) => {
          requestAnimationFrame(resolve);
        });
      for (const row of box.querySelectorAll<HTMLElement>('[data-index]'))
        texts.set(Number(row.dataset['index']), row.innerText);
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) break;
    }
    return [...texts].toSorted(([one], [other]) => one - other).map(([, text]) => text);
  });
}

/** Waits until the first highlighted row is visible in its pane. */
async function waitForHighlight(page: Page, name: Pane): Promise<string> {
  await expect
    .poll(async () => {
      const [row, box] = await Promise.all([
        highlightedRows(page, name).first().boundingBox(),
        pane(page, name).boundingBox(),
      ]);
      return row !== null && box !== null && row.y + row.height > box.y && row.y < box.y + box.height;
    })
    .toBe(true);
  return highlightedRows(page, name).first().innerText();
}

/** Opens the inspector's tab that shows a list. */
async function openTab(page: Page, name: Pane): Promise<void> {
  if (name !== 'Conversation') await page.getByRole('tab', { name: name === 'Events' ? /^Event/ : /^Raw/ }).click();
}

describe('the conversation and the inspector', () => {
  it.each([
    ['Conversation', 'Message 252:', ['Events', 'Raw bytes']],
    ['Events', 'Message 252:', ['Conversation', 'Raw bytes']],
    ['Raw bytes', 'Message 252:', ['Conversation', 'Events']],
  ] as const)('highlight and scroll together when something is selected in %s', async (from, words, others) => {
    const page = await openRun(app.seeds.long);
    await openTab(page, from);
    const start = pane(page, from);
    const row = start.locator('.virtual-row').filter({ hasText: words });
    await scrollTo(start, words);
    await row.locator('.choose').click();
    for (const name of [from, ...others]) {
      await openTab(page, name);
      await expect.poll(async () => waitForHighlight(page, name)).toContain(words);
    }
  });

  it('keep the selection in the address', async () => {
    const page = await openRun(app.seeds.long);
    await pane(page, 'Conversation').focus();
    // The last rows are drawn a few frames after all events have arrived.
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return waitForHighlight(page, 'Conversation');
      })
      .toContain('Completed');
    // Above the end are the end of the turn and the warning that its done marker is missing.
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowUp');
    await expect.poll(async () => waitForHighlight(page, 'Conversation')).toContain('Message 599:');
    const { events } = await app.site.client.readHistory({
      id: app.seeds.long,
      query: { protocol: 'fcmp', from: '599', limit: 1000 },
    });
    const selected = (events as readonly FcmpEvent[]).find((event) => JSON.stringify(event).includes('Message 599:'));
    // The address follows the last of several quick selections.
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(`c${selected?.seq}`);
    await page.reload();
    await waitUntilLoaded(page);
    for (const name of ['Conversation', 'Events', 'Raw bytes'] as const) {
      await openTab(page, name);
      await expect.poll(async () => waitForHighlight(page, name)).toContain('Message 599:');
    }
  });

  it('can be navigated with the keyboard', async () => {
    const page = await openRun(app.seeds.reviewed);
    await page.getByRole('tab', { name: 'Result' }).focus();
    await page.keyboard.press('ArrowRight');
    await pane(page, 'Events').focus();
    for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowDown');
    await expect.poll(async () => highlightedRows(page, 'Events').count()).toBeGreaterThan(0);
    await expect.poll(async () => waitForHighlight(page, 'Events')).toContain('agent.message.final');
    await expect
      .poll(async () => waitForHighlight(page, 'Conversation'))
      .toContain("I'll look at how the list is sorted first.");
    await openTab(page, 'Raw bytes');
    await expect.poll(async () => waitForHighlight(page, 'Raw bytes')).toContain('agent_message');
  });

  it('are tabs on a phone', async () => {
    const { page } = await app.open(`/runs/${app.seeds.reviewed}`, { width: 375, height: 740 });
    await pane(page, 'Conversation').waitFor();
    await expect.poll(async () => pane(page, 'Events').count()).toBe(0);
    await page.getByRole('tab', { name: /^Event/ }).click();
    await pane(page, 'Events').waitFor();
    await page.keyboard.press('ArrowRight');
    await pane(page, 'Raw bytes').waitFor();
  });
});

describe('a run that has ended', () => {
  it('shows messages as Markdown, without active links', async () => {
    const page = await openRun(app.seeds.reviewed);
    const conversation = pane(page, 'Conversation');
    await conversation.locator('strong', { hasText: 'a copy' }).waitFor();
    await conversation.locator('em', { hasText: 'first' }).waitFor();
    await expect
      .poll(async () => conversation.locator('pre, code').filter({ hasText: 'items.toSorted' }).count())
      .toBeGreaterThan(0);
    await expect.poll(async () => conversation.getByText('https://example.org/issues/7').count()).toBeGreaterThan(0);
    await expect.poll(async () => conversation.locator('a[href]').count()).toBe(0);
  });

  it('follows a link only after a confirmation, in a tab without access to the page', async () => {
    const { page, record } = await app.open(`/runs/${app.seeds.reviewed}`);
    const address = 'https://example.org/issues/7';
    await page.context().route(`${address}*`, async (route) => route.fulfill({ body: 'elsewhere' }));
    await page.getByRole('button', { name: `Open ${address}` }).click();
    const question = page.getByRole('group', { name: 'Open the link' });
    await expect.poll(async () => question.innerText()).toContain(address);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(async () => question.count()).toBe(0);
    await page.getByRole('button', { name: `Open ${address}` }).click();
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      question.getByRole('button', { name: 'Open in a new tab' }).click(),
    ]);
    await tab.waitForURL(address);
    expect(await tab.evaluate(() => [opener, document.referrer])).toEqual([null, '']);
    // The only window opened on purpose.
    record.dialogs.splice(0, 1);
  });

  it('shows tool calls with input and output, reasoning collapsed', async () => {
    const page = await openRun(app.seeds.reviewed);
    const conversation = pane(page, 'Conversation');
    const call = conversation.locator('.item').filter({ hasText: 'cat src/missing.ts' });
    await expect.poll(async () => call.innerText()).toMatch(/Failed[\s\S]*exit code 1/);
    await call.getByText('Output').click();
    await call.getByText('No such file or directory').waitFor();
    const reasoning = conversation.locator('details').filter({ hasText: 'The copy is sorted' }).first();
    expect(await reasoning.evaluate((details) => details.hasAttribute('open'))).toBe(false);
  });

  it('shows tool output without terminal styles', async () => {
    const page = await openRun(app.seeds.reviewed);
    const call = pane(page, 'Conversation').locator('.item').filter({ hasText: 'npm test' }).first();
    await call.getByText('Output').click();
    await expect.poll(async () => call.innerText()).toContain('✓ 214 passed');
  });

  it('shows a file that the agent created as text', async () => {
    const page = await openRun(app.seeds.reviewed);
    const conversation = pane(page, 'Conversation');
    await conversation.focus();
    await page.keyboard.press('End');
    await conversation.getByRole('button', { name: 'Preview' }).click();
    await conversation.getByText('<script>never</script>').waitFor();
    await expect.poll(async () => page.locator('main script').count()).toBe(0);
  });

  it('shows the result, the repairs and the cost', async () => {
    const page = await openRun(app.seeds.reviewed);
    const result = page.getByRole('tabpanel', { name: 'Result' });
    await expect
      .poll(async () => result.innerText())
      .toMatch(/The list forgets its order[\s\S]*OUTPUT_REPAIRED_GENERIC[\s\S]*quote_style/);
    await expect.poll(async () => page.getByRole('main').innerText()).toContain('2,150 in');
  });

  it('shows which tools were denied', async () => {
    const [, denied = {}] = command('item_1', 'rm -rf /', 'The permission was declined.', 1);
    const { id } = await app.site.runToEnd({ prints: session(denied) });
    const page = await openRun(id);
    const result = page.getByRole('tabpanel', { name: 'Result' });
    await expect.poll(async () => result.innerText()).toMatch(/Denied tools[\s\S]*The permission was declined\./i);
  });

  it('reports why it failed', async () => {
    const page = await openRun(app.seeds.failed);
    await expect.poll(async () => page.getByRole('main').innerText()).toContain('OUTPUT_NOT_VALIDATED');
    await expect.poll(async () => page.getByRole('tabpanel', { name: 'Result' }).innerText()).toContain('NO_JSON');
  });

  it('is replayed with a slider, by keys', async () => {
    // Prints each word after the previous one was shown, so they have different times.
    const { id, print } = await app.site.startRun({ prints: [codex.thread(), codex.turn], isLive: true });
    const { page } = await app.open(`/runs/${id}`);
    const conversation = pane(page, 'Conversation');
    await conversation.getByText('Session started').waitFor();
    await print([codex.message('First word.', 'item_0')]);
    await conversation.getByText('First word.').waitFor();
    await print([codex.message('Last word.', 'item_1'), codex.completed(), 'end']);
    await page.getByText('Complete', { exact: true }).waitFor();
    await conversation.getByText('Last word.').waitFor();
    const row = conversation.locator('[data-index]').filter({ hasText: 'First word.' });
    const [, minutes, seconds] = /(\d+):(\d\d\.\d+)/.exec(await row.innerText()) ?? [];
    const first = Number(minutes) * 60_000 + Math.round(Number(seconds) * 1000);

    const slider = page.getByRole('slider', { name: 'Position in the run' });
    await slider.focus();
    await page.keyboard.press('Home');
    await conversation.getByText('First word.').waitFor({ state: 'detached' });
    await slider.fill(String(first));
    // The slider can stop a step early.
    await page.keyboard.press('ArrowRight');
    await conversation.getByText('First word.').waitFor();
    await expect.poll(async () => conversation.getByText('Last word.').count()).toBe(0);
    await page.keyboard.press('End');
    await conversation.getByText('Last word.').waitFor();
  });
});

describe('a run that asks a question', () => {
  it('asks in the inspector, and leaves the conversation its height', async () => {
    const { page } = await app.open(`/runs/${app.seeds.asking}`);
    const panel = page.getByRole('tabpanel', { name: 'Question' });
    await panel.getByLabel('Your answer').waitFor();
    const [conversation, field] = await Promise.all([
      pane(page, 'Conversation').boundingBox(),
      panel.getByLabel('Your answer').boundingBox(),
    ]);
    expect(conversation?.height).toBeGreaterThan(400);
    // To the right of the conversation, not below it.
    expect(field?.x).toBeGreaterThan((conversation?.x ?? 0) + (conversation?.width ?? 0));
  });

  it('is answered on its page without moving the focus, and continues', async () => {
    const { page } = await app.open(`/runs/${app.seeds.asking}`);
    await page.getByLabel('Your answer').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).not.toContain('reply');
    await page.getByLabel('Your answer').fill('Blue, plea');
    await page.reload();
    await page.getByLabel('Your answer').waitFor();
    await expect.poll(async () => page.getByLabel('Your answer').inputValue()).toBe('Blue, plea');
    await page.getByLabel('Your answer').fill('Blue, please.');
    await page.keyboard.press('Control+Enter');
    await pane(page, 'Conversation').getByText('Blue it is.').first().waitFor();
    await expect.poll(async () => pane(page, 'Conversation').innerText()).toContain('Blue, please.');
    await page.getByText('Complete', { exact: true }).waitFor();
    await expect.poll(async () => page.getByLabel('Your answer').count()).toBe(0);
  });
});

describe('a live run', () => {
  const live = async () => {
    const run = await app.site.startRun({ prints: [codex.thread(), codex.turn], isLive: true });
    await app.site.waitForRun(run.id, 'running');
    return run;
  };
  const say = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => codex.message(`Line ${from + index}.`, `item_${from + index}`));
  it('appears as it happens', async () => {
    const run = await live();
    const { page } = await app.open(`/runs/${run.id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await run.print(say(0, 1));
    await pane(page, 'Conversation').getByText('Line 0.').waitFor();
    await run.print(say(1, 2));
    await pane(page, 'Conversation').getByText('Line 1.').waitFor();
    await run.print([codex.completed(), 'end']);
    await page.getByText('Complete', { exact: true }).waitFor();
    await pane(page, 'Conversation').getByText('Completed', { exact: true }).waitFor();
    expect((await app.site.waitForRun(run.id, 'ended')).result?.status).toBe('success');
  });

  it('loses and repeats no event when the connection breaks', async () => {
    const proxy = await openProxy(app.site.url);
    onTestFinished(async () => proxy.close());
    const run = await live();
    const { page } = await app.open(`/runs/${run.id}`, { url: proxy.url, mayFail: /ERR_|Failed to load resource/ });
    await page.getByText('Live', { exact: true }).waitFor();
    await run.print(say(0, 5));
    await pane(page, 'Conversation').getByText('Line 4.', { exact: true }).waitFor();
    proxy.disconnect();
    await page.getByText('Reconnecting …').waitFor();
    await run.print(say(5, 15));
    proxy.open();
    await page.getByText('Live', { exact: true }).waitFor();
    await run.print(say(15, 20));
    await pane(page, 'Conversation').getByText('Line 19.', { exact: true }).waitFor();
    const rows = await readAll(pane(page, 'Conversation'));
    expect(rows.flatMap((row) => row.match(/Line \d+\./g) ?? [])).toEqual(
      Array.from({ length: 20 }, (_, index) => `Line ${index}.`),
    );
    await run.print([codex.completed(), 'end']);
    await page.getByText('Complete', { exact: true }).waitFor();
  });

  it('reacts to clicks and keys while 200 events a second arrive', async () => {
    const run = await live();
    const { page } = await app.open(`/runs/${run.id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    let printed = 0;
    const timer = setInterval(() => {
      void run.print(Array.from({ length: 20 }, (_, index) => longSessionRecord(printed + index)));
      printed += 20;
    }, 100);
    onTestFinished(() => clearInterval(timer));
    await pane(page, 'Conversation')
      .getByText(/^Message \d+:/)
      .first()
      .waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.waitForURL('**/inbox');
    await page.goBack();
    await page.getByText('Live', { exact: true }).waitFor();
    clearInterval(timer);
    await run.print([codex.completed(), 'end']);
    await page.getByText('Complete', { exact: true }).waitFor();
    await pane(page, 'Conversation').focus();
    await page.keyboard.press('End');
    await expect.poll(async () => pane(page, 'Conversation').innerText()).toContain('Completed');
  });

  it('is canceled at once', async () => {
    const run = await live();
    const { page } = await app.open(`/runs/${run.id}`);
    await page.getByRole('button', { name: 'Cancel run' }).click();
    const ended = await app.site.waitForRun(run.id, 'ended');
    expect(ended.result?.status).toBe('canceled');
    await page.getByText('canceled').first().waitFor();
  });
});

describe('a server that was killed', () => {
  it('is reported as lost, and followed again when it is back', async () => {
    const { page } = await app.open(`/runs/${app.seeds.reviewed}`, { mayFail: /ERR_|Failed to/ });
    await page.getByText('Complete', { exact: true }).waitFor();
    await app.site.kill();
    await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
    await page.getByText('The page could not be loaded').waitFor();
    await app.site.start();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('acme/shop#9').first().waitFor();
    await expect.poll(async () => page.getByRole('heading', { level: 1 }).innerText()).toBe('Inbox');
  });
});
