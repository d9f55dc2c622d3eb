import { setTimeout as wait } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { setup as buildProduct } from '../test/build-product.js';
import { codex } from '../src/events/contract/translate-lines.contract.js';
import { command, longSession, longSessionRecord, session } from '../test/browser/codex-lines.js';
import { launchChromium } from '../test/browser/launch-chromium.js';
import { waitUntilLoaded } from '../test/browser/wait-until-loaded.js';
import { startSite } from '../test/browser/start-site.js';
import type { Site } from '../test/browser/start-site.js';
import { watchPage } from '../test/browser/watch-page.js';
import { median } from './measure.js';
import { traceTasks } from './page-tasks.js';
import type { PageTasks } from './page-tasks.js';
import { formatMs, type PartResult } from './part-result.js';

const EVENTS = Number(process.env['CONSOLE_EVENTS'] ?? 50_000);
const RATE = 200;
const SECONDS = Number(process.env['CONSOLE_SECONDS'] ?? 10);
/** How often keys are pressed during the run. */
const KEY_INTERVAL_MS = 60;
/** A longer task is noticeable. */
const MAX_TASK_MS = 50;
/** How often the long run is opened, scrolled and jumped through. */
const ROUNDS = 5;
/** The rows selected in each pane, as fractions of its height; the other panes jump to them. */
const SELECTION_FRACTIONS = [0.1, 0.8, 0.3, 0.6];
/** A jump ends within this many frames. */
const JUMP_FRAMES = 12;
const FIRST_LOAD_BYTES = 60_000;
/** The length of very long lines. */
const LINE_BYTES = 5 * 1024 * 1024;

/** Measures the console in a real browser: opening and scrolling a long run, typing during a busy one, and the first load. */
export async function runConsole(): Promise<PartResult> {
  await buildProduct();
  const site = await startSite();
  const server = await launchChromium();
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    const bytes = await measureFirstLoad(browser, site);
    const { opened: openTasks, scrolled: scrollTasks, jumped: jumpTasks } = await measureLongRun(browser, site);
    const large = await measureLongLines(browser, site);
    const live = await measureLiveRun(browser, site);
    const longest = Math.max(openTasks.longest, scrollTasks.longest, jumpTasks.longest);
    return {
      title: 'The console',
      targets: [
        {
          what: `a run of ${EVENTS.toLocaleString('en-US')} events opened, scrolled and jumped through in a browser: its longest task after the first paint, median of ${ROUNDS} rounds`,
          limit: `≤ ${MAX_TASK_MS} ms`,
          measured: formatMs(longest),
          met: longest <= MAX_TASK_MS,
        },
        {
          what: `a run with lines of ${LINE_BYTES / 1024 / 1024} MB opened and scrolled: its longest task after the first paint, median of ${ROUNDS} rounds`,
          limit: `≤ ${MAX_TASK_MS} ms`,
          measured: formatMs(large.longest),
          met: large.longest <= MAX_TASK_MS,
        },
        {
          what: `a key pressed while ${RATE} events a second arrive, until the page handles it (p95)`,
          limit: `≤ ${MAX_TASK_MS} ms`,
          measured: formatMs(live.p95),
          met: live.p95 <= MAX_TASK_MS,
        },
        {
          what: 'first load of the console, over the wire',
          limit: `≤ ${FIRST_LOAD_BYTES / 1000} kB`,
          measured: `${(bytes / 1000).toFixed(1)} kB`,
          met: bytes <= FIRST_LOAD_BYTES,
        },
      ],
      tables: [
        {
          title: "Tasks on the page's main thread",
          columns: ['', 'tasks', 'longest, processor time', 'in the worst round', 'longest, elapsed time'],
          rows: [
            formatTaskRow('opening the long run', openTasks),
            formatTaskRow('scrolling it from end to end', scrollTasks),
            formatTaskRow('selecting rows, to which the other panes jump', jumpTasks),
            formatTaskRow('opening and scrolling lines of 5 MB', large),
            formatTaskRow(`${SECONDS} s of ${RATE} events a second`, { ...live.tasks, worst: live.tasks.longest }),
          ],
        },
        {
          title: 'From a key press to the page, during the run',
          columns: ['keys', 'median', 'p95', 'longest'],
          rows: [[String(live.keys), formatMs(live.p50), formatMs(live.p95), formatMs(live.longest)]],
        },
      ],
      groups: [],
    };
  } finally {
    await browser.close();
    await server.close();
    await site.stop();
  }
}

