import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureGzippedSize } from '../scripts/package/gzipped-size.js';
import { measureDependencies, measureImports } from '../scripts/package/measure-package.js';
import { ENTRY_LIMITS } from '../scripts/package/size-limits.js';
import { PROJECT } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

describe('npm run size', () => {
  it('measures the bytes that a browser loads', async () => {
    const folder = await makeFolder({
      'small.js': 'export const a = 1;',
      'large.js': `export const a = ${JSON.stringify(Array.from({ length: 5000 }, (_, index) => Math.sin(index)))};`,
    });
    expect(await measureGzippedSize(join(folder, 'small.js'))).toBeLessThan(100);
    expect(await measureGzippedSize(join(folder, 'large.js'))).toBeGreaterThan(15_000);
  });

  it('measures only the code that the given exports need', async () => {
    const entry = join(PROJECT, 'src/entries/json.ts');
    const withoutImports = await measureGzippedSize(entry, { names: ['parse'] });
    expect(withoutImports).toBeGreaterThan(1000);
    expect(withoutImports).toBeLessThan(await measureGzippedSize(entry));
  });

  it('refuses a module that needs Node.js', async () => {
    const folder = await makeFolder({ 'a.js': `import { readFileSync } from 'node:fs'; readFileSync('x');` });
    await expect(measureGzippedSize(join(folder, 'a.js'))).rejects.toThrow('node:fs');
    expect(await measureGzippedSize(join(folder, 'a.js'), { isForPages: false })).toBeGreaterThan(10);
  });

  it('has a limit for every entry of the package', () => {
    const { exports: entries } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, unknown>>;
    };
    const modules = Object.keys(entries).filter((path) => !path.endsWith('.json'));
    const limited = new Set(ENTRY_LIMITS.map(({ entry }) => (entry === 'index' ? '.' : `./${entry}`)));
    expect([...limited].toSorted()).toEqual(modules.toSorted());
  });

  it.each(ENTRY_LIMITS.filter(({ isForPages }) => isForPages))(
    'finds nothing of Node.js in sluice/$entry',
    async ({ entry, names, bytes }) => {
      const size = await measureGzippedSize(join(PROJECT, 'src/entries', `${entry}.ts`), { names });
      expect(size).toBeGreaterThan(500);
      expect(size).toBeLessThanOrEqual(bytes);
    },
  );

  it('counts installed packages, without development dependencies', async () => {
    const folder = await makeFolder({
      'package-lock.json': JSON.stringify({
        packages: { '': {}, 'node_modules/a': {}, 'node_modules/b': { dev: true }, 'node_modules/c': { peer: true } },
      }),
      'node_modules/a/index.js': 'x'.repeat(50_000),
      'node_modules/a/lib/more.js': 'x'.repeat(50_000),
      'node_modules/b/index.js': 'x'.repeat(100_000),
      'node_modules/c/index.js': 'x'.repeat(100_000),
    });
    const bytes = measureDependencies(folder);
    expect(bytes).toBeGreaterThanOrEqual(100_000);
    expect(bytes).toBeLessThan(120_000);
  });

  it('measures a slow import as more expensive', async () => {
    const folder = await makeFolder({
      'quick.mjs': 'export const a = 1;',
      'slow.mjs': 'const until = performance.now() + 400; while (performance.now() < until);',
    });
    const [quickModule = Infinity, slow = 0] = await measureImports([
      join(folder, 'quick.mjs'),
      join(folder, 'slow.mjs'),
    ]);
    expect(slow).toBeGreaterThan(quickModule);
  });
});
