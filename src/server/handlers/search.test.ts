import { describe, expect, it } from 'vitest';
import { NOW } from '../../store/contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { readJson, openServer } from '../fixtures/open-server.js';

async function openWithRuns() {
  const server = await openServer();
  const { store, get } = server;
  for (const [id, prompt] of [
    ['r1', 'Fix the wheel'],
    ['r2', 'Paint it'],
  ] as const) {
    const running = { state: 'running', workerId: 'w1', now: NOW } as const;
    await store.createRun({ id, spec: sampleSpec({ prompt }), ...running });
  }
  const result = createRunResult({ drift: { unknown_types: 2, unknown_fields: 0 } });
  await store.endRun({ id: 'r1', workerId: 'w1', result, now: NOW });
  const find = async (query: string) =>
    ((await readJson(get(`/v1/runs?${query}`)))['items'] as { id: string }[]).map(({ id }) => id);
  return { ...server, find };
}

describe('GET /v1/runs', () => {
  it('finds runs by words, outcome and time', async () => {
    const { find } = await openWithRuns();
    expect(await find('search=WHEEL%20fix')).toEqual(['r1']);
    expect(await find('outcome=success')).toEqual(['r1']);
    expect(await find('repair_level=schema_aligned')).toEqual([]);
    expect(await find('since=2026-11-15&until=2026-11-16')).toEqual(['r2', 'r1']);
    expect(await find('until=2026-11-15')).toEqual([]);
    expect(await find('since=2026-11-15T06:00:00.001Z')).toEqual([]);
    expect(await find('since=2026-11-15T00:00:00Z')).toEqual(['r2', 'r1']);
  });

  it.each([
    'search=',
    `search=${'x'.repeat(201)}`,
    'outcome=great',
    'since=2026-13-01',
    'since=2026-02-31',
    'since=2026-02-31T08:00:00Z',
    'since=now',
    'repair_level=1',
  ])('refuses %s', async (query) => {
    const { get } = await openWithRuns();
    expect(await readJson(get(`/v1/runs?${query}`))).toMatchObject({ status: 400, code: 'INVALID_QUERY' });
  });

  it.each(['since', 'until', 'ended_since', 'ended_until'])('names %s if its date does not exist', async (name) => {
    const { get } = await openWithRuns();
    expect(await readJson(get(`/v1/runs?${name}=2026-02-31`))).toMatchObject({
      code: 'INVALID_QUERY',
      detail: expect.stringContaining(`"${name}" is a date or time that does not exist.`),
    });
  });
});

it('GET /v1/runs/{id} counts unknown types and fields in the output', async () => {
  const { get } = await openWithRuns();
  expect(await readJson(get('/v1/runs/r1'))).toMatchObject({ result: { drift: { unknown_types: 2 } } });
});
