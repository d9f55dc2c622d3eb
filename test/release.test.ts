import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRelease, findNotes } from '../scripts/release/check-release.js';
import { PROJECT } from '../scripts/run-tool.js';

describe('a release', () => {
  const ready = {
    version: '1.2.0',
    repository: 'https://forge.test/sluice.git',
    addresses: ['https://forge.test/sluice#readme'],
    branch: 'main',
    changes: [],
    tags: ['v1.1.0'],
    changelog: '# Changes\n\n## 1.2.0\n\n- More.\n\n## 1.1.0\n\n- First.\n',
  };

  it('may be published when all conditions are met', () => {
    expect(checkRelease(ready)).toEqual([]);
    expect(findNotes(ready.changelog, '1.2.0')).toBe('- More.');
  });

  it.each([
    ['a file is not committed', { changes: [' M a.ts'] }, 'not committed'],
    ['another branch is checked out', { branch: 'topic' }, 'from main'],
    ['the version is invalid', { version: 'next' }, 'is not a version'],
    ['the version was released', { tags: ['v1.2.0'] }, 'was released before'],
    ['the change log has no section for it', { changelog: '# Changes\n' }, 'has no section'],
    ['the change log has only a title', { changelog: '## 1.2.0\n\n## 1.1.0\n' }, 'is empty'],
    ['the repository is a placeholder', { repository: 'https://example.org/sluice.git' }, 'the placeholder'],
    ['an address is a placeholder', { addresses: ['https://example.org/sluice/issues'] }, 'the placeholder'],
    ['the repository is missing', { repository: undefined }, 'names no repository'],
  ])('may not when %s', (_, change, problem) => {
    expect(checkRelease({ ...ready, ...change }).join('\n')).toContain(problem);
  });
});

describe('the release workflow', () => {
  const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

  it('may sign the provenance that both packages ask for, and runs scripts that exist', () => {
    const workflow = read('.github/workflows/release.yml');
    const manifest = JSON.parse(read('package.json')) as { readonly scripts: object; readonly publishConfig: object };
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true });
    expect(workflow).toMatch(/^ {2}id-token: write /m);
    const scripts = [...workflow.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name ?? '');
    expect(scripts).toContain('release');
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(scripts));
  });
});
