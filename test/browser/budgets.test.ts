import { expect, it } from 'vitest';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { findViolations } from './check-accessibility.js';
import { findColored } from './find-colored.js';
import { session } from './codex-lines.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { until } from './start-site.js';
import { useConsole } from './use-console.js';

/** The first run uses more than the daily budget, the second one waits for it. */
const app = useConsole(
  async (site) => {
    await site.runToEnd({ prompt: 'Use it up.', prints: session(codex.message('Done.')) });
    const { id } = await site.startRun({ prompt: 'Wait for it.', prints: session(codex.message('Done.')) });
    await until('the run waits for the budget', async () => {
      const { waiting_for } = await site.client.getRun({ id });
      return waiting_for?.reason === 'budget' ? waiting_for : undefined;
    });
    return id;
  },
  { budgets: { day: { tokens: 1000 }, issue: { cost: 5 }, callers: { '*': { tokens: 9000 } } } },
);

it('a run that waits for a budget is marked in the list and on its page, and the budget shows its usage', async () => {
  const { page } = await app.open('/runs');
  const row = page.getByRole('row').filter({ hasText: 'Wait for it.' });
  await row.getByText(/Waiting for the daily budget, which resets at \d/).waitFor();
  await row.getByRole('link', { name: 'Wait for it.' }).click();
  await page.locator('.run-facts').getByText('Waiting for the daily budget').waitFor();
  await page.goto('/budgets');
  const budgets = page.getByRole('region', { name: 'Budgets' });
  await budgets.getByText('of 1.0k').waitFor();
  await budgets.getByText('Exceeded').waitFor();
  await budgets.getByRole('link', { name: app.seeds }).waitFor();
  await waitUntilLoaded(page);
  expect(await findViolations(page)).toEqual([]);
  // No person is needed, so nothing is amber.
  expect(await findColored(page, '--warn', '--warn-soft')).toEqual([]);
  // A budget that nothing has used yet is listed too, and so is a token that is not.
  for (const name of ['Each issue', /^Token /]) await budgets.getByRole('heading', { name }).waitFor();
  await page.goto('/now');
  await page
    .getByRole('region', { name: 'Budgets' })
    .getByText(/^Today/)
    .waitFor();
  await page
    .getByRole('region', { name: 'Budgets' })
    .getByText(/^\d{3,} %: exceeded$/)
    .waitFor();
  expect(await findColored(page, '--warn', '--warn-soft')).toEqual([]);
});
