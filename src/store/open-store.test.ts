import { describe, expect, it } from 'vitest';
import { catchCode } from './contract/fixtures/open-site.js';
import { openStore } from './open-store.js';

describe('openStore', () => {
  it.each(['', 'sqlite:', 'sqlite', 'mysql://host/db', '/some/file.db', 'memory:more', 'postgres:db'])(
    'rejects the URL %j',
    async (url) => {
      expect(await catchCode(openStore(url))).toBe('INVALID_STORE_URL');
    },
  );

  it.each([0, 1, 1.5, 1001, Number.NaN])('rejects a pool of %j connections', async (pool) => {
    expect(await catchCode(openStore('memory:', { pool }))).toBe('INVALID_OPTION');
  });

  it('does not include a password in its error', async () => {
    await expect(openStore('mysql://user:secret@host/db')).rejects.toThrow(/^(?!.*secret)/s);
  });
});
