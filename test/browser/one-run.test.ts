import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { findViolations } from './check-accessibility.js';
import { command, longSession, reasoning, session } from './codex-lines.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const DOTS = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script></svg>';
/** A file edit, from start to end. */
const EDIT = (['started', 'completed'] as const).map((phase) => ({
  type: `item.${phase}`,
  item: {
    id: 'item_9',
    type: 'mcp_tool_call',
    server: 'files',
    tool: 'edit',
    arguments: {
      file_path: '<img src=x onerror="window.pwned=1">.ts',
      old_string: 'const a = 1;\nconst b = 2;',
      new_string: 'const a = 1;\nconst b = "<script>window.pwned=1</script>";',
    },
    status: phase === 'started' ? 'in_progress' : 'completed',
  },
}));

const app = useConsole(async (site: Site) => {
  const busy = await site.runToEnd({
    paceMs: 60,
    prompt: 'Look at everything.',
    contract: { schema: { type: 'object' } },
    writes: { 'notes/plan.svg': SVG },
    prints: session(
      codex.message('I look at the files first.', 'item_0'),
      reasoning('item_1', 'The needle is in the haystack.'),
      ...command('item_2', 'npm test', '\u001B[32m✓ 214 passed\u001B[0m\u001B]0;title\u0007\u001B[8mhidden\u001B[0m\n'),
      ...command('item_3', 'cat missing.ts', 'No such file\n', 1),
      ...EDIT,
      ...command('item_4', 'cat gone.ts', 'No such file either\n', 1),
      codex.message('{"summary": "done", "files": [{"path": "a.ts", "lines": [1, 2, 3]}]}', 'item_5'),
    ),
  });
  const asked = await site.startRun({
    mode: 'interactive',
    prompt: 'Paint the shed.',
    prints: session(codex.message('Which colour?')),
    printsAfterReply: session(codex.message('Blue it is.\n{"__SKILL_DONE__": true}', 'item_1')),
  });
  await site.waitForRun(asked.id, 'waiting');
  await site.client.replyToRun({ id: asked.id, body: { text: 'Blue, please.' } });
  await site.waitForRun(asked.id, 'ended');
  const long = await site.runToEnd({ prints: longSession(3000) });
  return { busy: busy.id, asked: asked.id, long: long.id };
});

const pane = (page: Page, name: string): Locator => page.locator(`.virtual[aria-label="${name}"]`);

async function openRun(id: string): Promise<Page> {
  const { page } = await app.open(`/runs/${id}`, { width: 1440, height: 900 });
  await page.getByText('Complete', { exact: true }).waitFor();
  await waitUntilLoaded(page);
  return page;
}

