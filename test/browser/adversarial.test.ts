import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { command, fileChange, reasoning, session } from './codex-lines.js';
import { MALICIOUS_KEYS, MALICIOUS_STRINGS } from './adversarial-strings.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const EVERYTHING = MALICIOUS_STRINGS.join('\n\n');
const FILE = '<img src=x onerror=window.pwned=1>.md';

/** Creates runs by a malicious agent and a malicious worker. */
async function seedMaliciousRuns(site: Site) {
  const run = await site.runToEnd({
    prompt: EVERYTHING,
    writes: { [FILE]: EVERYTHING, 'page.html': `<!doctype html><script>window.pwned=1</script>${EVERYTHING}` },
    prints: session(
      ...MALICIOUS_STRINGS.map((text, index) => codex.message(text, `item_m${index}`)),
      ...MALICIOUS_STRINGS.map((text, index) => reasoning(`item_r${index}`, text)),
      ...MALICIOUS_STRINGS.flatMap((text, index) => command(`item_c${index}`, text, text, index % 2)),
      ...fileChange('item_f', FILE, 'page.html'),
      ...MALICIOUS_STRINGS,
      codex.message(`\`\`\`json\n${JSON.stringify({ text: EVERYTHING, ...MALICIOUS_KEYS })}\n\`\`\``, 'item_last'),
    ),
  });
  const asking = await site.startRun({ mode: 'interactive', prints: session(codex.message(EVERYTHING)) });
  await site.waitForRun(asking.id, 'waiting');
  const order = await site.runOrder('acme/shop#13', {
    print: EVERYTHING,
    complain: EVERYTHING,
    result: { summary: EVERYTHING, questions: [...MALICIOUS_STRINGS], ...MALICIOUS_KEYS },
    exit: 1,
  });
  const { items } = await site.client.listInbox();
  return { run: run.id, asking: asking.id, order: order.run, item: items[0]?.id ?? '' };
}

const app = useConsole(seedMaliciousRuns);

/** Asserts that agent output acts as nothing but text. */
async function expectHarmless(page: Page): Promise<void> {
  const leaks = await page.evaluate(() => {
    const { body } = document;
    const elements = [...body.querySelectorAll('*')];
    return {
      pwned: 'pwned' in globalThis || 'pwned' in Object.prototype,
      elements: elements.filter((element) =>
        element.matches('iframe, object, embed, base, meta, script, style, link, math, [srcdoc]'),
      ).length,
      foreign: elements
        .flatMap((element) => ['src', 'href', 'action', 'data'].map((name) => element.getAttribute(name)))
        .filter((address) => address !== null && !/^[/#]/.test(address)),
      handlers: elements.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on')),
      // Characters that control a terminal, are invisible, or change the writing direction. Line feeds and tabs come
      // from the layout.
      acting: body.innerText.match(/(?![\t\n\r])[\p{Cc}\u200B\u202A-\u202E\u2066-\u2069\uFEFF]/gu) ?? [],
    };
  });
  expect(leaks).toEqual({ pwned: false, elements: 0, foreign: [], handlers: [], acting: [] });
}

describe('agent output', () => {
  it.each([
    ['the runs', () => '/runs'],
    ['its run', () => `/runs/${app.seeds.run}`],
    ['its question', () => `/runs/${app.seeds.asking}`],
    ["its order's run", () => `/runs/${app.seeds.order}`],
    ['the inbox', () => '/inbox'],
    ['its inbox item', () => `/inbox/${app.seeds.item}`],
    ['its issue', () => '/issues/acme%2Fshop%2313'],
    ['the outbox', () => '/outbox'],
    ['the executions', () => '/executions'],
    ['the workers', () => '/workers'],
    ['what happens now', () => '/now'],
    ['the sinks', () => '/sinks'],
    ['the charts', () => '/charts'],
  ])('is text and nothing else in %s, even with everything unfolded', async (_, getPath) => {
    const { page } = await app.open(getPath());
    await waitUntilLoaded(page);
    await expectHarmless(page);
    await unfold(page);
    await expectHarmless(page);
    expect(new URL(page.url()).pathname).toBe(getPath());
  });

  it('is text in the workbench', async () => {
    const { page } = await app.open('/workbench');
    await waitUntilLoaded(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page
      .getByLabel('Model output')
      .getByRole('textbox')
      .fill(JSON.stringify({ text: EVERYTHING, ...MALICIOUS_KEYS }));
    await expect.poll(async () => page.locator('main').innerText()).toContain('<iframe srcdoc');
    await waitUntilLoaded(page);
    const shown = await page.evaluate(() => ('pwned' in globalThis ? 'pwned' : 'safe'));
    expect(shown).toBe('safe');
  });
});

/** Opens all collapsed elements, one or two levels deep. */
async function unfold(page: Page): Promise<void> {
  for (let level = 0; level < 2; level++) {
    const closed = page.locator('main summary:visible, main [aria-expanded=false]:visible');
    for (const one of (await closed.all()).slice(0, 30)) {
      const isClosed = await one
        .evaluate(
          (element) =>
            element.getAttribute('aria-expanded') === 'false' || element.closest('details:not([open])') !== null,
        )
        .catch(() => false);
      if (isClosed) await one.click({ timeout: 2000 }).catch(() => undefined);
    }
    await waitUntilLoaded(page);
  }
}
