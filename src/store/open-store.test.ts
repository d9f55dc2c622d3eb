import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NOW } from './contract/fixtures/order-samples.js';
import { sampleSpec } from './contract/fixtures/run-samples.js';
import { catchCode, openSite } from './contract/fixtures/open-site.js';
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

  it.each(['memory:', 'sqlite::memory:'])('keeps the store of %j in memory, apart from every other', async (url) => {
    const [one, other] = [await openSite(url), await openSite(url)];
    await one.createRun({ id: 'a', spec: sampleSpec(), state: 'queued', now: NOW });
    expect(await one.findRun('a')).toMatchObject({ state: 'queued' });
    expect(await other.findRun('a')).toBeUndefined();
    expect(existsSync(':memory:')).toBe(false);
  });

  it('does not include a password in its error', async () => {
    await expect(openStore('mysql://user:secret@host/db')).rejects.toThrow(/^(?!.*secret)/s);
  });
});
