import { createVitest } from 'vitest/node';
import type { FoundTest } from './check-requirements.js';

/**
 * Asks the test runner which tests files hold, under the names they run under, without running them. Reading the source
 * instead would miss the tests that suites and tables make.
 */
export async function collectTests(files: readonly string[]): Promise<FoundTest[]> {
  const vitest = await createVitest('test', { watch: false });
  // Nothing is run, so nothing has to be built or started before.
  for (const { config } of vitest.projects) config.globalSetup = [];
  try {
    const { testModules } = await vitest.collect([...files]);
    return testModules.flatMap(({ relativeModuleId, children }) =>
      [...children.allTests()].map(({ fullName, options }) => ({
        file: relativeModuleId,
        name: fullName,
        isRun: options.mode === 'run' || options.mode === 'only',
      })),
    );
  } finally {
    await vitest.close();
  }
}
