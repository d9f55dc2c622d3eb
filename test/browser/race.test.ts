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

const DIFFERENT = 'acme/shop#32';

/** Runs a race in which each worker writes this line and fails: neither wins, and a user chooses. */
async function runRace(site: Site, repository: string, issueRef: string, line: string) {
  await site.client.submitOrder({
    body: {
      issue_ref: issueRef,
      role: 'dev',
      repo_dir: repository,
      worker: 'scripted',
      race: 2,
      isolation: 'worktree',
      instructions: JSON.stringify({ result: {}, exit: 3, writes: { 'list.ts': line } }),
    },
  });
  return until('the race needs a human decision', async () => {
    const { items } = await site.client.listInbox({ query: { issue_ref: issueRef } });
    return items.length === 2 ? items : undefined;
  });
}

const app = useConsole(async (site) => {
  const repository = await createRepository(site);
  await runRace(site, repository, DIFFERENT, 'export const sorted = "<b>RUN_ID</b>";\n');
  return runRace(site, repository, ISSUE, 'export const sorted = "<b>yes</b>";\n');
});

describe('a race without a winner', () => {
  it('shows all candidates, each with its decision and its change, and the difference between two', async () => {
    const { page } = await app.open(`/issues/${encodeURIComponent(DIFFERENT)}`);
    const region = page.getByRole('region', { name: 'Changes in this race, side by side' });
    const runs = region.locator('.race-run');
    await expect.poll(async () => runs.count()).toBe(2);
    await expect.poll(async () => runs.locator('.diff-line.added').count()).toBe(2);
    const difference = region.getByRole('region', { name: 'Difference between two candidates' });
    const [first = '', second = ''] = await region
      .getByRole('region', { name: 'Candidates' })
      .locator('tbody strong')
      .allInnerTexts();
    await expect.poll(async () => difference.locator('.diff-line.removed').innerText()).toContain(`<b>${first}</b>`);
    await expect.poll(async () => difference.locator('.diff-line.added').innerText()).toContain(`<b>${second}</b>`);
    await difference.getByLabel('Second candidate').selectOption(first);
    await difference.getByText('Both leave the same files.').waitFor();
    const boxes = await Promise.all((await runs.all()).map(async (run) => run.boundingBox()));
    expect(boxes[0]?.y).toBe(boxes[1]?.y);
    expect(boxes[1]?.x ?? 0).toBeGreaterThan((boxes[0]?.x ?? 0) + (boxes[0]?.width ?? 0) - 1);
    expect(await findViolations(page)).toEqual([]);
  });

  it('recognizes equal changes, and shows them once', async () => {
    const { page } = await app.open(`/inbox/${app.seeds[0]?.id ?? ''}`);
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Compare the runs’ changes' }).click();
    await page.waitForURL(`**/issues/${encodeURIComponent(ISSUE)}`);
    const race = page.getByRole('region', { name: 'Changes in this race, side by side' });
    await expect.poll(async () => race.locator('.race-run').count()).toBe(2);
    const rows = race.getByRole('region', { name: 'Candidates' }).locator('tbody tr');
    await expect.poll(async () => rows.nth(0).innerText()).toMatch(/Needs a decision[^]*1 file/);
    const first = await rows.nth(0).locator('strong').innerText();
    await expect.poll(async () => rows.nth(1).innerText()).toContain(`Same as ${first}`);
    await race.getByText(`The same change as ${first}.`).waitFor();
    await expect
      .poll(async () => race.locator('.diff-line.added').allInnerTexts())
      .toEqual([expect.stringContaining('export const sorted = "<b>yes</b>";')]);
    expect(await findViolations(page)).toEqual([]);
  });

  it('is decided by accepting one of its results, which wins', async () => {
    const { page } = await app.open(`/issues/${encodeURIComponent(ISSUE)}`);
    await waitUntilLoaded(page);
    await page.getByRole('link', { name: 'Decide on this result' }).first().click();
    await page.waitForURL('**/inbox/*');
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByLabel('Reason', { exact: true }).fill('It is the smaller one.');
    await page.getByRole('button', { name: 'Accept and comment' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('region', { name: 'Pending actions' }).waitFor({ state: 'detached' });
    await page.goto(new URL(`/issues/${encodeURIComponent(ISSUE)}`, page.url()).href);
    const race = page.getByRole('region', { name: 'Changes in this race, side by side' });
    await race.getByText('Winner', { exact: true }).waitFor();
    await expect.poll(async () => race.locator('tbody tr').filter({ hasText: 'Winner' }).count()).toBe(1);
    await page.getByRole('link', { name: 'Show the decision' }).first().waitFor();
    await expect.poll(async () => page.getByRole('link', { name: 'Decide on this result' }).count()).toBe(0);
  });
});
