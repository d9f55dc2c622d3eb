import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Bytes of a module bundled for a browser, minified and gzipped; rejects when the bundle would need Node.js. */
export async function gzippedSize(entry: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}
