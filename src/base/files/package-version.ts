import { createRequire } from 'node:module';

/** The version of this package. */
export const VERSION = readVersion();

function readVersion(): string {
  // This path is correct in both `src/base/files` and `dist/base/files`.
  const manifest: unknown = createRequire(import.meta.url)('../../../package.json');
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
