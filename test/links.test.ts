import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

/** Pages that are made or belong to others. */
const FOREIGN = /^(?:node_modules|dist|coverage|docs\/api|\.git|\.sluice)(?:\/|$)|\/(?:node_modules|fixtures)(?:\/|$)/;

function listPages(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (FOREIGN.test(path)) return [];
    if (entry.isDirectory()) return listPages(root, path);
    return path.endsWith('.md') ? [path] : [];
  });
}

/** A page without its code, in which brackets mean something else. */
const readProse = (page: string) => page.replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, '');

/** The names under which forges link to the headings of a page. */
function listAnchors(page: string): string[] {
  return [...page.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

/** Every link of the pages of a folder that leads nowhere. */
function findDeadLinks(root: string): string[] {
  return listPages(root).flatMap((path) => {
    const links = [...readProse(readFileSync(join(root, path), 'utf8')).matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)];
    return links.flatMap(([, link = '']) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? join(root, path) : join(root, dirname(path), file);
      if (!existsSync(target)) return [`${path} → ${link}`];
      if (anchor === undefined || !statSync(target).isFile()) return [];
      return listAnchors(readFileSync(target, 'utf8')).includes(anchor) ? [] : [`${path} → ${link}`];
    });
  });
}

describe('the links of all pages', () => {
  it('lead somewhere', () => {
    expect(listPages(PROJECT).length).toBeGreaterThan(50);
    expect(findDeadLinks(PROJECT)).toEqual([]);
  });

  it('are looked at one by one', async () => {
    const folder = await makeFolder({
      'README.md':
        '# A title, here\n\n[a](docs/a.md#a-part) [b](docs/b.md) [c](#a-title-here) [d](https://x.org) `[e](f)`\n',
      'docs/a.md': '## A part\n\n[up](../README.md#planted) [folder](../docs)\n',
    });
    expect(findDeadLinks(folder)).toEqual(['README.md → docs/b.md', 'docs/a.md → ../README.md#planted']);
  });
});
