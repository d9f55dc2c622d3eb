import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findDeadLinks, findInPackage } from '../scripts/package/find-dead-links.js';
import { PROJECT } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

/** Pages that are generated or belong to other projects. */
const EXCLUDED_PAGES =
  /^(?:node_modules|dist|coverage|docs\/api|site\/generated|\.git|\.sluice)(?:\/|$)|\/(?:node_modules|fixtures)(?:\/|$)/;

function listPages(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (EXCLUDED_PAGES.test(path)) return [];
    if (entry.isDirectory()) return listPages(root, path);
    return path.endsWith('.md') ? [path] : [];
  });
}

/** Lists every broken link in a folder's pages. */
function findDeadLinksIn(root: string): string[] {
  const find = (path: string) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false });
    return found === undefined ? undefined : found.isFile() ? 'file' : 'folder';
  };
  return findDeadLinks({ root, pages: listPages(root), find });
}

describe('the links of all pages', () => {
  it('work', () => {
    expect(listPages(PROJECT).length).toBeGreaterThan(50);
    expect(findDeadLinksIn(PROJECT)).toEqual([]);
  });

  it('are checked one by one', async () => {
    const folder = await makeFolder({
      'README.md':
        '# A title, here\n\n[a](docs/a.md#a-part) [b](docs/b.md) [c](#a-title-here) [d](https://x.org) `[e](f)`\n',
      'docs/a.md': '## A part\n\n[up](../README.md#planted) [folder](../docs)\n',
    });
    expect(findDeadLinksIn(folder)).toEqual(['README.md → docs/b.md', 'docs/a.md → ../README.md#planted']);
  });

  it('are also checked against the files of a package', async () => {
    const folder = await makeFolder({ 'README.md': '[a](docs/a.md) [b](docs) [c](src/c.ts)', 'docs/a.md': 'a' });
    const files = ['README.md', 'docs/a.md'];
    expect(findDeadLinks({ root: folder, pages: ['README.md'], find: findInPackage(files) })).toEqual([
      'README.md → src/c.ts',
    ]);
  });
});
