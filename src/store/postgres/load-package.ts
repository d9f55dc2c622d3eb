import { StoreError } from '../store-error.js';

/**
 * Loads a package that only this store needs, so users of other stores need not install it.
 *
 * @example
 * const { Pool } = (await loadPackage('pg', () => import('pg'))).default
 */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new StoreError(
      'PACKAGE_MISSING',
      `Cannot open the PostgreSQL store: the package "${name}" is not installed. Run "npm install ${name}", or use a SQLite file (sqlite:FILE).`,
      { cause },
    );
  }
}
