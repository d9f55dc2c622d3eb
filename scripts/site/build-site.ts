import { existsSync, readdirSync, statSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { createOpenApi } from '../../src/server/api/index.js';
import { PROJECT, run } from '../run-tool.js';
import { createSidebars } from './navigation.js';
import { collectPages } from './site-pages.js';

const SITE = join(PROJECT, 'site');
const GENERATED = join(SITE, 'generated');
const VITEPRESS = join(SITE, 'node_modules/.bin/vitepress');

/** Uses the lock file without changing it; `npm ci` would refuse one without the binaries of every platform. */
const INSTALL = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];

/** Folders and files that pages refer to. */
const ASSETS = ['docs/pictures', 'docs/screenshots', 'bench/results.svg', 'web/icon.svg'];

/** URLs that have not been set yet, as in `scripts/release`. */
const PLACEHOLDER = /\bexample\.(?:org|com|net)\b/;

/** Stands for the base path in the built files: any path can replace it without another build. */
const ANY_BASE = '/SLUICE-SITE-BASE/';
const BUILT = join(PROJECT, 'node_modules/.cache/sluice/site');
const STAMP = join(BUILT, 'built-from.txt');
/** Everything that the site is built from. */
const SOURCES = ['README.md', 'README.zh-CN.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md', 'package.json'];
const SOURCE_FOLDERS = ['docs', 'src', 'web', 'bench', 'reference', 'scripts/site', 'site'];

/**
 * Builds the site for a base path into a folder. Installs its packages the first time, and generates the API reference if it
 * does not exist. Builds nothing again that has not changed.
 *
 * @example
 * await buildSite({ base: '/a/b/', folder: 'dist/site' })
 */
export async function buildSite({ base, folder }: Readonly<{ base: string; folder: string }>): Promise<void> {
  if (!existsSync(VITEPRESS)) await runOrThrow('npm', INSTALL, SITE);
  if (!existsSync(join(PROJECT, 'docs/api'))) await runOrThrow('npm', ['run', '--silent', 'reference'], PROJECT);
  const stamp = describeSources();
  if ((await readFile(STAMP, 'utf8').catch(() => '')) !== stamp) {
    await writePages();
    await runOrThrow(VITEPRESS, ['build', '.', '--base', ANY_BASE, '--outDir', BUILT], SITE);
    await writeFile(STAMP, stamp);
  }
  await rm(folder, { recursive: true, force: true });
  await cp(BUILT, folder, { recursive: true, filter: (path) => path !== STAMP });
  await setBase(folder, base);
  await writeServiceWorker(folder, base);
}

async function setBase(folder: string, base: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true })).filter((path) => /\.(?:html|js|css|json)$/.test(path));
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8');
    // A page's address is also the name of a class.
    const withClasses = text.replaceAll(ANY_BASE.replaceAll('/', '_'), base.replaceAll(/\/+/g, '_'));
    await writeFile(join(folder, file), withClasses.replaceAll(ANY_BASE, base));
  }
}

const BUILT_FROM_SOURCES = /[\\/](?:node_modules|generated|\.vitepress[\\/](?:\.temp|cache))[\\/]/;

/** Returns a hash of the names, sizes and times of all sources. */
function describeSources(): string {
  const hash = createHash('sha256');
  const inFolders = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  for (const path of [...SOURCES, ...inFolders.filter((name) => !BUILT_FROM_SOURCES.test(name)).toSorted()]) {
    const found = statSync(join(PROJECT, path));
    if (found.isFile()) hash.update(`${path}\0${found.size}\0${found.mtimeMs}\n`);
  }
  return hash.digest('hex');
}

async function writePages(): Promise<void> {
  const { version, repository } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as Manifest;
  const pages = collectPages(version);
  await rm(GENERATED, { recursive: true, force: true });
  for (const { path, text } of pages) await writeInto(join(GENERATED, path), text);
  const assets = join(GENERATED, 'public');
  for (const asset of ASSETS) await cp(join(PROJECT, asset), join(assets, asset), { recursive: true });
  await writeInto(join(assets, 'openapi.json'), `${JSON.stringify(createOpenApi(version), null, 2)}\n`);
  const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
  const settings = {
    version,
    repository: PLACEHOLDER.test(address) ? null : address,
    sidebars: createSidebars(pages),
  };
  await writeInto(join(GENERATED, 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`);
}

interface Manifest {
  readonly version: string;
  readonly repository: { readonly url: string };
}

/** Page scripts, the search index, fonts and pictures are cached when they are first used; the playground at once. */
const NOT_CACHED = /\.md\.|localSearchIndex|SearchBox|\.(?:woff2|png|svg)$/;

/** Writes the service worker, which lets the playground work offline, with the list of the files that it needs. */
async function writeServiceWorker(folder: string, base: string): Promise<void> {
  const assets = (await readdir(join(folder, 'assets'), { recursive: true })).map((name) => name.replaceAll('\\', '/'));
  const needed = assets.filter(
    (name) => /\.\w+$/.test(name) && (!NOT_CACHED.test(name) || name.startsWith('playground.md')),
  );
  const files = ['playground.html', 'vp-icons.css', ...needed.toSorted().map((name) => `assets/${name}`)].map(
    (name) => base + name,
  );
  const page = await readFile(join(folder, 'playground.html'));
  const name = createHash('sha256').update(page).update(files.join('\n')).digest('hex').slice(0, 16);
  const template = await readFile(join(SITE, 'service-worker.js'), 'utf8');
  const settings = JSON.stringify({ name, base, files });
  await writeFile(join(folder, 'service-worker.js'), template.replace("'SETTINGS'", settings));
}

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function runOrThrow(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { exitCode, stdout, stderr } = await run(program, args, cwd);
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
