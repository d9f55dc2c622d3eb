import { expect, it } from 'vitest';
import { readJson, openServer } from '../fixtures/open-server.js';
import { sampleMessage, sampleSettlement, sampleSubmission } from '../../store/contract/fixtures/order-samples.js';

const NOW = Date.parse('2026-11-15T06:30:00.000Z');

it('GET /v1/workers lists workers, and marks workers that are gone', async () => {
  const { get, store } = await openServer({ clock: () => NOW });
  const worker = { host: 'machine-1', version: '0.1.0', engines: ['codex'], capacity: 4, busy: 2, isStopping: false };
  await store.reportWorker({ ...worker, id: 'w1', now: NOW - 90_000, aliveUntil: NOW - 30_000 });
  await store.reportWorker({ ...worker, id: 'w2', now: NOW, aliveUntil: NOW + 60_000 });
  const commonFields = { host: 'machine-1', version: '0.1.0', engines: ['codex'], capacity: 4, busy: 2 };
  expect(await readJson(get('/v1/workers'))).toEqual({
    items: [
      { ...commonFields, id: 'w2', seen_at: '2026-11-15T06:30:00.000Z', state: 'alive', runs: [] },
      { ...commonFields, id: 'w1', seen_at: '2026-11-15T06:28:30.000Z', state: 'gone', runs: [] },
    ],
    next_cursor: null,
  });
});

it('POST /v1/outbox/redeliver resends a sink’s comments, and GET /v1/sinks lists failing sinks', async () => {
  const { get, post, store } = await openServer({ clock: () => NOW });
  const { record } = await store.submitOrder(sampleSubmission());
  const message = sampleMessage(record, { sink: 'hook' });
  await store.settleOrder(sampleSettlement(record, 'advance', { outbox: [message] }));
  await store.claimOutbox({ workerId: 'w1', leaseMs: 1000, now: NOW, limit: 1 });
  await store.markFailed({ id: message.id, workerId: 'w1', error: 'hook answered 401', retryAt: null });
  expect(await readJson(get('/v1/sinks'))).toMatchObject({
    items: [{ name: 'hook', state: 'broken', dead: 1, last_error: 'hook answered 401' }],
  });
  expect(await readJson(post('/v1/outbox/redeliver', { sink: 'hook' }))).toEqual({ redelivered: 1 });
  expect(await readJson(post(`/v1/outbox/${message.id}/redeliver`))).toEqual({ redelivered: 1 });
  expect(await readJson(post('/v1/outbox/unknown/redeliver'))).toMatchObject({
    status: 404,
    code: 'COMMENT_NOT_FOUND',
  });
  expect(await readJson(get('/v1/sinks'))).toMatchObject({ items: [{ state: 'failing', open: 1, dead: 0 }] });
});
