import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { SHORT_NAMES } from '../build/short-names.js';

/** The entry that is made of `src/base` and `src/json` alone: in others the same names may be public. */
const JSON_ENTRY = 'src/entries/json.ts';

/**
 * Bytes of a module bundled for a browser, minified and gzipped; rejects when the bundle would need Node.js. `names`: only
 * what a page loads that imports these. Names inside of `src/json` are as short as the build makes them.
 */
export async function gzippedSize(entry: string, names?: readonly string[]): Promise<number> {
  const { outputFiles } = await build({
    ...(names === undefined
      ? { entryPoints: [entry] }
      : { stdin: { contents: `export { ${names.join(', ')} } from ${JSON.stringify(entry)}`, resolveDir: '.' } }),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    ...(entry.endsWith(JSON_ENTRY) ? SHORT_NAMES : {}),
    write: false,
    logLevel: 'silent',
  });
  return outputFiles.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}
