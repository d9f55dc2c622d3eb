import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';

let script = '';
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('fixtures/react-page.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  script = outputFiles[0]?.text ?? '';
});

async function openPage(): Promise<Page> {
  const browser = await chromium.connect(inject('browserEndpoint'));
  onTestFinished(async () => browser.close());
  const page = await browser.newPage();
  await page.setContent('<!doctype html><title>React</title><body></body>');
  await page.addScriptTag({ content: script });
  await page.getByText('"status":"idle"').waitFor();
  return page;
}

/** Reads the component's output. */
async function readDisplayed(page: Page): Promise<unknown> {
  return JSON.parse((await page.locator('output').textContent()) ?? '');
}

describe('useJsonStream in React', () => {
  it('shows the value while it grows, and the result at the end', async () => {
    const page = await openPage();
    await page.evaluate(() => window.page.start());
    await page.evaluate(() => window.page.write('Sure: ```json\n{"title": "Te'));
    await page.getByText('"title":"Te"').waitFor();
    expect(await readDisplayed(page)).toEqual({ value: { title: 'Te' }, status: 'streaming' });
    await page.evaluate(() => window.page.write('a", "minutes": 5,}\n```'));
    await page.evaluate(() => window.page.end());
    await page.getByText('"status":"done"').waitFor();
    expect(await readDisplayed(page)).toEqual({
      value: { title: 'Tea', minutes: 5 },
      status: 'done',
      result: 'success',
    });
  });

  it('keeps the value when the source fails', async () => {
    const page = await openPage();
    await page.evaluate(() => window.page.start());
    await page.evaluate(() => window.page.write('{"title": "Te'));
    await page.getByText('"title":"Te"').waitFor();
    await page.evaluate(() => window.page.fail('connection lost'));
    await page.getByText('"status":"failed"').waitFor();
    expect(await readDisplayed(page)).toEqual({ value: { title: 'Te' }, status: 'failed', error: 'connection lost' });
  });

  it('stops a silent source, and starts another', async () => {
    const page = await openPage();
    await page.evaluate(() => window.page.start());
    await page.evaluate(() => window.page.write('{"title": "Te'));
    await page.getByText('"title":"Te"').waitFor();
    await page.evaluate(() => window.page.stop());
    await page.getByText('"status":"idle"').waitFor();
    expect(await readDisplayed(page)).toEqual({ value: { title: 'Te' }, status: 'idle' });
    await page.evaluate(() => window.page.start());
    await page.evaluate(() => window.page.write('{"title": "Coffee"}'));
    await page.evaluate(() => window.page.end());
    await page.getByText('"status":"done"').waitFor();
    expect(await readDisplayed(page)).toEqual({ value: { title: 'Coffee' }, status: 'done', result: 'success' });
  });

  it('replaces a stream that is still being read', async () => {
    const page = await openPage();
    await page.evaluate(() => window.page.start());
    await page.evaluate(() => window.page.write('{"title": "Te'));
    await page.getByText('"title":"Te"').waitFor();
    await page.evaluate(() => window.page.start());
    await expect.poll(async () => page.evaluate(() => window.page.left)).toBe(1);
    expect(await readDisplayed(page)).toEqual({ status: 'streaming' });
    await page.evaluate(() => window.page.write('{"title": "Cof'));
    await page.getByText('"title":"Cof"').waitFor();
    expect(await readDisplayed(page)).toEqual({ value: { title: 'Cof' }, status: 'streaming' });
  });

  it('cancels the source when the component is unmounted', async () => {
    const page = await openPage();
    await page.evaluate(() => window.page.start());
    await page.evaluate(() => window.page.write('{"title": "Te'));
    await page.getByText('"title":"Te"').waitFor();
    await page.evaluate(() => window.page.unmount());
    await expect.poll(async () => page.evaluate(() => window.page.left)).toBe(1);
  });
});
