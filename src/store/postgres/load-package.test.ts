import { describe, expect, it } from 'vitest';
import { catchCode } from '../contract/fixtures/open-site.js';
import { loadPackage } from './database.js';

describe('loadPackage', () => {
  it("returns the package's exports", async () => {
    const { default: pg } = await loadPackage('pg', () => import('pg'));
    expect(pg.Pool).toBeTypeOf('function');
  });

  it('reports a package that is not installed, and the alternative', async () => {
    const missing = 'a-missing-package';
    const loading = loadPackage(missing, () => import(missing));
    await expect(loading).rejects.toThrow(/the package "a-missing-package" is not installed.*sqlite:FILE/);
    expect(await catchCode(loading)).toBe('PACKAGE_MISSING');
  });
});
