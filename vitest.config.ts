import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ByProject } from './test/by-project.js';

/**
 * Played agents write down what they were given beside the working folder, where a sandbox would not let them: only the tests
 * that ask for one have it. The tests of the product run as a user would.
 */
const UNSANDBOXED = { env: { SLUICE_SANDBOX: 'off' } };

/** What all projects have in common. */
const SHARED = {
  // No module of ours keeps state between tests, so files may share a process, which halves the time.
  isolate: false,
  setupFiles: ['test/fixed-seed.ts', 'test/own-home.ts'],
  // A slow or busy machine is no failure: this only ends what hangs.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 15_000 } },
};

export default defineConfig({
  test: {
    // Two more than there are cores: many tests wait for a program, a database, a browser or a time limit.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: ByProject },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    projects: [
      {
        test: {
          ...SHARED,
          ...UNSANDBOXED,
          name: 'source',
          include: ['src/**/*.test.ts', 'web/**/*.test.ts'],
          exclude: ['src/store/postgres/**'],
          globalSetup: ['test/install-bubblewrap.ts'],
        },
      },
      {
        // These share one real PostgreSQL, which is started only when one of them is to run.
        test: {
          ...SHARED,
          ...UNSANDBOXED,
          name: 'postgres',
          include: ['src/store/postgres/**/*.test.ts', 'test/postgres/**/*.test.ts'],
          globalSetup: ['test/postgres/global-setup.ts'],
        },
      },
      {
        // Tests of the built product and of the gates start programs; they need `dist`.
        test: {
          ...SHARED,
          name: 'product',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/fixtures/**',
            'test/postgres/**',
            'test/real/**',
            'test/browser/**',
            'test/package-matrix/**',
          ],
          globalSetup: ['test/build-product.ts', 'test/install-bubblewrap.ts'],
        },
      },
      {
        // The console in a real browser, which these share; each file has a server of its own.
        test: {
          ...SHARED,
          ...UNSANDBOXED,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
        },
      },
    ],
  },
});
