/** The counts of a test run. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The part of the test runner's report that counting needs. */
export interface ReportedModule {
  readonly children: { allTests(): Iterable<{ result(): { readonly state: string } }> };
  errors(): readonly unknown[];
}

/**
 * Counts every test, and as failed also what is not a test: a file that could not be loaded and an error outside all tests.
 */
export function countTests(modules: Iterable<ReportedModule>, strayErrors: number): Totals {
  let passed = 0;
  let failed = strayErrors;
  let skipped = 0;
  for (const module of modules) {
    failed += module.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed += 1;
      else if (state === 'skipped') skipped += 1;
      else failed += 1;
    }
  }
  return { passed, failed, skipped };
}

/** The tests that were not run, for example because this machine has no sandboxes: file and title. Filters leave out too many to list. */
export function listSkipped(modules: Iterable<NamedModule>): readonly string[] {
  const names = [...modules].flatMap((module) =>
    [...module.children.allTests('skipped')].map(({ fullName }) => `${module.relativeModuleId}: ${fullName}`),
  );
  return names.length > MAX_SKIPPED ? [] : names;
}

const MAX_SKIPPED = 100;

interface NamedModule {
  readonly relativeModuleId: string;
  readonly children: { allTests(state: 'skipped'): Iterable<{ readonly fullName: string }> };
}

/** The tests that failed once and passed when they were repeated: each is a fault of the test or, worse, of what it tests. */
export function listUnstable(modules: Iterable<RepeatedModule>): readonly string[] {
  return [...modules].flatMap((module) =>
    [...module.children.allTests('passed')]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map(({ fullName }) => `${module.relativeModuleId}: ${fullName}`),
  );
}

interface RepeatedModule {
  readonly relativeModuleId: string;
  readonly children: {
    allTests(state: 'passed'): Iterable<{
      readonly fullName: string;
      diagnostic(): { readonly flaky: boolean } | undefined;
    }>;
  };
}

/** A run that tested nothing has not passed. */
export function hasPassed({ passed, failed }: Totals): boolean {
  return failed === 0 && passed > 0;
}

/** The last line of the test command. */
export function renderTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
