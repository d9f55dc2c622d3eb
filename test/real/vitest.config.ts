import { defineConfig } from 'vitest/config';

/** The suite of the real programs has its own configuration: it needs them installed, and minutes. */
export default defineConfig({
  test: {
    include: ['test/real/*.real.ts'],
    // Programs spend half of their time waiting for the model.
    maxWorkers: 3,
    // A third-party program that failed to start on a busy machine is retried once; the report counts it.
    retry: 1,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
