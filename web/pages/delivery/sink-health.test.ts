import { expect, test } from 'vitest';
import type { OutboxMessage } from '../../../src/server/api/index.js';
import { summarizeSinks } from './outbox-page.js';

const message = (changes: Partial<OutboxMessage>): OutboxMessage => ({
  id: 'm',
  sink: 'forge',
  issue_ref: 'acme/shop#1',
  trigger: 'workrun:x',
  body: '',
  state: 'delivered',
  tries: 1,
  due_at: 0,
  lease_until: null,
  last_error: null,
  delivered_to: 'https://example.org/1',
  created_at: '2026-11-15T06:00:00.000Z',
  ...changes,
});

test('every sink is listed with its state and the newest comment it accepted', () => {
  const broken = {
    name: 'hook',
    state: 'broken',
    open: 2,
    dead: 1,
    last_error: 'hook answered 401',
    oldest_at: '2026-11-15T06:00:00.000Z',
  } as const;
  const messages = [
    message({ state: 'waiting', delivered_to: null, created_at: '2026-11-15T09:00:00.000Z' }),
    message({ created_at: '2026-11-15T08:00:00.000Z', delivered_to: 'https://example.org/8' }),
    message({ created_at: '2026-11-15T07:00:00.000Z' }),
    message({ sink: 'hook', state: 'dead', delivered_to: null }),
  ];
  expect(summarizeSinks(messages, [broken])).toEqual([
    {
      name: 'forge',
      state: 'ok',
      last: { at: '2026-11-15T08:00:00.000Z', to: 'https://example.org/8' },
      undelivered: 0,
      error: null,
    },
    { name: 'hook', state: 'broken', last: null, undelivered: 3, error: 'hook answered 401' },
  ]);
});
