import { describe, expect, it } from 'vitest';
import { checkRelease, findNotes } from '../scripts/release/check-release.js';

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
