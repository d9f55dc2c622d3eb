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

/** Counts every test. Files that could not be loaded and errors outside tests count as failed. */
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

/**
 * Lists the tests that were not run, for example because this host has no sandbox: file and title. Empty if there are
 * too many, as with a filter.
 */
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

/** Lists the tests that failed first and passed when repeated: either the test or the tested code has a bug. */
export function listUnstable(modules: Iterable<RepeatedModule>): readonly string[] {
  return [...modules].flatMap((module) =>
    [...module.children.allTests('passed')]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map((test) => `${module.relativeModuleId}: ${test.fullName} (${describeFailure(test)})`),
  );
}

/** Describes why a test failed before it passed: the first line of its error, and where it was thrown. */
function describeFailure(test: RepeatedTest): string {
  const [error] = test.result().errors ?? [];
  const frame = error?.stacks?.[0];
  const line = error?.message.split('\n', 1)[0] ?? 'no error';
  return frame === undefined ? line : `${line} at line ${frame.line}`;
}

interface RepeatedTest {
  readonly fullName: string;
  diagnostic(): { readonly flaky: boolean } | undefined;
  result(): {
    readonly errors?:
      | readonly { readonly message: string; readonly stacks?: readonly { readonly line: number }[] }[]
      | undefined;
  };
}

interface RepeatedModule {
  readonly relativeModuleId: string;
  readonly children: {
    allTests(state: 'passed'): Iterable<RepeatedTest>;
  };
}

/** Checks that nothing failed. A run without tests has not passed. */
export function hasPassed({ passed, failed }: Totals): boolean {
  return failed === 0 && passed > 0;
}

/** The last line of the test command. */
export function renderTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
