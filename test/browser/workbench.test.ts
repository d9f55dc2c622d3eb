import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { parse } from '../../src/json/index.js';
import { findViolations } from './check-accessibility.js';
import { findColored } from './find-colored.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';

const app = useConsole(async () => undefined);

/** Opens the workbench with some input, and waits until it is parsed. */
async function bench(text: string, schema: object | string = '') {
  const { page, record } = await app.open('/workbench');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Model output').getByRole('textbox').fill(text);
  await page.getByLabel('JSON Schema').fill(typeof schema === 'string' ? schema : JSON.stringify(schema, null, 2));
  await waitUntilLoaded(page);
  return { page, record };
}

/** Reads the outcome line. */
const outcome = async (page: Page): Promise<string> => page.locator('.outcome').innerText();

/** Reads the displayed value. */
const value = async (page: Page): Promise<string> =>
  page.getByRole('region', { name: 'The value, line by line' }).innerText();

/** Pastes text while no field has the focus, as Ctrl+V does. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((pastedText) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pastedText);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

describe('the workbench', () => {
  it('parses pasted text like `parse`, and shows the value', async () => {
    const text = 'Sure! Here it is:\n```json\n{ verdict: "pass", "score": 8, }\n```';
    const { page } = await bench(text);
    await expect.poll(async () => outcome(page)).toContain('Repaired');
    const result = parse(text);
    const kinds = 'repairs' in result ? result.repairs.map(({ kind }) => kind) : [];
    expect(kinds.length).toBeGreaterThan(0);
    const found = page.getByRole('region', { name: 'Findings' });
    for (const kind of kinds) await found.getByRole('button').filter({ hasText: kind }).first().waitFor();
    await expect.poll(async () => value(page)).toMatch(/verdict[\s\S]*pass[\s\S]*score[\s\S]*8/);
    // A repair asks for nothing.
    expect(await findColored(page, '--warn', '--warn-soft')).toEqual([]);
  });

  it('highlights a selected repair in the input', async () => {
    const { page } = await bench(`${'words before. '.repeat(200)}{"a": 1,}`);
    const entry = page.getByRole('button').filter({ hasText: 'extra_comma' });
    await expect.poll(async () => entry.count()).toBe(1);
    await entry.click();
    await expect.poll(async () => entry.getAttribute('aria-pressed')).toBe('true');
    const selectedEntry = page.getByLabel('Model output with findings marked').locator('.chosen');
    await expect.poll(async () => selectedEntry.allInnerTexts()).toEqual([expect.stringContaining(',')]);
    await expect.poll(async () => selectedEntry.first().isVisible()).toBe(true);
  });

  it('shows schema errors at their location', async () => {
    const schema = { type: 'object', properties: { score: { type: 'integer', maximum: 10 } } };
    const { page } = await bench('{"score": 11}', schema);
    await expect.poll(async () => outcome(page)).toContain('SCHEMA_MISMATCH');
    const issue = page.getByRole('button').filter({ hasText: 'score' }).first();
    await issue.click();
    const selectedEntry = page.getByLabel('Model output with findings marked').locator('.chosen');
    await expect.poll(async () => (await selectedEntry.allInnerTexts()).join('')).toContain('11');
  });

  it('shows where a schema is invalid JSON, and moves the cursor there', async () => {
    const { page } = await bench('{}', '{\n  "type": object\n}');
    const field = page.getByLabel('JSON Schema');
    await expect.poll(async () => field.getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('button', { name: /line 2/i }).click();
    await expect.poll(async () => field.evaluate((area) => area === document.activeElement)).toBe(true);
  });

  it('keeps options in the address and the input across a reload, and sends none of it anywhere', async () => {
    const { page, record } = await bench('{"a": [1, 2');
    await expect.poll(async () => outcome(page)).toContain('Failed');
    await page.getByLabel('Allow partial').check();
    await expect.poll(async () => outcome(page)).toContain('Success');
    await page.reload();
    await waitUntilLoaded(page);
    await expect.poll(async () => outcome(page)).toContain('Success');
    await expect
      .poll(async () => page.getByLabel('Model output').getByRole('textbox').inputValue())
      .toBe('{"a": [1, 2');
    expect(record.loaded.map(({ path }) => path)).not.toContain('/v1/parse');
  });

  it('shares a case by a link whose content no server receives', async () => {
    const secret = `{ verdict: 'pass' } // ${'only-for-your-eyes '.repeat(3)}`;
    const { page } = await bench(secret);
    await page.getByLabel('Allow partial').check();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Share link' }).click();
    await page.getByText('Link copied').waitFor();
    const link = await page.evaluate(async () => navigator.clipboard.readText());
    expect(new URL(link).search).toContain('partial');
    const other = await page.context().browser()?.newContext({ baseURL: app.site.url });
    const opened = await other?.newPage();
    if (opened === undefined) throw new Error('no other browser');
    const asked: string[] = [];
    opened.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`));
    await opened.goto(link);
    await opened.getByText('only-for-your-eyes').first().waitFor();
    expect(new URL(opened.url()).hash).toBe('');
    expect(asked.join('\n')).not.toMatch(/only-for-your-eyes|case=/);
    await other?.close();
  });

  it('shows the results of JSON.parse and jsonrepair next to its own value', async () => {
    const { page } = await bench('Here it is:\n```json\n{"verdict": "pass", "score": 8,}\n```\nDone.');
    await page.getByText('Other parsers').click();
    const strict = page.getByRole('region', { name: 'JSON.parse', exact: true });
    await strict.getByText('Error', { exact: true }).waitFor();
    const repair = page.getByRole('region', { name: 'jsonrepair', exact: true });
    await repair.getByText(/^(?:Different value|Error|Same value)$/).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it('opens every example', async () => {
    const { page } = await app.open('/workbench');
    await waitUntilLoaded(page);
    const names = await page.getByLabel('Example', { exact: true }).locator('option').allInnerTexts();
    expect(names.length).toBeGreaterThan(5);
    for (const name of names.slice(1)) {
      await page.getByLabel('Example', { exact: true }).selectOption(name);
      await waitUntilLoaded(page);
      await expect.poll(async () => outcome(page)).toMatch(/Success|Failed|Comment/);
    }
  });

  it('streams the input, step by step and automatically, to the same value as without streaming', async () => {
    const { page } = await bench('{"words": ["one", "two", "three"]}');
    // Waits for the input to be parsed, which restarts its stream.
    await expect.poll(async () => value(page)).toContain('three');
    const stream = page.getByRole('region', { name: 'Streaming' });
    await stream.getByRole('button', { name: 'Step' }).click();
    await stream.getByText('growing').waitFor();
    await stream.getByLabel('Speed').fill('9');
    await stream.getByRole('button', { name: 'Play' }).click();
    await stream.getByText('success').waitFor();
    await expect.poll(async () => stream.innerText()).toMatch(/one[\s\S]*two[\s\S]*three/);
  });

  it('accepts text pasted outside any field', async () => {
    const { page } = await app.open('/workbench');
    await waitUntilLoaded(page);
    await paste(page, '{"pasted": true}');
    await expect.poll(async () => value(page)).toContain('pasted');
  });

  describe('ten megabytes', () => {
    const rows = Array.from({ length: 180_000 }, (_, id) => ({ id, words: 'as agents write them, so and so' }));
    const long = `Here it is: ${JSON.stringify({ rows })}`;

    it('are parsed in the page, which shows a part, and are not sent', async () => {
      expect(long.length).toBeGreaterThan(9_500_000);
      const { page, record } = await app.open('/workbench');
      await waitUntilLoaded(page);
      await page.getByLabel('JSON Schema').fill('');
      const buffer = Buffer.from(long);
      await page.locator('input[type=file]').setInputFiles({ name: 'output.json', mimeType: 'text/plain', buffer });
      await page.getByText(`of ${long.length.toLocaleString('en')}`).waitFor();
      await expect.poll(async () => value(page), { timeout: 40_000 }).toContain('as agents write them');
      await expect.poll(async () => outcome(page)).toContain('Extracted');
      await expect.poll(async () => page.locator('main *').count()).toBeLessThan(1500);
      expect(record.loaded.map(({ path }) => path)).not.toContain('/v1/parse');
    });

    it('stream like short input', async () => {
      const { page } = await app.open('/workbench');
      await waitUntilLoaded(page);
      await page.getByLabel('JSON Schema').fill('');
      await paste(page, long);
      await expect.poll(async () => value(page), { timeout: 40_000 }).toContain('as agents write them');
      const stream = page.getByRole('region', { name: 'Streaming' });
      await stream.getByLabel('Chunk').fill('8');
      await stream.getByRole('button', { name: 'Step' }).click();
      await stream.getByText('as agents write them').first().waitFor();
    });

    it('are abandoned for the next input', async () => {
      const { page } = await app.open('/workbench');
      await waitUntilLoaded(page);
      await paste(page, long);
      await page.getByText('parsing …').waitFor();
      await paste(page, '{"next": true}');
      await expect.poll(async () => value(page)).toContain('next');
      await expect.poll(async () => outcome(page)).not.toContain('Parsing');
    });
  });

  it('refuses input that is too long, and keeps the previous input', async () => {
    const { page } = await bench('{"kept": true}');
    await expect.poll(async () => value(page)).toContain('kept');
    await page
      .getByLabel('Model output')
      .first()
      .evaluate((pane) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([new Uint8Array(16 * 1024 * 1024 + 1)], 'huge.log'));
        pane.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      });
    await page.getByText('huge.log is 16.1 MB, but the workbench accepts only 16 MB').waitFor();
    await expect.poll(async () => value(page)).toContain('kept');
  });

  it('reports when its worker cannot be loaded, and tries again', async () => {
    const { page } = await app.open('/runs', { mayFail: /workbench-worker/ });
    await page.route('**/workbench-worker*', async (route) => route.abort());
    await page.getByRole('link', { name: 'Workbench' }).click();
    await page.getByRole('alert').getByText('could not be loaded').waitFor();
    await page.unroute('**/workbench-worker*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(async () => value(page)).toContain('verdict');
    await expect.poll(async () => page.getByRole('alert').count()).toBe(0);
  });
});
