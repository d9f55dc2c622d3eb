import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './test/slow-first.js';

export default defineConfig({
  test: {
    // The default leaves one core to nobody, which is half of a small machine.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: SlowFirst },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    projects: [
      {
        test: {
          name: 'source',
          include: ['src/**/*.test.ts', 'web/**/*.test.ts'],
          exclude: ['src/store/postgres/**'],
          // No module of ours keeps state, so files may share a process, which halves the time.
          isolate: false,
          setupFiles: ['test/fixed-seed.ts'],
          // A slow or busy machine is no failure: this only ends what hangs.
          testTimeout: 60_000,
        },
      },
      {
        // These share one real PostgreSQL, which is started only when one of them is to run.
        test: {
          name: 'postgres',
          include: ['src/store/postgres/**/*.test.ts', 'test/postgres/**/*.test.ts'],
          setupFiles: ['test/fixed-seed.ts'],
          globalSetup: ['test/postgres/global-setup.ts'],
          testTimeout: 60_000,
        },
      },
      {
        // Tests of the built product and of the gates start programs: they need `dist` and more time than a unit test.
        test: {
          name: 'product',
          include: ['test/**/*.test.ts'],
          exclude: ['test/fixtures/**', 'test/postgres/**', 'test/real/**', 'test/browser/**'],
          globalSetup: ['test/build-product.ts'],
          testTimeout: 60_000,
        },
      },
      {
        // The console in a real browser, which these share; each file has a server of its own.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          isolate: false,
          setupFiles: ['test/fixed-seed.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 60_000,
        },
      },
    ],
  },
});
