import { randomUUID } from 'node:crypto';
import type { OutboxMessage, SinkState } from '../../records/index.js';
import type { OutboxStore } from '../../orders/index.js';
import { describeSink, MAX_REDELIVERED } from '../sink-state.js';
import { QUEUE, type Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { buildEquals, listRows } from './lists.js';
import { readInteger, readIntegerOrNull, readJson, readJsonOrNull, readText, readTime } from './rows.js';

/** Creates the store's outbox methods. */
export function createOutbox(database: Database, wakers: Wakers): OutboxStore {
  const findDue = database.prepare(FIND_DUE);
  const claim = database.prepare(`
    UPDATE outbox SET state = 'sending', tries = tries + 1, worker_id = ?, lease_until = ? WHERE sequence = ? RETURNING *`);
  const deliver = database.prepare(`
    UPDATE outbox SET state = 'delivered', delivered_to = ?, lease_until = NULL
    WHERE id = ? AND worker_id = ? AND state = 'sending'`);
  const fail = database.prepare(`
    UPDATE outbox SET state = ?, due_at = coalesce(?, due_at), last_error = ?, lease_until = NULL
    WHERE id = ? AND worker_id = ? AND state = 'sending'`);
  const redeliverOne = database.prepare(REDELIVER_ONE);
  const redeliverAll = database.prepare(REDELIVER_ALL);
  const listSinks = database.prepare(LIST_SINKS);
  const recordStranded = database.prepare(NOTE_STRANDED);
  const createInstallation = database.prepare(
    `INSERT INTO installation (number, id) VALUES (1, ?) ON CONFLICT DO NOTHING`,
  );
  const findInstallation = database.prepare(`SELECT id FROM installation WHERE number = 1`);
  let installation: string | undefined;

  return {
    async readInstallation() {
      const found = installation ?? (await database.read(() => findInstallation.get()?.['id']));
      installation =
        typeof found === 'string'
          ? found
          : await database.write(() => {
              createInstallation.run(randomUUID());
              return readText(findInstallation.get() ?? {}, 'id');
            });
      return installation;
    },

    claimOutbox: async ({ workerId, leaseMs, now, limit, sinks }) =>
      database.write(() =>
        findDue
          .all(now, sinks === undefined ? null : JSON.stringify(sinks), Math.max(0, Math.trunc(limit)))
          .map((due) => readMessage(claim.get(workerId, now + leaseMs, readInteger(due, 'sequence')) ?? {})),
      ),

    async markDelivered({ id, workerId, deliveredTo }) {
      const { changes } = await database.write(() => deliver.run(JSON.stringify(deliveredTo), id, workerId));
      wakers.wake(QUEUE);
      return Number(changes) === 1;
    },

    async markFailed({ id, workerId, error, retryAt }) {
      const state = retryAt === null ? 'dead' : 'waiting';
      const { changes } = await database.write(() => fail.run(state, retryAt, JSON.stringify(error), id, workerId));
      wakers.wake(QUEUE);
      return Number(changes) === 1;
    },

    async redeliver(filter, now) {
      const { changes } = await database.write(() =>
        'id' in filter ? redeliverOne.run(now, filter.id) : redeliverAll.run(now, filter.sink, MAX_REDELIVERED),
      );
      wakers.wake(QUEUE);
      return Number(changes);
    },

    listSinks: async () => database.read(() => listSinks.all().map(readSink)),

    recordStranded: async ({ sinks, dueBefore, error, limit }) => {
      const bound = [JSON.stringify(error), dueBefore, JSON.stringify(sinks), Math.max(0, Math.trunc(limit))] as const;
      const stranded = await database.write(() => recordStranded.all(...bound).map((row) => readText(row, 'sink')));
      return [...new Set(stranded)].toSorted();
    },

    listOutbox: async ({ state, issueRef, ...page }) =>
      listRows(
        database,
        'outbox',
        page,
        'newest',
        [buildEquals('state', state), buildEquals('issue_ref', issueRef)],
        readMessage,
      ),
  };
}

/** Only the oldest message per issue and sink is claimed, so comments are delivered one at a time and in order. */
export const FIND_DUE = `
  SELECT sequence FROM outbox AS message INDEXED BY outbox_open
  WHERE state IN ('waiting', 'sending')
    AND CASE state WHEN 'waiting' THEN due_at ELSE lease_until END <= ?1
    AND (?2 IS NULL OR sink IN (SELECT value FROM json_each(?2)))
    AND NOT EXISTS (
      SELECT 1 FROM outbox AS older
      WHERE older.sink = message.sink AND older.issue_ref = message.issue_ref
        AND older.state IN ('waiting', 'sending') AND older.sequence < message.sequence)
  ORDER BY sequence LIMIT ?3`;

/** The first condition repeats the index's condition: SQLite does not infer it from the second. */
export const NOTE_STRANDED = `
  UPDATE outbox SET last_error = ?1 WHERE sequence IN (
    SELECT sequence FROM outbox INDEXED BY outbox_open
    WHERE state IN ('waiting', 'sending') AND state = 'waiting' AND due_at <= ?2 AND last_error IS NOT ?1
      AND sink NOT IN (SELECT value FROM json_each(?3))
    ORDER BY sequence LIMIT ?4)
  RETURNING sink`;

const REDELIVER_ONE = `
  UPDATE outbox SET state = 'waiting', tries = 1, due_at = ? WHERE id = ? AND state IN ('dead', 'waiting')`;

/** Uses the index by state twice: for dead and for waiting messages. */
export const REDELIVER_ALL = `
  UPDATE outbox SET state = 'waiting', tries = 1, due_at = ?1 WHERE sequence IN (
    SELECT sequence FROM outbox INDEXED BY outbox_by_state
    WHERE state IN ('dead', 'waiting') AND sink = ?2 ORDER BY sequence LIMIT ?3)`;

export const LIST_SINKS = `
  SELECT sink, sum(state <> 'dead') AS open, sum(state = 'dead') AS dead, min(created_at) AS oldest_at,
    (SELECT last_error FROM outbox AS failed
     WHERE failed.sink = undelivered.sink AND failed.state IN ('dead', 'waiting', 'sending') AND failed.last_error IS NOT NULL
     ORDER BY failed.sequence DESC LIMIT 1) AS last_error
  FROM outbox AS undelivered INDEXED BY outbox_by_state WHERE state IN ('dead', 'waiting', 'sending')
  GROUP BY sink ORDER BY sink`;

function readSink(row: SqlRow): SinkState {
  return describeSink({
    name: readText(row, 'sink'),
    open: readInteger(row, 'open'),
    dead: readInteger(row, 'dead'),
    last_error: readJsonOrNull(row, 'last_error') as string | null,
    oldest_at: readTime(row, 'oldest_at'),
  });
}

function readMessage(row: SqlRow): OutboxMessage {
  return {
    id: readText(row, 'id'),
    sink: readText(row, 'sink'),
    issue_ref: readText(row, 'issue_ref'),
    trigger: readText(row, 'trigger_key'),
    body: readJson(row, 'body') as string,
    state: readText(row, 'state') as OutboxMessage['state'],
    tries: readInteger(row, 'tries'),
    due_at: readInteger(row, 'due_at'),
    lease_until: readIntegerOrNull(row, 'lease_until'),
    last_error: readJsonOrNull(row, 'last_error') as string | null,
    delivered_to: readJsonOrNull(row, 'delivered_to') as string | null,
    created_at: readTime(row, 'created_at'),
  };
}
