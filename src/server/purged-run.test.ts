import { expect, it } from 'vitest';
import { createRetention } from '../orders/dispatch/retention/start-retention.js';
import { sampleFcmp, createRunResult, sampleSpec } from '../store/contract/fixtures/run-samples.js';
import { readJson, openServer } from './fixtures/open-server.js';

it('a run whose events were deleted is still listed, and its readers get a gap event', async () => {
  const { store, data, get } = await openServer();
  await store.createRun({ id: 'r', spec: sampleSpec(), state: 'running', workerId: 'w', leaseMs: 1000, now: 0 });
  await store.append(
    'r',
    [1, 2, 3].map((seq) => sampleFcmp(seq)),
  );
  await store.endRun({ id: 'r', workerId: 'w', result: createRunResult(), now: 1 });
  expect(await (await get('/v1/runs/r/events')).text()).not.toContain('event: gap');

  const retention = createRetention({ store, data, settings: { runsMs: 1000 } });
  expect(await retention.sweepStore()).toMatchObject({ runs: 1 });
  const text = await (await get('/v1/runs/r/events')).text();
  expect(text).toContain('event: gap\n');
  expect(text).toContain('event: end\n');
  expect(text.indexOf('event: gap')).toBeLessThan(text.indexOf('event: end'));
  expect(await readJson(get('/v1/runs/r'))).toMatchObject({ state: 'ended', result: { status: 'success' } });
  expect(await readJson(get('/v1/runs/r/history'))).toMatchObject({ events: [] });
});
