import { describe, expect, it } from 'vitest';
import { makeSite } from '../../../test/postgres/fresh-database.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';

describe('events that many runs append concurrently', () => {
  it('are all stored, even when they are too large for one statement', async () => {
    const store = await openSite(await makeSite());
    const text = 'x'.repeat(1_000_000);
    const runs = Array.from({ length: 12 }, (_, index) => `run ${index}`);
    await Promise.all(
      runs.flatMap((run) => [store.append(run, [sampleFcmp(1, text)]), store.append(run, [sampleFcmp(2)])]),
    );
    for (const run of runs) {
      expect(await store.read({ runId: run, protocol: 'fcmp', limit: 10 })).toEqual([
        sampleFcmp(1, text),
        sampleFcmp(2),
      ]);
    }
  });

  it('are stored even if one of the run ids is invalid', async () => {
    const store = await openSite(await makeSite());
    const first = store.append('good', [sampleFcmp(1)]);
    // Rejected before it is written in one statement with other runs' events.
    const bad = store.append('bad\0', [sampleFcmp(1)]);
    expect(await catchCode(bad)).toBe('STORE_FAILED');
    await first;
    await store.append('good', [sampleFcmp(2)]);
    expect(await store.read({ runId: 'good', protocol: 'fcmp', limit: 10 })).toHaveLength(2);
  });
});
