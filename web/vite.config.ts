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
    // The page's content security policy forbids inline scripts, and only browsers older than the target need the
    // polyfill.
    modulePreload: { polyfill: false },
    // Inlined files become data: URLs, which the policy forbids for scripts and fonts.
    assetsInlineLimit: 0,
  },
  // `npm run dev:web` hot-reloads changes and needs a separately started server.
  server: { proxy: { '/v1': 'http://127.0.0.1:7171', '/docs': 'http://127.0.0.1:7171' } },
});
