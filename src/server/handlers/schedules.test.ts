import { expect, it } from 'vitest';
import { openServer, readJson } from '../fixtures/open-server.js';

const NOW = Date.parse('2026-11-16T03:04:05.000Z');

async function openWith(settings: Parameters<typeof openServer>[0] = {}) {
  const { work } = await openServer();
  const request = { issue_ref: 'local#1', role: 'qa', repo_dir: work, worker: 'scripted', instructions: 'Look.' };
  const nightly = { cron: '*/10 * * * *', request };
  return openServer({
    clock: () => NOW,
    ...settings,
    settings: { roots: [work], schedules: { nightly }, ...settings.settings },
  });
}

it('lists the schedules with their next tick, and pauses and resumes one in the name of the caller', async () => {
  const { get, post, store } = await openWith();
  const listed = await readJson(get('/v1/schedules'));
  expect(listed).toMatchObject({ items: [{ name: 'nightly', issue_ref: 'local#1', paused: null, last: null }] });
  expect(await readJson(post('/v1/schedules/nightly/pause', { why: 'Holidays.' }))).toMatchObject({
    next_at: null,
    paused: { who: 'local', why: 'Holidays.', at: '2026-11-16T03:04:05.000Z' },
  });
  // Another server reads it from the store.
  expect(await store.listPauses()).toMatchObject([{ schedule: 'nightly', who: 'local' }]);
  expect(await readJson(post('/v1/schedules/nightly/resume', {}))).toMatchObject({ paused: null });
  expect(await store.listPauses()).toEqual([]);
});

it('runs a schedule at once, even while it is paused', async () => {
  const { post, get } = await openWith();
  await post('/v1/schedules/nightly/pause', { why: 'Holidays.' });
  const tick = await readJson(post('/v1/schedules/nightly/run', {}));
  expect(tick).toMatchObject({ schedule: 'nightly', action: 'submitted', why: 'local ran it' });
  expect(await readJson(get('/v1/schedules'))).toMatchObject({ items: [{ last: tick }] });
  expect(await readJson(get('/v1/issues/local%231'))).toMatchObject({ orders: [{ state: 'queued' }] });
});

it.each(['schedule:nightly:2026-11-16T03:10:00.000Z', 'trigger:issues:1'])(
  'refuses an order with the id of a schedule or trigger, which would suppress it: %s',
  async (request_id) => {
    const { post, work } = await openWith();
    const order = { issue_ref: 'local#2', role: 'qa', repo_dir: work, worker: 'scripted', instructions: 'Look.' };
    const refused = await readJson(post('/v1/orders', { ...order, request_id }));
    expect(refused).toMatchObject({ code: 'INVALID_BODY', issues: [{ path: 'request_id' }] });
  },
);

it.each(['pause', 'resume', 'run'])('refuses to %s an unknown schedule', async (action) => {
  const { post } = await openWith();
  for (const name of ['weekly', '__proto__']) {
    const response = await post(`/v1/schedules/${name}/${action}`, { why: 'x' });
    expect(response.status).toBe(404);
  }
});

it('lets a token that only starts runs neither pause a schedule nor read the settings', async () => {
  const tokens = [{ name: 'ci', scopes: ['read', 'run'], value: 'a-long-enough-secret' }] as const;
  const { post, get } = await openWith({ settings: { tokens } });
  const headers = { authorization: 'Bearer a-long-enough-secret' };
  expect((await post('/v1/schedules/nightly/pause', { why: 'x' }, headers)).status).toBe(403);
  expect((await post('/v1/schedules/nightly/resume', {}, headers)).status).toBe(403);
  expect((await post('/v1/schedules/nightly/run', {}, headers)).status).toBe(200);
  expect((await get('/v1/settings', headers)).status).toBe(403);
});

it('returns rules, sinks and tokens, but no value of a token', async () => {
  const value = 'a-long-enough-secret';
  const { get } = await openWith({
    settings: {
      tokens: [{ name: 'ada', scopes: ['read', 'decide'], value }],
      approvals: [{ decide: 'deny', tool: 'bash' }],
      sinks: [{ name: 'hook', type: 'webhook' }],
    },
  });
  const response = await get('/v1/settings', { authorization: `Bearer ${value}` });
  const text = await response.text();
  expect(JSON.parse(text)).toEqual({
    approvals: [{ decide: 'deny', tool: 'bash' }],
    sinks: [{ name: 'hook', type: 'webhook' }],
    tokens: [{ name: 'ada', scopes: ['read', 'decide'] }],
  });
  expect(text).not.toContain(value);
});
