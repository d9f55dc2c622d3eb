import { describe, expect, it } from 'vitest';
import { makeSite } from '../../../test/postgres/fresh-database.js';
import { codeOf, openSite } from '../contract/fixtures/open-site.js';
import { fcmpOf } from '../contract/fixtures/run-samples.js';

describe('events that many runs append at once', () => {
  it('are all there, also when they are too large for one statement', async () => {
    const store = await openSite(await makeSite());
    const text = 'x'.repeat(1_000_000);
    const runs = Array.from({ length: 12 }, (_, index) => `run ${index}`);
    await Promise.all(runs.flatMap((run) => [store.append(run, [fcmpOf(1, text)]), store.append(run, [fcmpOf(2)])]));
    for (const run of runs) {
      expect(await store.read({ runId: run, protocol: 'fcmp', limit: 10 })).toEqual([fcmpOf(1, text), fcmpOf(2)]);
    }
  });

  it('fail together with what they were written with, and nobody else', async () => {
    const store = await openSite(await makeSite());
    const first = store.append('good', [fcmpOf(1)]);
    // PostgreSQL takes no NUL in a name; the first statement is on its way already.
    const bad = store.append('bad\0', [fcmpOf(1)]);
    expect(await codeOf(bad)).toBe('STORE_FAILED');
    await first;
    await store.append('good', [fcmpOf(2)]);
    expect(await store.read({ runId: 'good', protocol: 'fcmp', limit: 10 })).toHaveLength(2);
  });
});
