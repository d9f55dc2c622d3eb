import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';

/** A set of pages, and the files and folders they may link to. */
export interface LinkedPages {
  /** The folder of the pages. */
  readonly root: string;
  /** The pages, relative to the root. */
  readonly pages: readonly string[];
  /** Resolves a path relative to the root. */
  readonly find: (path: string) => 'file' | 'folder' | undefined;
}

/**
 * Lists every relative link whose target or anchor does not exist.
 *
 * @example
 * findDeadLinks({ root, pages: ['README.md'], find }) // ['README.md → docs/gone.md']
 */
export function findDeadLinks({ root, pages, find }: LinkedPages): string[] {
  return pages.flatMap((path) => {
    const page = readFileSync(join(root, path), 'utf8');
    const links = [...removeCode(page).matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)];
    return links.flatMap(([, link = '']) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/, '');
      const found = find(target);
      if (found === undefined) return [`${path} → ${link}`];
      if (anchor === undefined || found === 'folder') return [];
      return listAnchors(readFileSync(join(root, target), 'utf8')).includes(anchor) ? [] : [`${path} → ${link}`];
    });
  });
}

/** Resolves a path among the files of a package. */
export function findInPackage(files: readonly string[]): LinkedPages['find'] {
  const names = new Set(files);
  return (path) =>
    names.has(path) ? 'file' : files.some((file) => file.startsWith(`${path}/`)) ? 'folder' : undefined;
}

/** Removes a page's code, where brackets are not links. */
const removeCode = (page: string) => page.replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, '');

/** Lists the anchors of a page: ids, and headings as forges name them; a repeated heading gets a number. */
function listAnchors(page: string): string[] {
  const seen = new Map<string, number>();
  const ids = [...page.matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id);
  const headings = [...page.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => {
    const name = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
  return [...ids, ...headings];
}
