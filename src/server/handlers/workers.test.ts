import { expect, it } from 'vitest';
import { readJson, openServer } from '../fixtures/open-server.js';

const NOW = Date.parse('2026-11-15T06:30:00.000Z');

it('GET /v1/workers lists workers, and says which are gone', async () => {
  const { get, store } = await openServer({ clock: () => NOW });
  const worker = { host: 'machine-1', version: '0.1.0', engines: ['codex'], capacity: 4, busy: 2, isStopping: false };
  await store.reportWorker({ ...worker, id: 'w1', now: NOW - 90_000, aliveUntil: NOW - 30_000 });
  await store.reportWorker({ ...worker, id: 'w2', now: NOW, aliveUntil: NOW + 60_000 });
  const shown = { host: 'machine-1', version: '0.1.0', engines: ['codex'], capacity: 4, busy: 2 };
  expect(await readJson(get('/v1/workers'))).toEqual({
    items: [
      { ...shown, id: 'w2', seen_at: '2026-11-15T06:30:00.000Z', state: 'alive' },
      { ...shown, id: 'w1', seen_at: '2026-11-15T06:28:30.000Z', state: 'gone' },
    ],
    next_cursor: null,
  });
});
