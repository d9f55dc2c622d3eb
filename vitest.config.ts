import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ByProject } from './test/by-project.js';

/**
 * Scripted agents record their input next to the working folder, which a sandbox would prevent, so only tests of the sandbox
 * turn it on. The tests of the product use the default, as a user would.
 */
const UNSANDBOXED = { env: { SLUICE_SANDBOX: 'off' } };

/** What all projects have in common. */
const SHARED = {
  // Our modules keep no state between tests, so files can share a process, which halves the time.
  isolate: false,
  setupFiles: ['test/fixed-seed.ts', 'test/own-home.ts'],
  // Long enough for a slow or busy machine: only a test that hangs reaches it.
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
        // These tests share one real PostgreSQL, which is started only if one of them runs.
        test: {
          ...SHARED,
          ...UNSANDBOXED,
          name: 'postgres',
          include: ['src/store/postgres/**/*.test.ts', 'test/postgres/**/*.test.ts'],
          globalSetup: ['test/postgres/global-setup.ts'],
        },
      },
      {
        // Tests of the built product and of the gates start programs that need `dist`.
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
        // The console in a real browser, which all files share; each file has its own server.
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
