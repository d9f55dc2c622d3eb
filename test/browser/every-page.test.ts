import { describe, expect, it } from 'vitest';
import { findViolations } from './check-accessibility.js';
import { findCutOff } from './find-cut-off.js';
import { seedConsole } from './seed-console.js';
import type { Seeds } from './seed-console.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';
import { walkByKeyboard } from './walk-by-keyboard.js';

/** Every page, in each of its visually distinct states. */
const PAGES: readonly (readonly [name: string, path: (seeds: Seeds) => string])[] = [
  ['what happens now', () => '/now'],
  ['the runs', () => '/runs'],
  ['the run form', () => '/runs?start'],
  ['a run that has ended', ({ reviewed: reviewItem }) => `/runs/${reviewItem}`],
  ['a run that failed', ({ failed }) => `/runs/${failed}`],
  ['a run with a question', ({ asking }) => `/runs/${asking}`],
  ['a missing run', () => '/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ['the inbox', () => '/inbox'],
  ['an inbox item', ({ item }) => `/inbox/${item}`],
  ['the issues', () => '/issues'],
  ['an issue', () => '/issues/acme%2Fshop%237'],
  ['a missing issue', () => '/issues/acme%2Fshop%23404'],
  ['the order form', () => '/issues?order'],
  ['the outbox', () => '/outbox'],
  ['the executions', () => '/executions'],
  ['the workbench', () => '/workbench'],
  ['the schedules', () => '/schedules'],
  ['the sinks', () => '/sinks'],
  ['the workers', () => '/workers'],
  ['the budgets', () => '/budgets'],
  ['the approval rules', () => '/rules'],
  ['the tokens', () => '/tokens'],
  ['the charts', () => '/charts'],
  ['the HTTP API', () => '/docs'],
  ['an unknown page', () => '/runs/no/where'],
];

/** The page for a missing resource requests it and gets 404. */
const LOOK = { mayFail: /404/ };
const PHONE = { width: 375, height: 740 };

const request = {
  issue_ref: 'local#nightly',
  role: 'qa',
  repo_dir: '/srv/shop',
  worker: 'scripted',
  instructions: 'x',
};

const app = useConsole(seedConsole, {
  schedules: { nightly: { cron: '0 3 * * 1-5', request } },
  budgets: { day: { tokens: 1_000_000 } },
  approvals: [{ decide: 'deny', command: 'rm *', why: 'Never.' }],
});

/**
 * Makes Chinese characters as wide as they are in a Chinese font, which the test browser lacks: one em, with a break
 * after each. Runs in the page.
 */
function widenHan(): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    text.nodeValue = (text.nodeValue ?? '').replaceAll(/[\p{Script=Han}，。：；（）？“”]/gu, '\u2014\u200b');
  }
}

describe.each(PAGES)('%s', (_, getPath) => {
  it('passes axe in light, in dark and on a phone, where it does not scroll horizontally', async () => {
    const { page } = await app.open(getPath(app.seeds), LOOK);
    await waitUntilLoaded(page);
    expect(await findViolations(page), 'light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findViolations(page, ['color-contrast']), 'dark').toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await findViolations(page, ['color-contrast']), 'phone, dark').toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await findViolations(page), 'phone').toEqual([]);
    // Charts are redrawn after a resize.
    await expect.poll(async () => findCutOff(page), { message: 'phone' }).toEqual([]);
  });

  it('has no layout shift, works with only the keyboard, and shows the focus', async () => {
    const { page, record } = await app.open(getPath(app.seeds), LOOK);
    await waitUntilLoaded(page);
    // Browsers report layout shifts in thousandths; less than that counts as zero.
    const total = record.shifts.reduce((sum, { value }) => sum + value, 0);
    expect(total < 0.0005 ? [] : record.shifts).toEqual([]);
    const { unreached: missed, withoutFocusRing: unseen, mouseOnly, stops } = await walkByKeyboard(page);
    expect({ missed, unseen, mouseOnly }).toEqual({ missed: [], unseen: [], mouseOnly: [] });
    expect(stops).toBeGreaterThan(5);
  });

  it('passes axe in Chinese, and fits, on a desktop and on a phone', async () => {
    const { page } = await app.open(getPath(app.seeds), { ...LOOK, locale: 'zh-CN' });
    await waitUntilLoaded(page);
    expect(await findViolations(page)).toEqual([]);
    await page.evaluate(widenHan);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize(PHONE);
    await expect.poll(async () => findCutOff(page), { message: 'phone' }).toEqual([]);
  });
});
