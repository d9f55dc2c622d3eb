import { describe, expect, it } from 'vitest';
import { findBundledPackages } from '../scripts/licences/bundled-packages.js';
import { checkLicences, isAllowed } from '../scripts/licences/check-licences.js';
import { readLock } from '../scripts/licences/read-lock.js';
import { renderNotices } from '../scripts/licences/render-notices.js';
import { keepShipped } from '../scripts/licences/shipped-bom.js';
import { makeFolder } from './temporary-folder.js';

const LOCK = JSON.stringify({
  packages: {
    '': { version: '1.0.0' },
    'node_modules/given': { version: '1.0.0', license: 'MIT' },
    'node_modules/given/node_modules/inner': { version: '2.0.0', license: 'ISC' },
    'node_modules/tool': { version: '1.0.0', license: 'MPL-2.0', dev: true },
    'node_modules/view': { version: '1.0.0', license: 'MIT', dev: true, dependencies: { signal: '^1' } },
    'node_modules/signal': { version: '1.0.0', license: 'GPL-3.0', dev: true },
  },
});

describe('licences', () => {
  it('of shipped packages include dependencies, and packages built into the console with their dependencies', () => {
    const shipped = (bundled: readonly string[]) =>
      readLock(LOCK, bundled).flatMap(({ name, isShipped }) => (isShipped ? [name] : []));
    expect(shipped([])).toEqual(['given', 'inner']);
    expect(shipped(['view'])).toEqual(['given', 'inner', 'view', 'signal']);
  });

  it('that are not on the list are reported, more strictly for distributed packages', () => {
    expect(checkLicences(readLock(LOCK, ['tool']))).toEqual([
      'tool@1.0.0 is under MPL-2.0, which is not on the list for users',
      'signal@1.0.0 is under GPL-3.0, which is not on the list for development',
    ]);
    const silent = '{"packages":{"node_modules/a":{"version":"1.0.0"}}}';
    expect(checkLicences(readLock(silent, []))).toEqual(['a@1.0.0 declares no licence']);
    const known = '{"packages":{"node_modules/only":{"version":"0.0.2","dev":true}}}';
    expect(checkLicences(readLock(known, []))).toEqual([]);
    expect(checkLicences(readLock(known, ['only']))).toHaveLength(1);
  });

  it.each([
    ['MIT', true],
    ['GPL-3.0', false],
    ['(MIT OR GPL-3.0)', true],
    ['MIT AND GPL-3.0', false],
    ['(GPL-3.0 OR (MIT AND ISC))', true],
    ['(GPL-3.0 AND (MIT OR ISC)) OR GPL-2.0', false],
    ['', false],
  ])('%s is allowed: %s', (expression, allowed) => {
    expect(isAllowed(expression, ['MIT', 'ISC'])).toBe(allowed);
  });

  it('are included in full', () => {
    const page = renderNotices([{ name: 'a', version: '1.0.0', licence: 'MIT', text: 'Copyright A\r\n' }]);
    expect(page).toContain('| a | 1.0.0 | MIT |');
    expect(page).toContain('## a\n\n```\nCopyright A\n```');
  });
});

describe('the bill of materials', () => {
  it('lists shipped packages, under the name of the package', () => {
    const component = (ref: string) => ({ 'bom-ref': ref, scope: 'optional' });
    const bill = {
      metadata: { component: { 'bom-ref': 'sluice@1.0.0', name: 'folder' } },
      components: [component('a@1.0.0'), component('b@1.0.0')],
      dependencies: [
        { ref: 'sluice@1.0.0', dependsOn: ['a@1.0.0', 'b@1.0.0'] },
        { ref: 'b@1.0.0', dependsOn: [] },
      ],
    };
    expect(keepShipped(bill, new Set(['a@1.0.0']), 'sluice')).toEqual({
      metadata: { component: { 'bom-ref': 'sluice@1.0.0', name: 'sluice' } },
      components: [{ 'bom-ref': 'a@1.0.0', scope: 'required' }],
      dependencies: [{ ref: 'sluice@1.0.0', dependsOn: ['a@1.0.0'] }],
    });
  });
});

describe('the packages inside the console', () => {
  it('are the packages that its sources import, in any import form', async () => {
    const folder = await makeFolder({
      'main.tsx': `import { h } from 'preact';\nimport 'uplot/dist/uPlot.min.css';\nexport { signal } from '@preact/signals';`,
      'pages/late.ts': `import { a } from './a.js';\nexport const load = async () => import('late');`,
      'pages/late.test.ts': `import { expect } from 'vitest';`,
      'pages/fixtures/planted.ts': `import 'planted';`,
      'vite.config.ts': `import preset from 'preset';`,
    });
    expect(await findBundledPackages(folder)).toEqual(['@preact/signals', 'late', 'preact', 'uplot']);
  });
});
