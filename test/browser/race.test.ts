import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findViolations } from './check-accessibility.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { until } from './start-site.js';
import type { Site } from './start-site.js';
import { useConsole } from './use-console.js';

const ISSUE = 'acme/shop#31';

/** Creates a repository with one commit, whose files the runs of the race change. */
async function createRepository(site: Site): Promise<string> {
  const folder = join(site.work, 'raced');
  await mkdir(folder);
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org'];
    execFileSync('git', ['-C', folder, ...identity, ...args], { stdio: 'ignore' });
  };
  git('init', '--initial-branch=main');
  await writeFile(join(folder, 'list.ts'), 'export const sorted = false;\n');
  git('add', '.');
  git('commit', '-m', 'Begin');
  return folder;
}

const app = useConsole(async (site) => {
  const repository = await createRepository(site);
  await site.client.submitOrder({
    body: {
      issue_ref: ISSUE,
      role: 'dev',
      repo_dir: repository,
      worker: 'scripted',
      race: 2,
      isolation: 'worktree',
      // Results whose worker failed: neither wins, and a user chooses.
      instructions: JSON.stringify({
        result: {},
        exit: 3,
        writes: { 'list.ts': 'export const sorted = "<b>yes</b>";\n' },
      }),
    },
  });
  return until('the race needs a human decision', async () => {
    const { items } = await site.client.listInbox({ query: { issue_ref: ISSUE } });
    return items.length === 2 ? items : undefined;
  });
});

describe('a race without a winner', () => {
  it('is compared side by side: each run with its decision and its change', async () => {
    const { page } = await app.open(`/inbox/${app.seeds[0]?.id ?? ''}`);
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Compare the runs’ changes' }).click();
    await page.waitForURL(`**/issues/${encodeURIComponent(ISSUE)}`);
    const race = page.getByRole('region', { name: 'Changes in this race, side by side' });
    const runs = race.locator('.race-run');
    await expect.poll(async () => runs.count()).toBe(2);
    for (const run of await runs.all()) {
      await run.locator('.diff-line.added').waitFor();
      await expect.poll(async () => run.innerText()).toMatch(/Needs a decision/);
      await expect
        .poll(async () => run.locator('.diff-line.added').innerText())
        .toContain('export const sorted = "<b>yes</b>";');
    }
    const boxes = await Promise.all((await runs.all()).map(async (run) => run.boundingBox()));
    expect(boxes[0]?.y).toBe(boxes[1]?.y);
    expect(boxes[1]?.x ?? 0).toBeGreaterThan((boxes[0]?.x ?? 0) + (boxes[0]?.width ?? 0) - 1);
    expect(await findViolations(page)).toEqual([]);
  });

  it('is decided by accepting one of its results, which wins', async () => {
    const { page } = await app.open(`/issues/${encodeURIComponent(ISSUE)}`);
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Decide on this result' }).first().click();
    await page.waitForURL('**/inbox/*');
    await page.getByRole('radio', { name: /^Accept/ }).check();
    await page.getByLabel('Reason', { exact: true }).fill('It is the smaller one.');
    await page.getByText('Exactly as it will be delivered.').waitFor();
    await page.locator('form.decide button[type=submit]').click();
    await page.getByRole('dialog').getByRole('button', { name: /^Yes/ }).click();
    await page.getByLabel('Settled').waitFor();
    await page.goto(new URL(`/issues/${encodeURIComponent(ISSUE)}`, page.url()).href);
    const race = page.getByRole('region', { name: 'Changes in this race, side by side' });
    await race.getByText('Winner', { exact: true }).waitFor();
    await expect.poll(async () => race.locator('.race-run').filter({ hasText: 'winner' }).count()).toBe(1);
    await page.getByRole('link', { name: 'Show the decision' }).first().waitFor();
    await expect.poll(async () => page.getByRole('link', { name: 'Decide on this result' }).count()).toBe(0);
  });
});
