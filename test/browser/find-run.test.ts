import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.js';
import { findViolations } from './check-accessibility.js';
import { seedHistory } from './seed-history.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const DAY_MS = 86_400_000;
const RUNS = 5000;
const PROGRAM = process.execPath;

const app = useConsole(
  async (site: Site) => {
    await seedHistory(site.data, { perDay: RUNS / 7, hasEvents: false });
    const store = await openStore(`sqlite:${site.data}/sluice.db`);
    // Noon of yesterday, in any time zone.
    const noon = new Date();
    noon.setHours(12, 0, 0, 0);
    const at = noon.getTime() - DAY_MS;
    const command = [PROGRAM, '-e', 'console.log("imported")'];
    const spec = { engine: 'command', command, prompt: 'Import the ledger of October.', workdir: site.work } as const;
    const id = '01JZZZZZZZZZZZZZZZZZZZZZZZ';
    try {
      await store.createRun({ id, spec, state: 'running', workerId: 'history', leaseMs: DAY_MS, now: at });
      const error = { category: 'process', code: 'PROCESS_EXIT_NON_ZERO', message: 'The ledger was locked.' } as const;
      const artifacts = { created: [], modified: [], deleted: [] };
      const result = {
        status: 'failed',
        repair_level: 'none',
        warnings: [],
        artifacts,
        attempts: 1,
        session_id: null,
        error,
      } as const;
      await store.endRun({ id, workerId: 'history', result, now: at + 4000 });
    } finally {
      await store.close();
    }
    return { id };
  },
  { commands: [PROGRAM] },
);

describe(`among ${RUNS} runs`, () => {
  it('finds yesterday’s failed run, reads why it failed, and runs it again', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Failed yesterday' }).click();
    await page.waitForURL('**/runs?outcome=failed&since=yesterday&until=yesterday');
    await waitUntilLoaded(page);
    // Many failed yesterday: words from the error narrow it down.
    await expect.poll(async () => page.getByRole('row').count()).toBeGreaterThan(10);
    await page.getByLabel('Search').fill('ledger LOCKED');
    const row = page.getByRole('row').filter({ hasText: 'Import the ledger of October.' });
    await expect.poll(async () => page.getByRole('row').count()).toBe(2);
    await expect
      .poll(async () => row.innerText())
      .toMatch(/Failed[\s\S]*The ledger was locked\.[\s\S]*PROCESS_EXIT_NON_ZERO/);
    expect(await findViolations(page)).toEqual([]);
    await row.getByRole('link').first().click();
    await page.waitForURL(`**/runs/${app.seeds.id}`);
    const failure = page.getByRole('region', { name: 'Failure' });
    await expect.poll(async () => failure.innerText()).toContain('The ledger was locked.');
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(app.seeds.id));
    const secondRun = await app.site.waitForRun(page.url().slice(-26), 'ended');
    expect(secondRun.result?.status).toBe('success');
  });

  it('saves a named view, shows the selected columns, counts all rows and totals the listed ones', async () => {
    const query = { engine: 'claude', outcome: 'failed', total: 'true' } as const;
    const { total = 0 } = await app.site.client.listRuns({ query });
    expect(total).toBeGreaterThan(100);
    const { page } = await app.open('/runs?engine=claude&outcome=failed');
    await waitUntilLoaded(page);
    await expect
      .poll(async () => page.locator('.list-sum').innerText())
      .toMatch(/^[\d,]+ in all · of these 50: 50 failed · [\d.]+M tokens · \$\d+\.\d\d$/);
    expect(await page.locator('.list-sum').innerText()).toContain(`${total.toLocaleString('en')} in all`);
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByLabel('View name').fill('Claude fails');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('summary').filter({ hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Folder' }).check();
    await page.getByRole('checkbox', { name: 'Error' }).uncheck();
    await page.goto(new URL('/runs', page.url()).href);
    await waitUntilLoaded(page);
    const heads = await page.getByRole('columnheader').allInnerTexts();
    expect(heads).toEqual(['State', 'Issue', 'Task', 'Engine', 'Tokens', 'Cost', 'Folder', 'Age']);
    await page.getByRole('link', { name: 'Claude fails' }).click();
    await page.waitForURL('**/runs?engine=claude&outcome=failed');
    await page.getByRole('button', { name: 'Remove the view Claude fails' }).click();
    await expect.poll(async () => page.getByRole('link', { name: 'Claude fails' }).count()).toBe(0);
  });

  it('narrows to a range of days', async () => {
    const { page } = await app.open('/runs');
    await waitUntilLoaded(page);
    const day = new Date(Date.now() - 3 * DAY_MS).toLocaleDateString('en-CA');
    await page.goto(`/runs?since=${day}&until=${day}`);
    await expect
      .poll(async () => {
        const times = await page
          .locator('td time')
          .evaluateAll((cells) => cells.map((cell) => new Date(cell.getAttribute('datetime') ?? '')));
        return times.length > 20 && times.every((at) => at.toLocaleDateString('en-CA') === day);
      })
      .toBe(true);
  });
});

describe('many windows', () => {
  it('of a live run share one stream, which moves when its window is closed', async () => {
    const { page } = await app.open('/runs');
    const streams: string[] = [];
    page.context().on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/events')) streams.push(searchParams.get('protocol') ?? '');
    });
    const live = await app.site.startRun({
      prints: [{ type: 'thread.started', thread_id: 't' }, { type: 'turn.started' }],
      isLive: true,
    });
    await app.site.waitForRun(live.id, 'running');
    const windows = await Promise.all(Array.from({ length: 5 }, async () => page.context().newPage()));
    for (const one of windows) {
      await one.goto(`/runs/${live.id}`);
      await one.getByText('Session started').first().waitFor();
    }
    await live.print([{ type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'To all windows.' } }]);
    for (const one of windows) await one.getByText('To all windows.').first().waitFor();
    expect(streams).toEqual(['fcmp,rasp']);
    const [first, ...otherWindows] = windows;
    await first?.close();
    await expect.poll(() => streams).toEqual(['fcmp,rasp', 'fcmp,rasp']);
    await live.print([{ type: 'item.completed', item: { id: 'i2', type: 'agent_message', text: 'To the others.' } }]);
    for (const one of otherWindows) await one.getByText('To the others.').first().waitFor();
    expect(streams).toHaveLength(2);
    await live.print(['end']);
    for (const one of otherWindows) await one.getByText('Complete', { exact: true }).waitFor();
    expect((await app.site.waitForRun(live.id, 'ended')).state).toBe('ended');
  });
});
