import { describe, expect, it } from 'vitest';
import { toAcp, toAgUi } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { openServer } from '../fixtures/open-server.js';
import { listIds, readStream } from '../fixtures/read-stream.js';
import { DEFAULT_LIMITS } from '../server-settings.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';

const listFcmp = (events: readonly Emitted[]) =>
  events.flatMap((emitted) => (emitted.protocol === 'fcmp' ? [emitted.event] : []));
const listRasp = (events: readonly Emitted[]) =>
  events.flatMap((emitted) => (emitted.protocol === 'rasp' ? [emitted.event] : []));

async function openWithEndedRun() {
  const server = await openServer();
  const run = await startScriptedRun(server.store, 'run-1');
  await run.publish();
  await run.end();
  const follow = async (query = '', headers = {}) => server.get(`/v1/runs/run-1/events${query}`, headers);
  return { ...server, run, follow };
}

describe('the stream of a run that has ended', () => {
  it('has every event with its position as the id, then the end event', async () => {
    const { run, follow } = await openWithEndedRun();
    const events = await readStream(follow());
    const fcmp = listFcmp(run.events);
    expect(events.slice(0, -1).map(({ data }) => JSON.parse(data) as unknown)).toEqual(fcmp);
    expect(listIds(events)).toEqual(fcmp.map(({ seq }) => String(seq)));
    expect(events.at(-1)).toEqual({ name: 'end', data: '{"status":"success"}', id: undefined });
  });

  it('numbers RASP by attempt', async () => {
    const { run, follow } = await openWithEndedRun();
    const events = await readStream(follow('?protocol=rasp'));
    expect(listIds(events)).toEqual(listRasp(run.events).map(({ attempt_number, seq }) => `${attempt_number}:${seq}`));
  });

  it.each([
    ['agui', toAgUi],
    ['acp', toAcp],
  ] as const)('is also available as %s, with each id on the last event of its group', async (protocol, project) => {
    const { run, follow } = await openWithEndedRun();
    const fcmp = listFcmp(run.events);
    const events = await readStream(follow(`?protocol=${protocol}`));
    const sent = events.filter(({ name }) => name === 'message');
    expect(sent.map(({ data }) => JSON.parse(data) as unknown)).toEqual(project(fcmp));
    const numbers = fcmp.map(({ seq }) => String(seq));
    expect(numbers).toEqual(expect.arrayContaining(listIds(events)));
    expect(listIds(events)).toEqual([...new Set(listIds(events))]);
    expect(sent.at(-1)?.id).toBe(String(fcmp.at(-1)?.seq));
  });

  it.each(['fcmp', 'rasp', 'agui', 'acp'])('can be resumed after each id (%s)', async (protocol) => {
    const { follow } = await openWithEndedRun();
    const allEvents = await readStream(follow(`?protocol=${protocol}`));
    for (const [index, { id }] of allEvents.entries()) {
      if (id === undefined) continue;
      const remainingEvents = await readStream(follow(`?protocol=${protocol}`, { 'last-event-id': id }));
      // If nothing is left to send, there is no stream and no end event.
      expect(remainingEvents).toEqual(index === allEvents.length - 2 ? [] : allEvents.slice(index + 1));
    }
  });

  it('has both logs on one connection, each in order, and an end event for each', async () => {
    const { run, follow } = await openWithEndedRun();
    const events = await readStream(follow('?protocol=fcmp,rasp'));
    const isRasp = (id: string): boolean => id.includes(':');
    const ids = listIds(events);
    expect(ids.filter((id) => !isRasp(id))).toEqual(listFcmp(run.events).map(({ seq }) => String(seq)));
    expect(ids.filter(isRasp)).toEqual(
      listRasp(run.events).map(({ attempt_number, seq }) => `${attempt_number}:${seq}`),
    );
    expect(events.filter(({ name }) => name === 'end')).toHaveLength(2);
    const [fcmp, rasp] = [ids.findLast((id) => !isRasp(id)), ids.findLast(isRasp)];
    const remainingEvents = await readStream(follow(`?protocol=fcmp,rasp&after=${fcmp},1:1`));
    expect(listIds(remainingEvents)).toEqual(ids.filter(isRasp).slice(1));
    expect(remainingEvents.filter(({ name }) => name === 'end')).toHaveLength(2);
    expect((await follow(`?protocol=fcmp,rasp&after=${fcmp},${rasp}`)).status).toBe(204);
    expect((await follow('?protocol=fcmp,rasp', { 'last-event-id': '2' })).status).toBe(400);
    expect((await follow('?protocol=fcmp,rasp', { 'last-event-id': '2,1:1,3' })).status).toBe(400);
  });

  it('is 204 for a reader that has everything', async () => {
    const { run, follow } = await openWithEndedRun();
    const last = listFcmp(run.events).length;
    expect((await follow(`?after=${last}`)).status).toBe(204);
    expect((await follow(`?after=${last - 1}`)).status).toBe(200);
  });

  it('starts after Last-Event-ID, which overrides ?after', async () => {
    const { follow } = await openWithEndedRun();
    expect(listIds(await readStream(follow('?after=1', { 'last-event-id': '3' })))[0]).toBe('4');
    expect(listIds(await readStream(follow('?after=1')))[0]).toBe('2');
  });

  it('is the same for POST as for GET', async () => {
    const { request, follow } = await openWithEndedRun();
    const postedRequest = request('/v1/runs/run-1/events', { method: 'POST', body: 'whatever' });
    expect(await readStream(postedRequest)).toEqual(await readStream(follow()));
  });
});

