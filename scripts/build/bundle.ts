import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { SHORT_NAMES } from './short-names.js';

/**
 * Bundles the parser into one file, with short names for its internal properties. Its modules stay in import order,
 * which compresses best; bundling them with other rooms would change the order.
 */
export async function bundleParser(dist: string): Promise<void> {
  const file = join(dist, 'json/index.js');
  await build({
    entryPoints: [file],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    external: [join(dist, 'base/index.js')],
    // Inlines imported numbers, which a user's bundler cannot do within one file.
    minifySyntax: true,
    ...SHORT_NAMES,
    allowOverwrite: true,
    logLevel: 'error',
  });
}

/** Bundles `dist` files as ES modules; shared code goes into separate files. */
export async function bundleModules(
  dist: string,
  files: readonly string[],
  outdir: string,
  options: BuildOptions = {},
): Promise<void> {
  await build({
    ...options,
    entryPoints: [...files],
    outbase: dist,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    packages: 'external',
    chunkNames: 'shared/[name]-[hash]',
    allowOverwrite: true,
    logLevel: 'error',
  });
}

/** Bundles the packages that a file re-exports into the file itself, so users need not install them. */
export async function bundlePackages(file: string): Promise<void> {
  await build({
    entryPoints: [file],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    allowOverwrite: true,
    logLevel: 'error',
  });
}

/** `import.meta` does not exist in CommonJS; only Node.js needs the URL, to find optional packages. */
const MODULE_URL =
  "const moduleUrl = typeof __filename === 'string' ? require('url').pathToFileURL(__filename).href : '';";

/** Writes a CommonJS copy, `.cjs`, next to each bundled ES module of a folder. The copies require each other. */
export async function convertToCommonJs(folder: string): Promise<void> {
  const otherFiles: Plugin = {
    name: 'other files',
    setup(bundler) {
      bundler.onResolve({ filter: /^\./ }, ({ path }) => ({ path: path.replace(/js$/, 'cjs'), external: true }));
    },
  };
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join(folder, name);
    const needsUrl = readFileSync(file, 'utf8').includes('import.meta.url');
    await build({
      ...COMMON_JS,
      minifyWhitespace: true,
      entryPoints: [file],
      outfile: file.replace(/js$/, 'cjs'),
      banner: { js: needsUrl ? MODULE_URL : '' },
      plugins: [otherFiles],
    });
  }
}

const COMMON_JS = {
  bundle: true,
  format: 'cjs',
  platform: 'neutral',
  mainFields: ['main'],
  target: 'es2022',
  packages: 'external',
  define: { 'import.meta.url': 'moduleUrl' },
  logLevel: 'error',
} satisfies BuildOptions;

/** Bundles `dist` files as CommonJS. Each is a separate module and requires the others, so no code is duplicated. */
export async function bundleCommonJs(dist: string, files: readonly string[], outdir: string): Promise<void> {
  const keptFiles = new Set(files);
  for (const file of files) {
    const outfile = join(outdir, relative(dist, file));
    const otherFiles: Plugin = {
      name: 'other files',
      setup(bundler) {
        bundler.onResolve({ filter: /^\./ }, ({ path, importer }) => {
          const target = resolve(dirname(importer), path);
          if (importer === '' || target === file || !keptFiles.has(target)) return undefined;
          const from = relative(dirname(file), target);
          return { path: from.startsWith('.') ? from : `./${from}`, external: true };
        });
      },
    };
    await build({
      ...COMMON_JS,
      entryPoints: [file],
      outfile,
      banner: { js: file.includes('json-schema') || file.includes('json/schema') ? MODULE_URL : '' },
      plugins: [otherFiles],
    });
  }
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
}
