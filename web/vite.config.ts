import { defineConfig } from 'vite';

/** The console: built into `dist/web`, which `sluice serve` serves. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no inline scripts, and the polyfill is for browsers older than the target.
    modulePreload: { polyfill: false },
    // An inlined file would be a data: URL, which the policy forbids for scripts and fonts.
    assetsInlineLimit: 0,
  },
  // `npm run dev:web` shows changes immediately, with a separately started server.
  server: { proxy: { '/v1': 'http://127.0.0.1:7171', '/docs': 'http://127.0.0.1:7171' } },
});
