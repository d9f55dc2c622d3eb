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
  ['the workers', () => '/workers'],
  ['the charts', () => '/charts'],
  ['the HTTP API', () => '/docs'],
  ['an unknown page', () => '/runs/no/where'],
];

/** The page for a missing resource requests it and gets 404. */
const LOOK = { mayFail: /404/ };
const PHONE = { width: 375, height: 740 };

const app = useConsole(seedConsole);

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
});
