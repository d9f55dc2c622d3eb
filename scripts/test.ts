/**
 * The test command: `npm test [-- FILTER… | OPTIONS]`. Runs vitest and ends with the line `N passed, N failed`, also
 * when the runner itself could not start.
 */
import { parseCLI, startVitest } from 'vitest/node';
import { countTests, hasPassed, renderTotals, type Totals } from './test-totals.js';

// Whoever runs the tests may also use Sluice: a test must not find their database, their folder or their tokens.
delete process.env['SLUICE_CONFIG'];
delete process.env['SLUICE_DATA'];
delete process.env['SLUICE_DATABASE'];
delete process.env['SLUICE_TOKENS'];

async function runTests(): Promise<Totals> {
  const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
  // A snapshot that is not there yet is a failure unless the caller asks to write it, here as in CI.
  const vitest = await startVitest('test', filter, { update: 'none', allowOnly: false, ...options, watch: false });
  const totals = countTests(vitest.state.getTestModules(), vitest.state.getUnhandledErrors().length);
  await vitest.close();
  // A set-up that failed or a filter that found nothing is no test, but it is a failure.
  const isSilentFailure = totals.failed === 0 && process.exitCode !== undefined && process.exitCode !== 0;
  return isSilentFailure ? { ...totals, failed: 1 } : totals;
}

let totals: Totals;
try {
  totals = await runTests();
} catch (error) {
  console.error(error);
  totals = { passed: 0, failed: 1, skipped: 0 };
}
process.exitCode = hasPassed(totals) ? 0 : 1;
process.stdout.write(`${renderTotals(totals)}\n`);