async function openPage(browser: Browser, site: Site): Promise<Page> {
  const viewport = { width: 1280, height: 800 };
  const context = await browser.newContext({ locale: 'en-US', baseURL: site.url, viewport });
  return context.newPage();
}

async function measureFirstLoad(browser: Browser, site: Site): Promise<number> {
  const page = await openPage(browser, site);
  const { loaded } = await watchPage(page, site.url);
  await page.goto('/');
  await waitUntilLoaded(page);
  await page.close();
  const files = loaded.filter(({ path }) => !path.startsWith('/v1/'));
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function measureLongRun(browser: Browser, site: Site) {
  const { id } = await site.runToEnd({ prints: longSession(EVENTS) });
  const rounds: Awaited<ReturnType<typeof measureRound>>[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound(browser, site, id));
  return {
    opened: joinRounds(rounds.map(({ opened: openTasks }) => openTasks)),
    scrolled: joinRounds(rounds.map(({ scrolled: scrollTasks }) => scrollTasks)),
    jumped: joinRounds(rounds.map(({ jumped: jumpTasks }) => jumpTasks)),
  };
}

/** Measures a run with megabyte lines: a message, tool output, JSON, and a line that is not an event. */
async function measureLongLines(browser: Browser, site: Site): Promise<RoundsTasks> {
  const long = 'one long line of words '.repeat(LINE_BYTES / 23);
  const { id } = await site.runToEnd({
    prints: session(
      codex.message(`# Report\n\n${long}`, 'item_0'),
      ...command('item_1', 'cat big.log', long),
      codex.message(JSON.stringify({ text: long }), 'item_2'),
      long,
      codex.message('Done.', 'item_3'),
    ),
  });
  const rounds: PageTasks[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const page = await openPage(browser, site);
    const tasks = await traceTasks(browser, page, async () => {
      await page.goto(`/runs/${id}`);
      await page.getByText('Complete', { exact: true }).waitFor({ timeout: 60_000 });
      for (const pane of await page.locator('.virtual').all()) {
        await pane.focus();
        await page.keyboard.press('End');
        for (let frame = 0; frame < JUMP_FRAMES; frame++) await nextFrame(page);
      }
    });
    rounds.push(tasks);
    await page.close();
  }
  return joinRounds(rounds);
}

/** The result of multiple rounds. */
interface RoundsTasks extends PageTasks {
  /** The longest task of all rounds, processor time. */
  readonly worst: number;
}

/** The median of each metric: a single task can be long because the host was busy. */
function joinRounds(rounds: readonly PageTasks[]): RoundsTasks {
  return {
    longest: median(rounds.map(({ longest }) => longest)),
    worst: Math.max(...rounds.map(({ longest }) => longest)),
    longestOnWall: median(rounds.map(({ longestOnWall }) => longestOnWall)),
    count: median(rounds.map(({ count }) => count)),
  };
}

async function measureRound(browser: Browser, site: Site, id: string) {
  const page = await openPage(browser, site);
  const openTasks = await traceTasks(browser, page, async () => {
    await page.goto(`/runs/${id}`);
    await showEvents(page);
    await untilRows(page, EVENTS);
  });
  const panes = await page.locator('.virtual').all();
  const scrollTasks = await traceTasks(browser, page, async () => {
    for (const pane of panes) {
      await pane.hover();
      for (let turn = 0; turn < 60; turn++) {
        await page.mouse.wheel(0, turn % 20 === 19 ? 500_000 : 1200);
        await nextFrame(page);
      }
    }
  });
  const jumpTasks = await traceTasks(browser, page, async () => {
    for (const pane of panes) for (const fraction of SELECTION_FRACTIONS) await chooseRow(page, pane, fraction);
  });
  await page.close();
  return { opened: openTasks, scrolled: scrollTasks, jumped: jumpTasks };
}

/** Scrolls to a position in a pane and selects a visible row. */
async function chooseRow(page: Page, pane: Locator, fraction: number): Promise<void> {
  await pane.evaluate((box, to) => box.scrollTo({ top: box.scrollHeight * to }), fraction);
  for (let frame = 0; frame < JUMP_FRAMES; frame++) await nextFrame(page);
  await pane.locator('.choose').nth(4).click();
  for (let frame = 0; frame < JUMP_FRAMES; frame++) await nextFrame(page);
}

async function measureLiveRun(browser: Browser, site: Site) {
  const run = await site.startRun({ prints: [codex.thread(), codex.turn], isLive: true });
  await site.waitForRun(run.id, 'running');
  const page = await openPage(browser, site);
  await page.addInitScript(recordKeys);
  await page.goto(`/runs/${run.id}`);
  await waitUntilLoaded(page);
  await showEvents(page);
  const total = RATE * SECONDS;
  const tasks = await traceTasks(browser, page, async () => {
    const printing = printSteadily(run.print, total);
    const until = performance.now() + SECONDS * 1000;
    while (performance.now() < until) {
      await page.keyboard.press('Shift');
      await wait(KEY_INTERVAL_MS);
    }
    await printing;
    await untilRows(page, total);
  });
  const delays = await page.evaluate(() => (globalThis as unknown as { keyDelays: number[] }).keyDelays);
  await run.print([codex.completed(), 'end']);
  await site.waitForRun(run.id, 'ended');
  await page.close();
  const sorted = delays.toSorted((one, other) => one - other);
  const at = (fraction: number): number => sorted[Math.floor(sorted.length * fraction)] ?? Number.NaN;
  return { tasks, keys: sorted.length, p50: at(0.5), p95: at(0.95), longest: sorted.at(-1) ?? Number.NaN };
}

/** Prints this many records, `RATE` per second. */
async function printSteadily(
  print: (lines: readonly (object | string)[]) => Promise<void>,
  total: number,
): Promise<void> {
  const start = performance.now();
  for (let printedCount = 0; printedCount < total;) {
    await wait(25);
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * RATE));
    await print(Array.from({ length: due - printedCount }, (_, index) => longSessionRecord(printedCount + index)));
    printedCount = due;
  }
}

/** Records how long each key waited before the page handled it. Runs in the page. */
function recordKeys(): void {
  const keyDelays: number[] = [];
  Object.assign(globalThis, { keyDelays });
  addEventListener('keydown', ({ timeStamp }) => keyDelays.push(performance.now() - timeStamp), true);
}

/** Shows the list that has a row for every event; the conversation has fewer. */
async function showEvents(page: Page): Promise<void> {
  await page.getByRole('tab', { name: /^Event/ }).click();
}

/** Waits until one of the page's lists has this many rows. */
async function untilRows(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (least) => [...document.querySelectorAll('[aria-setsize]')].some((row) => Number(row.ariaSetSize) >= least),
    count,
    { timeout: 120_000 },
  );
}

async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(
    async () =>
      new Promise((resolve) => {
        requestAnimationFrame(resolve);
      }),
  );
}

function formatTaskRow(name: string, { count, longest, worst, longestOnWall }: RoundsTasks): readonly string[] {
  return [name, count.toLocaleString('en-US'), formatMs(longest), formatMs(worst), formatMs(longestOnWall)];
}
