import { dirname, join, normalize } from 'node:path/posix';

/** Where the pages of the repository are on the site. */
export interface Places {
  /** The path on the site of each page of the repository that is there. */
  readonly pages: ReadonlyMap<string, string>;
  /** The page of each section of `docs/errors.md`, by its anchor. */
  readonly sections: ReadonlyMap<string, string>;
}

const IMAGE = /\.(?:svg|png)$/;

/**
 * Rewrites the relative links of a page of the repository for the site. A link to a file that is not on the site gets the
 * scheme `repository:`, which the site resolves if the address of the repository is known.
 *
 * @example
 * rewriteLinks('[a](../errors.md#runs)', 'docs/guides/a.md', places) // '[a](/errors/runs.md#runs)'
 */
export function rewriteLinks(text: string, source: string, places: Places): string {
  // Brackets in code are not links.
  const pattern = /(^```[^]*?^```$|`[^`\n]*`)|\]\((?!\w+:|#)([^)\s]*)\)/gm;
  return text.replaceAll(pattern, (whole: string, code: string | undefined, link: string | undefined) =>
    code !== undefined || link === undefined ? whole : `](${resolveLink(link, source, places)})`,
  );
}

function resolveLink(link: string, source: string, { pages, sections }: Places): string {
  const [file = '', anchor] = link.split('#');
  const target = normalize(join(dirname(source), file)).replace(/\/$/, '');
  if (IMAGE.test(target)) return `/${target}`;
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (target === 'docs/errors.md') return `/${sections.get(anchor ?? '') ?? 'errors/index.md'}${hash}`;
  if (target === 'docs/decisions') return '/decisions/index.md';
  const path = pages.get(target) ?? pages.get(`${target}/README.md`);
  return path === undefined ? `repository:${target}${hash}` : `/${path}${hash}`;
}

/** Names a heading as forges do. */
export function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
