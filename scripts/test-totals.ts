/** The counts of a test run. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The part of the test runner's report that counting needs. */
export interface ReportedModule {
  readonly relativeModuleId: string;
  readonly children: { allTests(state?: 'skipped'): Iterable<ReportedTest> };
  errors(): readonly unknown[];
}

interface ReportedTest {
  readonly fullName: string;
  result(): { readonly state: string };
  diagnostic(): { readonly retryCount: number } | undefined;
}

/** Counts every test. Repeated tests, files that could not be loaded and errors outside tests count as failed. */
export function countTests(modules: Iterable<ReportedModule>, strayErrors: number): Totals {
  let passed = 0;
  let failed = strayErrors;
  let skipped = 0;
  for (const module of modules) {
    failed += module.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed' && !wasRepeated(test)) passed += 1;
      else if (state === 'skipped') skipped += 1;
      else failed += 1;
    }
  }
  return { passed, failed, skipped };
}

/**
 * Lists the tests that were not run, for example because this host has no sandbox: file and title. Empty if there are
 * too many, as with a filter.
 */
export function listSkipped(modules: Iterable<ReportedModule>): readonly string[] {
  const names = [...modules].flatMap((module) =>
    [...module.children.allTests('skipped')].map(({ fullName }) => `${module.relativeModuleId}: ${fullName}`),
  );
  return names.length > MAX_SKIPPED ? [] : names;
}

const MAX_SKIPPED = 100;

/** Lists the tests that failed and were repeated; they count as failed, because either the test or the tested code has a bug. */
export function listRepeated(modules: Iterable<ReportedModule>): readonly string[] {
  return [...modules].flatMap((module) =>
    [...module.children.allTests()]
      .filter(wasRepeated)
      .map(({ fullName }) => `${module.relativeModuleId}: ${fullName}`),
  );
}

function wasRepeated(test: ReportedTest): boolean {
  return (test.diagnostic()?.retryCount ?? 0) > 0;
}

/** Checks that nothing failed. A run without tests has not passed; one whose tests this host cannot run has, and lists them. */
export function hasPassed({ passed, failed, skipped }: Totals): boolean {
  return failed === 0 && passed + skipped > 0;
}

/** The last line of the test command. */
export function renderTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
