import { defineConfig } from 'vitest/config';

/** The real-agent suite has its own configuration: it needs the agents installed and takes minutes. */
export default defineConfig({
  test: {
    include: ['test/real/*.real.ts'],
    // Agents spend half of their time waiting for the model.
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