describe('one run', () => {
  it('has a timeline: one row per item, its bar on a common axis, failures marked', async () => {
    const page = await openRun(app.seeds.busy);
    const rows = pane(page, 'Timeline').locator('.timeline-row');
    const failed = rows.filter({ hasText: 'cat missing.ts' });
    await expect.poll(async () => failed.innerText()).toContain('Failed');
    const place = async (words: string): Promise<number> =>
      (await rows.filter({ hasText: words }).locator('.timeline-bar').boundingBox())?.x ?? 0;
    // Equal if both were printed within a millisecond.
    expect(await place('npm test')).toBeLessThanOrEqual(await place('cat missing.ts'));
    await failed.getByRole('button').click();
    // It is highlighted in the other panes.
    await expect
      .poll(async () => pane(page, 'Conversation').locator('.highlighted').innerText())
      .toContain('cat missing.ts');
    await page.getByRole('tab', { name: /^Raw/ }).click();
    await expect.poll(async () => pane(page, 'Raw bytes').locator('.highlighted').count()).toBeGreaterThan(0);
    expect(await findViolations(page)).toEqual([]);
  });

  it('is filtered by kind, to errors only, and by words', async () => {
    const page = await openRun(app.seeds.busy);
    const items = pane(page, 'Conversation').locator('.item');
    const find = page.getByRole('search', { name: 'Find in run' });
    await find.getByRole('button', { name: 'Errors only' }).click();
    await expect.poll(async () => items.count()).toBe(2);
    await expect.poll(async () => pane(page, 'Timeline').locator('.timeline-row').count()).toBe(2);
    await find.getByRole('button', { name: 'Errors only' }).click();
    await find.getByLabel('Kind').selectOption('reasoning');
    await expect.poll(async () => items.count()).toBe(1);
    await find.getByLabel('Kind').selectOption('');
    await find.getByLabel('Find in run').fill('NEEDLE');
    await find.getByText('1 found', { exact: true }).waitFor();
    await expect.poll(async () => items.innerText()).toContain('The needle is in the haystack.');
    await find.getByLabel('Find in run').fill('no such words');
    await page.getByText('No items match.').first().waitFor();
    await find.getByLabel('Find in run').fill('');
    await expect.poll(async () => items.count()).toBeGreaterThan(4);
  });

  it('moves from error to error with a key', async () => {
    const page = await openRun(app.seeds.busy);
    const highlighted = pane(page, 'Conversation').locator('.highlighted');
    await page.keyboard.press('n');
    await expect.poll(async () => highlighted.innerText()).toContain('cat missing.ts');
    await page.keyboard.press('n');
    await expect.poll(async () => highlighted.innerText()).toContain('cat gone.ts');
    await page.keyboard.press('N');
    await expect.poll(async () => highlighted.innerText()).toContain('cat missing.ts');
  });

  it('finds words in thousands of items', async () => {
    const page = await openRun(app.seeds.long);
    await page.getByLabel('Find in run').last().fill('part 2718 and');
    await page.getByText('1 found', { exact: true }).waitFor();
    await expect.poll(async () => pane(page, 'Conversation').innerText()).toContain('Message 2718');
  });

  it('shows a file change as a diff, and malicious names and lines as text', async () => {
    const page = await openRun(app.seeds.busy);
    await page.getByLabel('Find in run').last().fill('const b = 2');
    await page.getByText('1 found', { exact: true }).waitFor();
    const change = pane(page, 'Conversation').locator('.file-change');
    await change.waitFor();
    await expect.poll(async () => change.innerText()).toContain('<img src=x onerror="window.pwned=1">.ts');
    await expect.poll(async () => change.locator('.diff-line.removed').innerText()).toContain('const b = 2;');
    await expect
      .poll(async () => change.locator('.diff-line.added').innerText())
      .toContain('<script>window.pwned=1</script>');
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  });

  it('shows the colours of a terminal, and ignores all other escapes', async () => {
    const page = await openRun(app.seeds.busy);
    await page.getByLabel('Find in run').last().fill('214 passed');
    await page.getByText('1 found', { exact: true }).waitFor();
    const item = pane(page, 'Conversation').locator('.item.tool');
    await expect.poll(async () => item.count()).toBe(1);
    await item.locator('summary').click();
    await expect.poll(async () => item.locator('.ansi-2').innerText()).toBe('✓ 214 passed');
    const output = await item.locator('pre').last().innerText();
    expect(output).toContain('hidden');
    expect(output).toContain(']0;title');
    expect(await page.title()).not.toContain('title');
  });

  it('shows a value as a tree that opens and closes', async () => {
    const page = await openRun(app.seeds.busy);
    const tree = page.getByRole('tabpanel', { name: 'Result' }).locator('.json-tree').first();
    await tree.getByRole('button', { name: 'files, 1 item' }).click();
    expect(await tree.innerText()).not.toContain('a.ts');
    await tree.getByRole('button', { name: 'files, 1 item' }).click();
    await expect.poll(async () => tree.innerText()).toContain('"a.ts"');
    expect(await findViolations(page)).toEqual([]);
  });

  it('opens a selected item in the inspector: its event, its bytes and its diff', async () => {
    const page = await openRun(app.seeds.busy);
    await page.getByRole('tabpanel', { name: 'Result' }).waitFor();
    await pane(page, 'Timeline').locator('.timeline-row').filter({ hasText: 'edit' }).getByRole('button').click();
    const event = page.getByRole('tabpanel', { name: /^Event/ });
    await expect.poll(async () => event.locator('.highlighted .json-tree').first().innerText()).toContain('old_string');
    await page.getByRole('tab', { name: 'Diff' }).click();
    const diff = page.getByRole('tabpanel', { name: 'Diff' });
    await expect.poll(async () => diff.locator('.diff-line.removed').innerText()).toContain('const b = 2;');
    await page.getByRole('tab', { name: 'Task' }).click();
    await page.getByRole('tabpanel', { name: 'Task' }).getByText('Look at everything.').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it('keeps its actions on the screen, however long the title is', async () => {
    const { page } = await app.open('/runs');
    await page.route(`**/v1/runs/${app.seeds.busy}`, async (route) => {
      const { 'if-none-match': _, ...headers } = route.request().headers();
      const response = await route.fetch({ headers });
      const view = (await response.json()) as object;
      await route.fulfill({ response, json: { ...view, title: 'A very long title without an end. '.repeat(6) } });
    });
    await page.goto(`/runs/${app.seeds.busy}`);
    const again = page.getByRole('button', { name: 'Run again' });
    const box = await again.boundingBox();
    const title = await page.getByRole('heading', { level: 1 }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(1280);
    expect(title?.height).toBeLessThan(40);
    // The page asks again from time to time.
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('has a tab for each attempt', async () => {
    const page = await openRun(app.seeds.asked);
    const conversation = pane(page, 'Conversation');
    await page.getByRole('button', { name: 'Attempt 2', exact: true }).click();
    await expect.poll(async () => conversation.innerText()).not.toContain('Which colour?');
    await page.getByRole('button', { name: 'Attempt 1', exact: true }).click();
    await expect.poll(async () => conversation.innerText()).toContain('Which colour?');
    expect(await conversation.innerText()).not.toContain('Blue it is.');
  });

  it('shows attempts side by side', async () => {
    const page = await openRun(app.seeds.asked);
    await page.getByRole('tab', { name: 'Attempts' }).click();
    const table = page.getByRole('region', { name: 'Attempts side by side' });
    const cells = await table.getByRole('row').filter({ hasText: 'Last message' }).getByRole('cell').allInnerTexts();
    expect(cells.map((cell) => cell.slice(0, 13))).toEqual(['Which colour?', 'Blue it is.\n{']);
    await expect
      .poll(async () => table.getByRole('row').filter({ hasText: 'Answer before the attempt' }).innerText())
      .toContain('Blue, please.');
    expect(await findViolations(page)).toEqual([]);
  });

  it('paints an image, and shows SVG as text', async () => {
    const { page } = await app.open(`/runs/${app.seeds.busy}`, { width: 1440, height: 900 });
    await page.route('**/artifact?*', async (route) => {
      const isPicture =
        route.request().url().includes('plan.svg') && route.request().headers()['x-as-is'] === undefined;
      if (!isPicture) return route.continue();
      const bytes = DOTS;
      await route.fulfill({
        body: bytes,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'x-total-bytes': String(bytes.length) },
      });
    });
    await page.getByText('Complete', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Files' }).click();
    const result = page.getByRole('tabpanel', { name: 'Files' });
    await result.getByRole('button', { name: 'Preview' }).click();
    await result.getByRole('img', { name: 'Picture, 1 × 1' }).waitFor();
    const readPoint = async () =>
      result.locator('canvas').evaluate((canvas) => {
        const { data } = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, 1, 1) ?? { data: [] };
        return [...data];
      });
    await expect.poll(readPoint).toEqual([255, 0, 0, 255]);
    await page.unroute('**/artifact?*');
    await result.getByRole('button', { name: 'Close' }).click();
    await result.getByRole('button', { name: 'Preview' }).click();
    await result.getByText('window.pwned=1').first().waitFor();
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    await result.getByRole('button', { name: 'Download' }).waitFor();
  });
});
