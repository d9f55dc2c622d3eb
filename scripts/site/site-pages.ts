import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { createOpenApi } from '../../src/server/api/index.js';
import { PROJECT } from '../run-tool.js';
import { placeCodes, renderErrorPages } from './error-pages.js';
import { renderHttpPages } from './http-pages.js';
import { rewriteLinks, type Places } from './rewrite-links.js';

/** A page of the site. */
export interface SitePage {
  /** Its path on the site, with the extension `.md`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** Pages of the repository that have another name on the site, and the folders whose pages are on it. */
const NAMED_PAGES: Readonly<Record<string, string>> = {
  'README.md': 'start.md',
  'README.zh-CN.md': 'zh/start.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security.md',
  'CONTRIBUTING.md': 'contributing.md',
  'bench/RESULTS.md': 'benchmarks.md',
  'docs/api/README.md': 'api/index.md',
  'docs/guides/README.md': 'guides/index.md',
  'web/README.md': 'rooms/web.md',
  'reference/README.md': 'rooms/reference.md',
};

/** Too long for readers, and only useful next to the tests that it names. */
const EXCLUDED = new Set(['docs/requirements.md', 'docs/errors.md']);

/** Chooses where a page of the repository is on the site; undefined if it is not there. */
export function placePage(source: string): string | undefined {
  const named = NAMED_PAGES[source];
  if (named !== undefined) return named;
  if (EXCLUDED.has(source)) return undefined;
  const api = /^docs\/api\/entries\/([\w-]+\.md)$/.exec(source)?.[1];
  if (api !== undefined) return `api/${api}`;
  const room = /^src\/([\w/-]+)\/README\.md$/.exec(source)?.[1];
  if (room !== undefined) return room.includes('fixtures') ? undefined : `rooms/${room.replaceAll('/', '-')}.md`;
  const zh = /^docs\/zh\/([\w-]+\.md)$/.exec(source)?.[1];
  if (zh !== undefined) return zh === 'README.md' ? 'zh/guides/index.md' : `zh/guides/${zh}`;
  return /^docs\/((?:(?:guides|decisions)\/)?[\w-]+\.md)$/.exec(source)?.[1];
}

/** Reads all pages: those of the repository with their links rewritten, and the generated ones. */
export function collectPages(version: string): SitePage[] {
  const sources = listSources();
  const errors = readSource('docs/errors.md');
  const places: Places = {
    pages: new Map(sources.flatMap((source) => pair(source, placePage(source)))),
    sections: placeCodes(errors),
  };
  const rewritten = sources.flatMap((source) => {
    const path = places.pages.get(source);
    return path === undefined ? [] : [createPage(path, rewriteLinks(readSource(source), source, places))];
  });
  return [
    ...rewritten.map(renameEntries),
    createPage('decisions/index.md', listDecisions(rewritten)),
    createPage('rooms/index.md', listRooms(rewritten)),
    ...renderErrorPages(rewriteLinks(errors, 'docs/errors.md', places)).map(([path, text]) => createPage(path, text)),
    ...renderHttpPages(createOpenApi(version)).map(([path, text]) => createPage(path, text)),
    ...listPages('site/pages').map((path) => createPage(path, readSource(join('site/pages', path)))),
  ];
}

function createPage(path: string, text: string): SitePage {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? /^title: (.+)$/m.exec(text)?.[1] ?? path;
  return { path, title: title.replaceAll(/[`\\]/g, ''), text };
}

/** Typedoc names an entry after its file; a reader knows the name to import. */
function renameEntries(page: SitePage): SitePage {
  if (!page.path.startsWith('api/')) return page;
  const text = page.text.replaceAll(/\bentries\/([\w-]+)(?!\.md)/g, 'sluice/$1');
  return createPage(page.path, text);
}

function listDecisions(pages: readonly SitePage[]): string {
  const rows = pages
    .filter(({ path }) => path.startsWith('decisions/'))
    .toSorted((one, other) => other.path.localeCompare(one.path))
    .map(
      ({ path, title }) =>
        `| ${path.slice('decisions/'.length, 'decisions/2026-11-15'.length)} | [${title}](/${path}) |`,
    );
  return [
    '# Decisions',
    '',
    'The reasons for each dependency, format and API.',
    '',
    '| date | decision |',
    '| --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function listRooms(pages: readonly SitePage[]): string {
  const rows = pages.filter(({ path }) => path.startsWith('rooms/')).map(({ path, title }) => `- [${title}](/${path})`);
  return [
    '# Rooms',
    '',
    'The source code by folder. [The architecture](/architecture.md) shows which may import which.',
    '',
    ...rows,
    '',
  ].join('\n');
}

function pair(source: string, path: string | undefined): readonly (readonly [string, string])[] {
  return path === undefined ? [] : [[source, path]];
}

function listSources(): string[] {
  const folders = ['docs', 'src', 'bench', 'web', 'reference'];
  const top = readdirSync(PROJECT).filter((name) => name.endsWith('.md'));
  return [...top, ...folders.flatMap((folder) => listPages(folder).map((path) => join(folder, path)))];
}

/** Lists the pages below a folder, in a fixed order. */
function listPages(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md') && !path.includes('node_modules/'))
    .toSorted();
}

function readSource(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}
