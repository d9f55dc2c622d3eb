import { describe, expect, it } from 'vitest';
import { codeOf } from '../contract/fixtures/open-site.js';
import { loadPackage } from './load-package.js';

describe('loadPackage', () => {
  it('gives what the package exports', async () => {
    const { default: pg } = await loadPackage('pg', () => import('pg'));
    expect(pg.Pool).toBeTypeOf('function');
  });

  it('names a package that is not installed, and what else can be done', async () => {
    const missing = 'a-package-nobody-has';
    const loading = loadPackage(missing, () => import(missing));
    await expect(loading).rejects.toThrow(/needs the package a-package-nobody-has.*sqlite:FILE/);
    expect(await codeOf(loading)).toBe('PACKAGE_MISSING');
  });
});
