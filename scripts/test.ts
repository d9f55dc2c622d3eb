/**
 * The test command: `npm test [-- FILTER… | OPTIONS]`. Runs the everyday projects, or with a filter the matching files
 * of all projects, and ends with the line `N passed, N failed`, even when the runner itself could not start. A failed test is never repeated: a race that is rare here is common elsewhere.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCLI, startVitest } from 'vitest/node';
import { countTests, hasPassed, listRepeated, listSkipped, renderTotals, type Totals } from './test-totals.js';

/** The projects to run before every commit; `.ci/run` runs the others too, under the names in `package.json`. */
const EVERYDAY = ['source', 'postgres', 'smoke', 'browser'];

/** Variables that tests themselves read. */
const TEST_SETTINGS = ['SLUICE_CHROMIUM'];

/** Variables that would make tests use the developer's own data, or the repository of a git hook that runs them. */
const DEVELOPER_SETTINGS = /^(?:SLUICE|GIT|XDG)_/;

// The developer might use Sluice, Git and the agents: tests must not see their settings.
for (const name of Object.keys(process.env)) {
  if (DEVELOPER_SETTINGS.test(name) && !TEST_SETTINGS.includes(name)) Reflect.deleteProperty(process.env, name);
}
const home = mkdtempSync(join(tmpdir(), 'sluice-home-'));
process.env['HOME'] = home;
process.env['USERPROFILE'] = home;

async function runTests(): Promise<Totals> {
  const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
  const filters = filter.map(completeFolder);
  // A missing snapshot is a failure unless the caller passes -u, as in CI.
  const defaults = { update: 'none', allowOnly: false } as const;
  const isEveryday = filters.length === 0 && options.project === undefined && options.root === undefined;
  const vitest = await startVitest('test', filters, {
    ...defaults,
    ...options,
    ...(isEveryday ? { project: EVERYDAY } : {}),
    watch: false,
    retry: 0,
  });
  const modules = vitest.state.getTestModules();
  const totals = countTests(modules, vitest.state.getUnhandledErrors().length);
  for (const name of listSkipped(modules)) process.stdout.write(`not run: ${name}\n`);
  for (const name of listRepeated(modules)) process.stdout.write(`repeated, so it counts as failed: ${name}\n`);
  await vitest.close();
  // A failed setup or a filter without matches is not a test, but it is a failure.
  const isSilentFailure = totals.failed === 0 && process.exitCode !== undefined && process.exitCode !== 0;
  return isSilentFailure ? { ...totals, failed: 1 } : totals;
}

/** Adds a slash to a folder's path: without it `src/json` would also match `src/json-more`. */
function completeFolder(filter: string): string {
  const isFolder = statSync(filter, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && !filter.endsWith('/') ? `${filter}/` : filter;
}

let totals: Totals;
try {
  totals = await runTests();
} catch (error) {
  console.error(error);
  totals = { passed: 0, failed: 1, skipped: 0 };
}
rmSync(home, { recursive: true, force: true, maxRetries: 5 });
const exitCode = hasPassed(totals) ? 0 : 1;
// Not by itself: a setup that failed might have left a browser, which would keep this process running.
process.stdout.write(`${renderTotals(totals)}\n`, () => process.exit(exitCode));
