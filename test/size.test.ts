import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gzippedSize } from '../scripts/package/gzipped-size.js';
import { PROJECT } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

describe('npm run size', () => {
  it('measures what a browser would load', async () => {
    const folder = await makeFolder({
      'small.js': 'export const a = 1;',
      'large.js': `export const a = ${JSON.stringify(Array.from({ length: 5000 }, (_, index) => Math.sin(index)))};`,
    });
    expect(await gzippedSize(join(folder, 'small.js'))).toBeLessThan(100);
    expect(await gzippedSize(join(folder, 'large.js'))).toBeGreaterThan(15_000);
  });

  it('measures only what the names need', async () => {
    const entry = join(PROJECT, 'src/entries/json.ts');
    const alone = await gzippedSize(entry, ['parse']);
    expect(alone).toBeGreaterThan(1000);
    expect(alone).toBeLessThan(await gzippedSize(entry));
  });

  it('refuses a module that needs Node.js', async () => {
    const folder = await makeFolder({ 'a.js': `import { readFileSync } from 'node:fs'; readFileSync('x');` });
    await expect(gzippedSize(join(folder, 'a.js'))).rejects.toThrow('node:fs');
  });

  it.each(['json', 'json-schema', 'events'])('finds nothing of Node.js in sluice/%s', async (floor) => {
    expect(await gzippedSize(join(PROJECT, 'src', floor, 'index.ts'))).toBeGreaterThan(1000);
  });
});
