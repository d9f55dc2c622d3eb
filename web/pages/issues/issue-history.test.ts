import { expect, test } from 'vitest';
import type { Client } from '../../../src/server/client/index.js';
import type { InboxItem, OrderView, OutboxMessage } from '../../../src/server/api/index.js';
import { groupHistory, loadIssue, NO_RUN } from './order-card.js';

const AT = '2026-11-15T09:00:00.000Z';
const order = (run_id: string): OrderView => ({
  issue_ref: 'acme/shop#7',
  run_id,
  run: `ulid-${run_id}`,
  worker: 'codex-cli',
  worker_type: 'codex-cli',
  state: 'settled',
  base_commit: null,
  order: {
    issue_ref: 'acme/shop#7',
    run_id,
    role: 'backend',
    repo_dir: '/repo',
    worker: 'codex-cli',
    instructions: '',
  },
  created_at: AT,
  started_at: AT,
  settled_at: AT,
  decision: null,
  result: null,
});
const item = (id: string, run_id: string): InboxItem => ({
  id,
  issue_ref: 'acme/shop#7',
  run_id,
  run: `ulid-${run_id}`,
  reason: 'unreadable',
  next: 'Look.',
  result_code: 'output_unparseable',
  reading: { source: 'none', problems: [] },
  exit_code: 0,
  signal: null,
  created_at: AT,
  resolution: null,
});
const message = (id: string, trigger: string): OutboxMessage => ({
  id,
  sink: 'file',
  issue_ref: 'acme/shop#7',
  trigger,
  body: '',
  state: 'delivered',
  tries: 1,
  due_at: 0,
  lease_until: null,
  last_error: null,
  delivered_to: null,
  created_at: AT,
});

test('loads the open items and the newest settled ones', async () => {
  const open = item('open', 'r300');
  // Like the server: all items are listed oldest first, settled ones newest first.
  const settled = Array.from({ length: 250 }, (_, index) => ({
    ...item(`i${index}`, `r${index}`),
    resolution: { action: 'accept' },
  }));
  const client = {
    getIssue: async () => ({ orders: [], inbox: [open] }),
    listInbox: async ({ query }: { query: { settled?: string; limit: number } }) => ({
      items: (query.settled === 'true' ? settled.toReversed() : [...settled, open]).slice(0, query.limit),
    }),
    listOutbox: async () => ({ items: [] }),
  } as unknown as Pick<Client, 'getIssue' | 'listInbox' | 'listOutbox'>;
  const { history } = await loadIssue(client, 'acme/shop#7', new AbortController().signal);
  const ids = history.flatMap(({ items }) => items.map(({ id }) => id));
  expect(ids).toEqual(expect.arrayContaining(['open', 'i249', 'i50']));
  expect(ids).not.toContain('i49');
});

test('groups inbox items and comments under their order', () => {
  const history = groupHistory(
    [order('r2'), order('r1')],
    [item('i1', 'r1')],
    [message('c3', 'workrun:r2'), message('c2', 'resolve:i1'), message('c1', 'workrun:r1')],
  );
  expect(
    history.map(({ runId, items, comments }) => [runId, items.map(({ id }) => id), comments.map(({ id }) => id)]),
  ).toEqual([
    ['r2', [], ['c3']],
    ['r1', ['i1'], ['c2', 'c1']],
  ]);
});

test('keeps items and comments for unlisted orders, or for none', () => {
  const history = groupHistory(
    [order('r9')],
    [item('i1', 'r1')],
    [message('c1', 'workrun:r2'), message('c2', 'later:x')],
  );
  expect(history.map(({ runId, order: known }) => [runId, known === null])).toEqual([
    ['r9', false],
    ['r2', true],
    ['r1', true],
    [NO_RUN, true],
  ]);
});
