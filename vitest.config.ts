import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ByProject } from './test/by-project.js';

/**
 * Scripted agents record their input next to the working folder, which a sandbox would prevent, so only tests of the sandbox
 * turn it on. The tests of the product use the default, as a user would.
 */
const UNSANDBOXED = { env: { SLUICE_SANDBOX: 'off' } };

/** The settings that all projects share. */
const SHARED = {
  // Our modules keep no state between tests, so files can share a process, which halves the time.
  isolate: false,
  setupFiles: ['test/fixed-seed.ts', 'test/own-home.ts'],
  // Long enough for a slow or busy machine: only a test that hangs reaches it.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Randomized tests, and those that kill, race or attack: `npm run torture` runs their long form, with `--short` this one. */
const CAMPAIGNS = '**/*.campaign.test.ts';

/** Tests of single modules that start agents, git or other programs many times. */
const PROCESSES = '**/*.process.test.ts';

/** The console's main paths; the other tests in the browser are in the project `console`. */
const MAIN_PATHS = ['sign-in', 'workbench', 'one-run', 'inbox'].map((name) => `test/browser/${name}.test.ts`);

/** A project whose tests share one real PostgreSQL, which is started only if one of them runs. */
const POSTGRES = { ...SHARED, ...UNSANDBOXED, globalSetup: ['test/postgres/global-setup.ts'] };

/** A project whose tests start programs that need `dist`. */
const PRODUCT = { ...SHARED, globalSetup: ['test/build-product.ts', 'test/install-bubblewrap.ts'] };

/** The console in a real browser, which all files share; each file has its own server. */
const BROWSER = { ...SHARED, ...UNSANDBOXED, globalSetup: ['test/browser/global-setup.ts'] };

/** `npm test` runs only the projects in `scripts/test.ts`; `.ci/run` runs all of them. */
const PROJECTS = [
  {
    ...SHARED,
    ...UNSANDBOXED,
    name: 'source',
    include: ['src/**/*.test.ts', 'web/**/*.test.ts'],
    exclude: ['src/store/postgres/**', CAMPAIGNS, PROCESSES],
  },
  {
    ...POSTGRES,
    name: 'postgres',
    include: ['src/store/postgres/**/*.test.ts', 'test/postgres/**/*.test.ts'],
    exclude: [CAMPAIGNS],
  },
  { ...PRODUCT, name: 'smoke', include: ['test/smoke.test.ts'] },
  { ...BROWSER, name: 'browser', include: MAIN_PATHS },
  {
    ...SHARED,
    ...UNSANDBOXED,
    name: 'processes',
    include: [`src/${PROCESSES}`],
    globalSetup: ['test/install-bubblewrap.ts', 'test/install-podman.ts'],
  },
  {
    ...PRODUCT,
    globalSetup: [...PRODUCT.globalSetup, 'test/install-podman.ts'],
    name: 'product',
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/smoke.test.ts',
      'test/fixtures/**',
      'test/postgres/**',
      'test/real/**',
      'test/browser/**',
      'test/kubernetes/**',
      'test/package-matrix/**',
      'test/site/**',
      'test/deploy/**',
    ],
  },
  {
    ...SHARED,
    name: 'deploy',
    include: ['test/deploy/**/*.test.ts'],
    globalSetup: ['test/build-product.ts', 'test/deploy/install-deploy-tools.ts'],
  },
  // Without the programs of a control plane in `KUBEBUILDER_ASSETS`, its tests are listed as not run.
  {
    ...SHARED,
    ...UNSANDBOXED,
    name: 'kubernetes',
    include: ['test/kubernetes/**/*.test.ts'],
    // The cluster itself waits up to half a minute before it tries something again.
    testTimeout: 300_000,
    expect: { poll: { timeout: 180_000 } },
    globalSetup: ['test/build-product.ts', 'test/kubernetes/global-setup.ts'],
  },
  { ...SHARED, name: 'site', include: ['test/site/**/*.test.ts'], globalSetup: ['test/site/global-setup.ts'] },
  { ...BROWSER, name: 'console', include: ['test/browser/**/*.test.ts'], exclude: MAIN_PATHS },
  {
    ...SHARED,
    ...UNSANDBOXED,
    name: 'campaigns',
    include: [`src/${CAMPAIGNS}`],
    exclude: ['src/store/postgres/**'],
    globalSetup: ['test/install-bubblewrap.ts', 'test/install-podman.ts'],
  },
  {
    ...POSTGRES,
    name: 'campaigns-postgres',
    include: [`src/store/postgres/${CAMPAIGNS}`, `test/postgres/${CAMPAIGNS}`],
  },
];

export default defineConfig({
  test: {
    // Two more than there are cores: many tests wait for a program, a database, a browser or a time limit.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: ByProject },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    projects: PROJECTS.map((test) => ({ test })),
  },
});
