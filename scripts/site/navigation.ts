import type { SitePage } from './site-pages.js';

/** An entry of the side bar. */
export type SidebarItem =
  | { readonly text: string; readonly link: string }
  | { readonly text: string; readonly collapsed?: boolean; readonly items: readonly SidebarItem[] };

/** The side bars, by the start of the paths that they belong to. */
export type Sidebars = Readonly<Record<string, readonly SidebarItem[]>>;

/** Creates the side bars. Guides are in the order of their list; pages without a fixed place are listed at the end. */
export function createSidebars(pages: readonly SitePage[]): Sidebars {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const link = (path: string): SidebarItem[] => {
    const page = byPath.get(path);
    return page === undefined ? [] : [{ text: page.title, link: `/${path.replace(/(?:index)?\.md$/, '')}` }];
  };
  const group = (text: string, paths: readonly string[]): SidebarItem => ({ text, items: paths.flatMap(link) });
  const below = (folder: string): string[] =>
    pages.map(({ path }) => path).filter((path) => path.startsWith(folder) && path !== `${folder}index.md`);
  const guides = (folder: string): string[] => {
    const listed = [...(byPath.get(`${folder}index.md`)?.text.matchAll(/\]\(\/([\w/-]+\.md)\)/g) ?? [])];
    const paths = listed.map(([, path = '']) => path).filter((path) => path.startsWith(folder));
    return [`${folder}index.md`, ...new Set([...paths, ...below(folder)])];
  };
  const section = (title: string, folder: string): readonly SidebarItem[] => [
    group(title, [`${folder}index.md`, ...below(folder)]),
  ];
  const reference = [
    'configuration.md',
    'api/index.md',
    'http/index.md',
    'server.md',
    'errors/index.md',
    'glossary.md',
  ];
  const project = [
    'changelog.md',
    'security.md',
    'contributing.md',
    'architecture.md',
    'decisions/index.md',
    'rooms/index.md',
  ];
  const placed = new Set([...reference, ...project, 'start.md', 'index.md', 'playground.md']);
  const other = pages.map(({ path }) => path).filter((path) => !path.includes('/') && !placed.has(path));
  return {
    '/zh/': [{ text: '开始', items: [{ text: '快速开始', link: '/zh/start' }] }, group('指南', guides('zh/guides/'))],
    '/api/': section('API reference', 'api/'),
    '/http/': section('HTTP reference', 'http/'),
    '/errors/': section('Error codes', 'errors/'),
    '/decisions/': section('Decisions', 'decisions/'),
    '/rooms/': section('Rooms', 'rooms/'),
    '/': [
      { text: 'Start', items: [{ text: 'Get started', link: '/start' }] },
      group('Guides', guides('guides/')),
      group('Reference', reference),
      group('Operations', other),
      group('Project', project),
    ],
  };
}
