import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { SHORT_NAMES } from '../build/short-names.js';

/** The entry that consists of `src/base` and `src/json` only: in other entries the same names can be public. */
const JSON_ENTRY = 'src/entries/json.ts';

interface SizeOptions {
  /** Measures only what an import of these names loads. */
  readonly names?: readonly string[] | undefined;
  /** Whether to bundle for a web page, with the packages it needs; throws if it needs Node.js. True by default. */
  readonly isForPages?: boolean;
}

/** Packages that the users of an entry already have. */
const HOST_PACKAGES = ['react', '@langchain/core', '@langchain/core/*'];

/** Measures a module with its imports, minified and gzipped, in bytes. Names inside `src/json` are shortened as in the build. */
export async function measureGzippedSize(
  entry: string,
  { names, isForPages = true }: SizeOptions = {},
): Promise<number> {
  const { outputFiles } = await build({
    ...(names === undefined
      ? { entryPoints: [entry] }
      : { stdin: { contents: `export { ${names.join(', ')} } from ${JSON.stringify(entry)}`, resolveDir: '.' } }),
    ...(isForPages ? { platform: 'browser', external: HOST_PACKAGES } : { platform: 'node', packages: 'external' }),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    ...(entry.endsWith(JSON_ENTRY) ? SHORT_NAMES : {}),
    write: false,
    logLevel: 'silent',
  });
  return outputFiles.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}
