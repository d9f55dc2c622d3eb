import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT, run } from '../scripts/run-tool.js';
import { BUNDLED_PRODUCT } from './bundle-program.js';

/** Multiple projects need the build; their setups share a process, but not their modules. */
const BUILT = Symbol.for('sluice.tests.built');

/** The inputs of the build, and its outputs. */
const SOURCES = [
  'src',
  'web',
  'scripts/build',
  'scripts/build.ts',
  'package-lock.json',
  'package.json',
  'tools/types',
  'tsconfig.build.json',
  'tsconfig.json',
];
const DIST = join(PROJECT, 'dist');
const BUNDLE = join(DIST, 'bundled-command');
/** Records which sources `dist` was built from. */
const STAMP = join(BUNDLE, 'built-from.txt');
/** Built by other commands. */
const OTHER_BUILDS = [BUNDLE, join(DIST, 'site')];

/** Builds `dist` before the tests that use it, unless it is up to date. */
export async function setup(): Promise<void> {
  const previousBuild: unknown = Reflect.get(globalThis, BUILT);
  const building = previousBuild instanceof Promise ? previousBuild : buildProduct();
  Reflect.set(globalThis, BUILT, building);
  await building;
}

/** When started as a script (`npm run build:changed`), builds what the commands, the tests and the gates share. */
if (process.argv[1]?.endsWith('build-product.ts') === true) {
  if (!isCurrent()) process.stderr.write('Building; this takes about half a minute.\n');
  await setup();
}

async function buildProduct(): Promise<void> {
  if (isCurrent()) return;
  // All of it: a file whose source was deleted must not be packed.
  rmSync(DIST, { recursive: true, force: true });
  const { exitCode, stdout, stderr } = await run('npm', ['run', '--silent', 'build'], PROJECT);
  if (exitCode !== 0) throw new Error(`The build failed.\n${stdout}${stderr}`);
  const stamp = describeBuild();
  await build({ ...BUNDLED_PRODUCT, entryPoints: [join(DIST, 'cli/main.js')], splitting: true, outdir: BUNDLE });
  mkdirSync(BUNDLE, { recursive: true });
  writeFileSync(STAMP, stamp);
}

function isCurrent(): boolean {
  try {
    return readFileSync(STAMP, 'utf8') === describeBuild();
  } catch {
    return false;
  }
}

/** Returns a hash of the sources and the build. */
function describeBuild(): string {
  const hash = createHash('sha256');
  for (const path of [...SOURCES.map((name) => join(PROJECT, name)), DIST]) {
    for (const file of listFiles(path)) {
      const { size, mtimeMs } = statSync(file);
      hash.update(`${file}\0${size}\0${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

/** Lists all files below a path in a fixed order, without those of other builds. */
function listFiles(path: string): string[] {
  if (OTHER_BUILDS.includes(path) || !statSync(path).isDirectory()) return OTHER_BUILDS.includes(path) ? [] : [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => listFiles(join(path, name)));
}
