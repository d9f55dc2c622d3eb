import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { PROJECT } from '../../scripts/run-tool.js';

const source = readFile(join(PROJECT, 'node_modules/axe-core/axe.min.js'), 'utf8');

/** Lists the violations that axe finds on a page, with all rules or some: one line for each element, with the fix. */
export async function findViolations(page: Page, rules?: string[]): Promise<readonly string[]> {
  // Injected once per page, through the debugger: the page's content security policy allows no other script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await source);
  const { violations } = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
    return axe.run({ resultTypes: ['violations'], ...(runOnly === undefined ? {} : { runOnly }) });
  }, rules);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  );
}
