import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { seedConsole } from './seed-console.js';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { RUN_ENGINES } from '../../src/store/records/run-spec.js';
import { session } from './codex-lines.js';
import { dropNextResponse } from './drop-response.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';

/** Finds a form field by its exact name, since other fields' help contains it too. */
const field = (page: Page, name: string): Locator => page.getByLabel(name, { exact: true });

const PROGRAM = process.execPath;
const app = useConsole(seedConsole, { commands: [PROGRAM] });

describe('the list of runs', () => {
  it("lists each run's task, state, engine and tokens", async () => {
    const { page } = await app.open('/runs');
    const row = page.getByRole('row').filter({ hasText: 'Review how the list is sorted.' });
    await row.waitFor();
    await expect.poll(async () => row.innerText()).toMatch(/Success[\s\S]*codex[\s\S]*2\.6k/);
    const failed = page.getByRole('row').filter({ hasText: 'Count the findings.' });
    await expect.poll(async () => failed.innerText()).toContain('OUTPUT_NOT_VALIDATED');
    const asking = page.getByRole('row').filter({ hasText: 'Paint the shed.' });
    await expect.poll(async () => asking.innerText()).toContain('Waiting');
  });

  it('shows a run that was started elsewhere, without a reload', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    await app.site.runToEnd({ prompt: 'Come by yourself.', prints: session(codex.message('Here I am.')) });
    const row = page.getByRole('row').filter({ hasText: 'Come by yourself.' });
    await row.filter({ hasText: 'success' }).waitFor();
    await expect.poll(async () => row.count()).toBe(1);
  });

  it('keeps the rows in place when new runs arrive', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Paint the shed.' }).focus();
    await app.site.runToEnd({ prompt: 'Do not push.', prints: session(codex.message('I wait.')) });
    await page.getByRole('button', { name: /^Show \d+ new$/ }).waitFor();
    await expect.poll(async () => page.getByText('Do not push.').count()).toBe(0);
    await page.getByRole('button', { name: /^Show \d+ new$/ }).click();
    await page.getByRole('link', { name: 'Do not push.' }).waitFor();
  });

  it('finds runs by words, keeps the words in the address, and clears them', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    await page.keyboard.press('/');
    await page.keyboard.type('SHED paint');
    const rows = page.getByRole('table').getByRole('link');
    await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe('SHED paint');
    await expect.poll(async () => rows.allInnerTexts()).toEqual(['Paint the shed.']);
    await page.reload();
    await expect.poll(async () => rows.allInnerTexts()).toEqual(['Paint the shed.']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(async () => rows.count()).toBeGreaterThan(3);
  });

  it('also clears text that was typed just before', async () => {
    const { page } = await app.open('/runs?search=shed');
    await waitUntilLoaded(page);
    await page.clock.install();
    await page.getByLabel('Search').fill('shed green');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(async () => page.getByLabel('Search').inputValue()).toBe('');
    // Longer than the pause after which a search starts.
    await page.clock.runFor(1000);
    expect(new URL(page.url()).search).toBe('');
  });

  it('narrows by state, outcome and engine', async () => {
    const { page } = await app.open('/runs');
    const rows = page.getByRole('table').getByRole('row');
    await page.getByLabel('Outcome').selectOption('failed');
    await expect.poll(async () => rows.filter({ hasText: 'success' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Count the findings.' }).waitFor();
    await page.getByLabel('Engine').selectOption('gemini');
    await page.getByText('No runs match').waitFor();
    expect(new URL(page.url()).search).toBe('?outcome=failed&engine=gemini');
  });

  it("offers the server's engines, and one that only the address names", async () => {
    const { page } = await app.open('/runs?engine=abacus');
    await page.getByText('No runs match').waitFor();
    const choice = page.getByLabel('Engine');
    await expect.poll(async () => choice.inputValue()).toBe('abacus');
    const { engines } = await app.site.client.listEngines();
    const names = engines.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...RUN_ENGINES]));
    await expect.poll(async () => choice.locator('option').allInnerTexts()).toEqual(['All', ...names, 'abacus']);
  });

  it('opens a run with the keyboard', async () => {
    const { page } = await app.open('/runs?search=shed');
    await page.getByRole('link', { name: 'Paint the shed.' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${app.seeds.asking}`);
    await expect.poll(async () => page.title()).toContain('Run');
  });
});

describe('the density of the list', () => {
  it('shows at least 14 runs at 1280 × 800, each on one line', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    // More rows than fit, whatever was seeded.
    await page.evaluate(() => {
      const body = document.querySelector('.rows tbody');
      const row = body?.querySelector('tr') ?? document.createElement('tr');
      body?.append(...Array.from({ length: 20 }, () => row.cloneNode(true)));
    });
    const heights = await page
      .locator('.rows tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) => row.getBoundingClientRect()).filter(({ bottom }) => bottom <= innerHeight),
      );
    expect(heights.length).toBeGreaterThanOrEqual(14);
    expect(Math.max(...heights.map(({ height }) => height))).toBeLessThanOrEqual(42);
  });

  it('names the run of an order after its instructions', async () => {
    const { page } = await app.open('/runs');
    const row = page.getByRole('row').filter({ hasText: 'acme/shop#9' });
    await row.getByRole('link', { name: /All done, trust me/ }).click();
    await expect.poll(async () => page.getByRole('heading', { level: 1 }).innerText()).toContain('All done, trust me');
  });

  it('selects a time by dragging over the outcomes, and by keys, and removes it again', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    const bars = page.getByRole('group', { name: 'Ended runs by time' }).getByRole('button');
    const [first, last] = await Promise.all([bars.nth(40).boundingBox(), bars.last().boundingBox()]);
    if (first === null || last === null) throw new Error('there are no bars');
    await page.mouse.move(first.x + 2, first.y + 10);
    await page.mouse.down();
    await page.mouse.move(last.x + 2, last.y + 10, { steps: 5 });
    await page.mouse.up();
    const readHours = (): number => {
      const { searchParams } = new URL(page.url());
      const [since, until] = [searchParams.get('ended_since') ?? '', searchParams.get('ended_until') ?? ''];
      return (Date.parse(until) - Date.parse(since)) / 3_600_000;
    };
    await expect.poll(readHours).toBe(((await bars.count()) - 40) * 3);
    const chip = page.getByRole('button', { name: /^Remove the filter Ended from/ });
    await chip.click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await bars.last().focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(readHours).toBe(6);
    await chip.waitFor();
  });
});

/** The size of a request with the headers that a browser adds. */
const REQUEST_BYTES = 900;

describe('an idle tab', () => {
  it('polls with at most 5 MB an hour, because unchanged responses have no body', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    const sizes = new Map<string, number[]>();
    const paths = new Map<string, string>();
    const add = (id: string, bytes: number): void => {
      const path = paths.get(id);
      if (path !== undefined) sizes.set(path, [...(sizes.get(path) ?? []), bytes]);
    };
    const network = await page.context().newCDPSession(page);
    network.on('Network.requestWillBeSent', ({ requestId, request }) => {
      paths.set(requestId, new URL(request.url).pathname);
    });
    // Headers and body, as they were sent. A request has fewer bytes than this.
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      add(requestId, encodedDataLength + REQUEST_BYTES);
    });
    await network.send('Network.enable');
    const count = (path: string): number => sizes.get(path)?.length ?? 0;
    await expect
      .poll(() => Math.min(count('/v1/runs'), count('/v1/waiting'), 6 * count('/v1/workers')))
      .toBeGreaterThanOrEqual(6);
    const perHour = { '/v1/runs': 1800, '/v1/waiting': 1800, '/v1/workers': 360, '/v1/statistics': 60 };
    const bytes = Object.entries(perHour).map(([path, times]) => times * Math.max(0, ...(sizes.get(path) ?? [])));
    expect(bytes.reduce((sum, part) => sum + part, 0)).toBeLessThan(5_000_000);
    // Nothing else is polled.
    expect([...sizes.keys()].filter((path) => !(path in perHour))).toEqual([]);
  });
});

describe('the run form', () => {
  it('starts what the configuration allows, and opens the run', async () => {
    const { page } = await app.open('/runs');
    await page.getByRole('link', { name: 'Start a run' }).click();
    await field(page, 'Engine').selectOption('command');
    await field(page, 'Command').selectOption(PROGRAM);
    await field(page, 'Arguments').fill('-e\nconsole.log(JSON.stringify({ summary: "from a form" }))');
    await page.getByText('what the answer must look like').click();
    await page.getByRole('button', { name: 'Insert an example' }).click();
    await page.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL(/\/runs\/[0-9A-Z]{26}$/);
    const run = await app.site.waitForRun(page.url().slice(-26), 'ended');
    expect(run).toMatchObject({
      engine: 'command',
      spec: { command: [PROGRAM, '-e', 'console.log(JSON.stringify({ summary: "from a form" }))'] },
      result: { status: 'success', value: { summary: 'from a form' } },
    });
  });

  it('keeps the working folder empty once the user has cleared it, until the form is reset', async () => {
    const { page } = await app.open('/runs?start');
    const folder = field(page, 'Working folder');
    const suggested = await folder.inputValue();
    expect(suggested).not.toBe('');
    await folder.fill('');
    await expect.poll(async () => folder.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Reset form' }).click();
    await expect.poll(async () => folder.inputValue()).toBe(suggested);
  });

  /** Starts a run whose response is lost. Returns the button that was pressed. */
  const startUnanswered = async (page: Page, words: string) => {
    await field(page, 'Engine').selectOption('command');
    await field(page, 'Command').selectOption(PROGRAM);
    await field(page, 'Arguments').fill(`-e\nconsole.log("${words}")`);
    await dropNextResponse(page, '/v1/runs');
    const start = page.getByRole('button', { name: 'Start run' });
    await start.click();
    await page.getByText('the run starts only once').waitFor();
    return start;
  };
  const countRuns = async () => (await app.site.client.listRuns({ query: { limit: 500 } })).items.length;

  it('starts one run if the response was lost and the form is resubmitted, even after a reload', async () => {
    const { page } = await app.open('/runs?start', { mayFail: /v1\/runs/ });
    const before = await countRuns();
    const start = await startUnanswered(page, 'once');
    await page.reload();
    await start.click();
    await page.waitForURL(/\/runs\/[0-9A-Z]{26}$/);
    expect(await countRuns()).toBe(before + 1);
  });

  it('starts another run once a field was changed', async () => {
    const { page } = await app.open('/runs?start', { mayFail: /v1\/runs/ });
    const before = await countRuns();
    const start = await startUnanswered(page, 'first');
    await field(page, 'Arguments').fill('-e\nconsole.log("second")');
    await start.click();
    await page.waitForURL(/\/runs\/[0-9A-Z]{26}$/);
    expect(await countRuns()).toBe(before + 2);
  });

  it('reports when the form cannot be loaded, and loads it after a reload', async () => {
    const { page } = await app.open('/runs', { mayFail: /start-run|ERR_FAILED/ });
    await page.route('**/start-run*', async (route) => route.abort());
    await page.getByRole('link', { name: 'Start a run' }).first().click();
    await page.getByText('The page could not be loaded').waitFor();
    await page.unroute('**/start-run*');
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect.poll(async () => field(page, 'Engine').locator('option').allInnerTexts()).toContain('codex');
  });

  it('loads the engines in a background tab', async () => {
    const { page } = await app.open('/runs');
    await page.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true }));
    await page.goto('/runs?start');
    await expect.poll(async () => field(page, 'Engine').locator('option').allInnerTexts()).toContain('codex');
  });

  it('shows an error next to its field, moves the focus there, and sends nothing', async () => {
    const { page } = await app.open('/runs?start');
    await field(page, 'Engine').selectOption('codex');
    await page.getByRole('button', { name: 'Start run' }).click();
    const prompt = field(page, 'Prompt');
    await expect.poll(async () => prompt.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(async () => prompt.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('shows a refusal next to its field, and keeps the draft across a reload', async () => {
    const { page } = await app.open('/runs?start', { mayFail: /40[03]/ });
    await field(page, 'Engine').selectOption('codex');
    await field(page, 'Prompt').fill('Read the diary.');
    await field(page, 'Working folder').fill(join(app.site.folder, 'data'));
    await page.getByRole('button', { name: 'Start run' }).click();
    const folder = field(page, 'Working folder');
    await expect.poll(async () => folder.getAttribute('aria-invalid')).toBe('true');
    await page.reload();
    await field(page, 'Prompt').waitFor();
    await expect.poll(async () => field(page, 'Prompt').inputValue()).toBe('Read the diary.');
  });
});
