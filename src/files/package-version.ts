import { createRequire } from 'node:module';

/** The version of this package. */
export const VERSION = readVersion();

function readVersion(): string {
  // The same distance from `src/runs` and from `dist/runs`.
  const manifest: unknown = createRequire(import.meta.url)('../../package.json');
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