describe('a stream with missing events', () => {
  it('sends a gap if the oldest events were deleted', async () => {
    const { store, get } = await openServer();
    const run = await startScriptedRun(store, 'run-1');
    await store.append(
      'run-1',
      run.events.filter(({ protocol, event }) => protocol === 'fcmp' && event.seq > 3),
    );
    await run.end();
    const [first, second] = await readStream(get('/v1/runs/run-1/events'));
    expect(first).toEqual({ name: 'gap', data: '{"from":"1","to":"3"}', id: '3' });
    expect(second?.id).toBe('4');
    const [secondGap] = await readStream(get('/v1/runs/run-1/events?after=2'));
    expect(secondGap?.data).toBe('{"from":"3","to":"3"}');
  });

  it('sends a gap if all events were deleted', async () => {
    const { store, get } = await openServer();
    await (await startScriptedRun(store, 'run-1')).end();
    const events = await readStream(get('/v1/runs/run-1/events?protocol=rasp'));
    expect(events.map(({ name, data }) => [name, data])).toEqual([
      ['gap', '{"from":"1:1","to":null}'],
      ['end', '{"status":"success"}'],
    ]);
    const [resumed] = await readStream(get('/v1/runs/run-1/events?after=4'));
    expect(resumed?.data).toBe('{"from":"5","to":null}');
  });

  it('sends no gap if there never were any events', async () => {
    const { store, get } = await openServer();
    await store.createRun({ id: 'run-1', spec: { engine: 'codex', workdir: '/' }, state: 'queued', now: 0 });
    await store.requestCancel('run-1', 1);
    expect((await get('/v1/runs/run-1/events')).status).toBe(204);
  });

  it('ends a projection with an id after the last event', async () => {
    const { store, get } = await openServer();
    const run = await startScriptedRun(store, 'run-1');
    const cut = listFcmp(run.events).slice(0, 3);
    await store.append(
      'run-1',
      cut.map((event) => ({ protocol: 'fcmp', event })),
    );
    await run.end();
    const path = '/v1/runs/run-1/events?protocol=agui';
    const last = (await readStream(get(path))).findLast(({ name }) => name === 'message');
    expect(last).toMatchObject({ id: '4' });
    expect(last?.data).toContain('"RUN_ERROR"');
    expect(await readStream(get(`${path}&after=3`))).toHaveLength(2);
    expect((await get(`${path}&after=4`)).status).toBe(204);
  });

  it.each([
    ['/v1/runs/nobody/events', 404, 'RUN_NOT_FOUND'],
    ['/v1/runs/run-1/events?after=1:2', 400, 'INVALID_POSITION'],
    ['/v1/runs/run-1/events?protocol=rasp&after=2', 400, 'INVALID_POSITION'],
    ['/v1/runs/run-1/events?after=77', 400, 'INVALID_POSITION'],
    ['/v1/runs/run-1/events?protocol=rasp&after=7:7', 400, 'INVALID_POSITION'],
    ['/v1/runs/run-1/events?protocol=other', 400, 'INVALID_QUERY'],
  ])('refuses %s', async (path, status, code) => {
    const { store, get } = await openServer();
    await (await startScriptedRun(store, 'run-1')).publish(4);
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it('refuses an invalid Last-Event-ID', async () => {
    const { follow } = await openWithEndedRun();
    expect((await follow('', { 'last-event-id': 'x; drop' })).status).toBe(400);
  });

  it('holds no slot for a reader that disconnected before the stream started', async () => {
    const { app, store } = await openServer({ settings: { limits: { ...DEFAULT_LIMITS, streamsAtOnce: 1 } } });
    await (await startScriptedRun(store, 'run-1')).end();
    const closedConnection = { outgoing: { closed: true, once: () => undefined } };
    for (let count = 0; count < 3; count++) {
      expect((await app.request('/v1/runs/run-1/events', {}, closedConnection)).status).toBe(200);
    }
  });

  it('is refused once the server shuts down', async () => {
    const server = await openWithEndedRun();
    server.end();
    expect((await server.follow()).status).toBe(503);
  });
});

describe('the history of a run', () => {
  it('is a range of events, both ends included', async () => {
    const { run, get } = await openWithEndedRun();
    const response = await get('/v1/runs/run-1/history?from=2&to=4');
    expect(await response.json()).toEqual({ events: listFcmp(run.events).slice(1, 4), next_from: null });
  });

  it.each(['fcmp', 'rasp', 'agui', 'acp'])('is paginated (%s)', async (protocol) => {
    const { get } = await openWithEndedRun();
    const fullHistory = (await (await get(`/v1/runs/run-1/history?protocol=${protocol}`)).json()) as {
      events: unknown[];
    };
    const pagedEvents: unknown[] = [];
    let from = protocol === 'rasp' ? '1:1' : '1';
    for (;;) {
      const response = await get(`/v1/runs/run-1/history?protocol=${protocol}&limit=2&from=${from}`);
      const page = (await response.json()) as { events: unknown[]; next_from: string | null };
      pagedEvents.push(...page.events);
      if (page.next_from === null) break;
      from = page.next_from;
    }
    expect(pagedEvents).toEqual(fullHistory.events);
    expect(pagedEvents.length).toBeGreaterThan(4);
  });
});
