import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    projects: [
      { test: { name: 'source', include: ['src/**/*.test.ts'], setupFiles: ['test/fixed-seed.ts'] } },
      {
        // Tests of the built product and of the gates start programs: they need `dist` and more time than a unit test.
        test: {
          name: 'product',
          include: ['test/**/*.test.ts'],
          exclude: ['test/fixtures/**'],
          globalSetup: ['test/build-product.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
