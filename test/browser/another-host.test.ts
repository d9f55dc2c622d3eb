import { describe, expect, it, onTestFinished } from 'vitest';
import type { Page } from 'playwright-core';
import { openS3Server } from '../../src/runs/archive/fixtures/open-s3-server.js';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { openForReading } from '../../src/base/files/index.js';
import { packRunFolder, getPackedRunPath } from '../../src/runs/run-folder/index.js';
import { findViolations } from './check-accessibility.js';
import { command, session } from './codex-lines.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { startSite } from './start-site.js';
import { useConsole } from './use-console.js';

/** A server without a worker; leases are short, so a lost worker is noticed soon. */
const WITHOUT_WORKER = { args: ['--no-worker'] };
const LEASE = { lease_s: 1 };

const app = useConsole(async () => undefined, LEASE, WITHOUT_WORKER);

const STARTED = command('item_1', 'npm test', '')[0] ?? '';
const MESSAGES = Array.from({ length: 12 }, (_, index) => codex.message(`Message ${index}.`, `item_${index}`));

/** Finds the page's message about bytes that it cannot show. */
const findProblem = (page: Page) => page.getByText('The files of the run are not on this host');

describe('a worker that is killed', () => {
  it('ends its run on the page, which shows what happened and what to do, and nothing as still running', async () => {
    const { site } = app;
    const worker = await site.startWorker();
    const live = await site.startRun({
      prompt: 'Watch the build.',
      prints: [codex.thread(), codex.turn, codex.message('The build has begun.'), STARTED],
      isLive: true,
    });
    const { page } = await app.open(`/runs/${live.id}`, { mayFail: /404/ });
    const head = page.locator('.run-facts');
    const connection = page.getByRole('status', { name: 'Connection' });
    const tool = page.locator('.item.tool .item-head');
    await tool.getByText('running').waitFor();
    await head.getByText('running').waitFor();
    await expect.poll(async () => connection.innerText()).toBe('Live');
    await worker.kill();
    const failure = page.getByRole('region', { name: 'Failure' });
    await failure.getByText('WORKER_GONE').waitFor();
    await expect
      .poll(async () => failure.innerText())
      .toMatch(/worker that executed this run is gone[\s\S]*What to do:.*Then run again/);
    await head.getByText('Failed', { exact: true }).waitFor();
    await tool.getByText('not finished').waitFor();
    await expect.poll(async () => connection.innerText()).toBe('Complete');
    await expect.poll(async () => page.getByText(/^(?:Running|Live|Writing …)$/).count()).toBe(0);
    await expect.poll(async () => page.getByRole('button', { name: 'Run again' }).count()).toBe(1);
    await page.goto('/runs');
    await page.getByRole('row').filter({ hasText: 'Watch the build.' }).getByText('failed').waitFor();
  });
});

describe('raw bytes on another host', () => {
  it('are reported as missing once per pane, not in every row', async () => {
    const { site } = app;
    const worker = await site.startWorker();
    const run = await site.runToEnd({ prints: session(...MESSAGES) });
    const { page } = await app.open(`/runs/${run.id}`, { mayFail: /404/ });
    const rows = page.locator('.raw-row');
    await page.getByRole('tab', { name: /^Raw/ }).click();
    await findProblem(page).waitFor();
    await waitUntilLoaded(page);
    await expect.poll(async () => rows.count()).toBeGreaterThan(3);
    await expect.poll(async () => findProblem(page).count()).toBe(1);
    expect(new Set(await rows.locator('.raw-text').allInnerTexts())).toEqual(new Set(['Not available']));
    await expect.poll(async () => page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
    // The events are in the store, so they are shown.
    await page.getByText('Message 0.').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await worker.kill();
  });

  it('are fetched from the archive once it has them, without a click', async () => {
    const s3 = await openS3Server();
    const archive = await s3.open({ address: 's3://runs/team' });
    const env = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
    const address = `s3://runs/team?endpoint=${s3.endpoint}`;
    const site = await startSite(
      { ...LEASE, archive: address, packing: { enabled: false } },
      { ...WITHOUT_WORKER, env },
    );
    onTestFinished(async () => site.stop());
    const worker = await site.startWorker();
    const run = await site.runToEnd({ prints: session(...MESSAGES) });
    const { page } = await app.open(`/runs/${run.id}`, { url: site.url, isSignedOut: true, mayFail: /404/ });
    await page.getByRole('tab', { name: /^Raw/ }).click();
    await findProblem(page).waitFor();
    await packRunFolder(worker.data, run.id);
    const file = await openForReading(getPackedRunPath(worker.data, run.id));
    if (file === undefined) throw new Error('nothing was packed');
    await archive.upload(run.id, file);
    await file.close();
    const raw = page.locator('.raw-row .raw-text');
    await raw.filter({ hasText: '"text":"Message 0."' }).first().waitFor({ timeout: 45_000 });
    await expect.poll(async () => findProblem(page).count()).toBe(0);
    await expect.poll(async () => raw.filter({ hasText: 'not available' }).count()).toBe(0);
  });
});
