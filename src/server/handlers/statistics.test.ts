import { expect, it } from 'vitest';
import { createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { readJson, openServer } from '../fixtures/open-server.js';

const NOW = Date.parse('2026-11-15T06:30:00.000Z');

it('GET /v1/statistics counts the runs and inbox items in the store', async () => {
  const { get, store } = await openServer({ clock: () => NOW });
  await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'running', workerId: 'w1', now: NOW - 5000 });
  await store.endRun({ id: 'r1', workerId: 'w1', result: createRunResult(), now: NOW - 1000 });
  const statistics = await readJson(get('/v1/statistics?since=2026-11-15T06:00:00.000Z'));
  expect(statistics).toMatchObject({
    since: '2026-11-15T06:00:00.000Z',
    until: '2026-11-15T06:30:00.000Z',
    step_s: 60,
    complete: true,
  });
  const buckets = statistics['buckets'] as unknown[];
  expect(buckets).toHaveLength(30);
  expect(buckets.at(-1)).toMatchObject({
    at: '2026-11-15T06:29:00.000Z',
    runs: [{ engine: 'command', outcomes: { success: 1 }, latency_ms: { p50: 4032, p95: 4032 } }],
  });
});

it.each(['step=59', 'step=1.5', 'since=2026-11-16', 'since=2020-01-01&step=60', 'since=2026-13-01'])(
  'GET /v1/statistics rejects %s',
  async (query) => {
    const { get } = await openServer({ clock: () => NOW });
    expect(await readJson(get(`/v1/statistics?${query}`))).toMatchObject({ status: 400, code: 'INVALID_QUERY' });
  },
);
