import { randomUUID } from 'node:crypto';
import type { OutboxMessage, SinkState } from '../../records/index.js';
import type { OutboxStore } from '../../orders/index.js';
import { describeSink, MAX_REDELIVERED } from '../sink-state.js';
import { readColumns } from './rows.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';
import { listRows } from './lists.js';
import { WAKE_DELIVERER } from './notifications.js';

/** Creates the store's outbox methods. */
export function createOutbox({ database }: Context): OutboxStore {
  let installation: string | undefined;
  return {
    async readInstallation() {
      if (installation !== undefined) return installation;
      let { rows } = await database.query(FIND_INSTALLATION);
      if (rows.length === 0) {
        await database.query(CREATE_INSTALLATION, [randomUUID()]);
        // If two processes create the id concurrently, the first wins.
        ({ rows } = await database.query(FIND_INSTALLATION));
      }
      installation = readColumns(rows[0] ?? {}).text('id');
      return installation;
    },

    async claimOutbox({ workerId, leaseMs, now, limit, sinks }) {
      const { rows } = await database.query(CLAIM, [workerId, now, now + leaseMs, limit, sinks ?? null]);
      return rows.map(readMessage);
    },

    async markDelivered({ id, workerId, deliveredTo }) {
      const { rows } = await database.query(
        `UPDATE sluice.outbox SET state = 'delivered', lease_until = NULL, delivered_to = $3
         WHERE id = $1 AND worker_id = $2 AND state = 'sending'
         RETURNING true AS done`,
        [id, workerId, JSON.stringify(deliveredTo)],
      );
      return rows.length > 0;
    },

    async markFailed({ id, workerId, error, retryAt }) {
      const { rows } = await database.query(FAIL, [id, workerId, JSON.stringify(error), retryAt]);
      return rows.length > 0;
    },

    async redeliver(filter, now) {
      const { rows } =
        'id' in filter
          ? await database.query(REDELIVER_ONE, [now, filter.id])
          : await database.query(REDELIVER_ALL, [now, filter.sink, MAX_REDELIVERED]);
      return rows.length;
    },

    async listSinks() {
      const { rows } = await database.query(LIST_SINKS);
      return rows.map(readSink);
    },

    async recordStranded({ sinks, dueBefore, error, limit }) {
      const { rows } = await database.query(NOTE_STRANDED, [JSON.stringify(error), dueBefore, sinks, limit]);
      return [...new Set(rows.map((row) => readColumns(row).text('sink')))].toSorted();
    },

    listOutbox: ({ state, issueRef, ...page }) =>
      listRows(database, page, {
        table: 'outbox',
        order: 'newest',
        conditions: [
          ['state = ?', state],
          ['issue_ref = ?', issueRef],
        ],
        read: readMessage,
      }),
  };
}

const FIND_INSTALLATION = `SELECT id FROM sluice.installation WHERE number = 1`;
const CREATE_INSTALLATION = `INSERT INTO sluice.installation (number, id) VALUES (1, $1) ON CONFLICT DO NOTHING`;

/** Only the oldest message per issue and sink is claimed, so comments are delivered one at a time and in order. */
const CLAIM = `
  WITH due AS (
    SELECT seq FROM sluice.outbox AS message
    WHERE state IN ('waiting', 'sending')
      AND CASE WHEN state = 'waiting' THEN due_at ELSE COALESCE(lease_until, 0) END <= $2
      AND ($5::text[] IS NULL OR sink = ANY ($5))
      AND NOT EXISTS (
        SELECT FROM sluice.outbox AS earlier
        WHERE earlier.sink = message.sink AND earlier.issue_ref = message.issue_ref
          AND earlier.state IN ('waiting', 'sending') AND earlier.seq < message.seq
      )
    ORDER BY seq
    LIMIT $4
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE sluice.outbox SET state = 'sending', tries = tries + 1, worker_id = $1, lease_until = $3
    FROM due
    WHERE outbox.seq = due.seq
    RETURNING outbox.*
  )
  SELECT * FROM claimed ORDER BY seq`;

/**
 * `= ANY (ARRAY(…))` here and below: PostgreSQL can execute the subquery of `IN` once per row, skipping the rows it has
 * already changed, so more than `LIMIT` rows would be changed. An array is computed once.
 */
const NOTE_STRANDED = `
  UPDATE sluice.outbox SET last_error = $1 WHERE seq = ANY (ARRAY(
    SELECT seq FROM sluice.outbox
    WHERE state IN ('waiting', 'sending') AND state = 'waiting' AND due_at <= $2 AND last_error IS DISTINCT FROM $1
      AND NOT sink = ANY ($3::text[])
    ORDER BY seq LIMIT $4
    FOR UPDATE SKIP LOCKED))
  RETURNING sink`;

const FAIL = `
  UPDATE sluice.outbox SET
    state = CASE WHEN $4::bigint IS NULL THEN 'dead' ELSE 'waiting' END,
    due_at = COALESCE($4, due_at),
    lease_until = NULL,
    last_error = $3
  WHERE id = $1 AND worker_id = $2 AND state = 'sending'
  RETURNING true AS done`;

const REDELIVER_ONE = `
  UPDATE sluice.outbox SET state = 'waiting', tries = 1, due_at = $1 WHERE id = $2 AND state IN ('dead', 'waiting')
  RETURNING ${WAKE_DELIVERER}`;

const REDELIVER_ALL = `
  UPDATE sluice.outbox SET state = 'waiting', tries = 1, due_at = $1 WHERE seq = ANY (ARRAY(
    SELECT seq FROM sluice.outbox WHERE state IN ('dead', 'waiting') AND sink = $2 ORDER BY seq LIMIT $3
    FOR UPDATE SKIP LOCKED))
  RETURNING ${WAKE_DELIVERER}`;

const LIST_SINKS = `
  SELECT sink, count(*) FILTER (WHERE state <> 'dead') AS open, count(*) FILTER (WHERE state = 'dead') AS dead,
    min(created_at) AS oldest_at,
    (array_agg(last_error ORDER BY seq DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS last_error
  FROM sluice.outbox WHERE state IN ('dead', 'waiting', 'sending')
  GROUP BY sink ORDER BY sink`;

function readSink(row: Row): SinkState {
  const { text, number, time, jsonOrNull } = readColumns(row);
  return describeSink({
    name: text('sink'),
    open: number('open'),
    dead: number('dead'),
    last_error: jsonOrNull('last_error') as string | null,
    oldest_at: time('oldest_at'),
  });
}

/** Reads a message; the table allows only known states. */
function readMessage(row: Row): OutboxMessage {
  const { text, number, numberOrNull, time, json, jsonOrNull } = readColumns(row);
  return {
    id: text('id'),
    sink: text('sink'),
    issue_ref: text('issue_ref'),
    trigger: text('trigger'),
    body: json('body') as string,
    state: text('state') as OutboxMessage['state'],
    tries: number('tries'),
    due_at: number('due_at'),
    lease_until: numberOrNull('lease_until'),
    last_error: jsonOrNull('last_error') as string | null,
    delivered_to: jsonOrNull('delivered_to') as string | null,
    created_at: time('created_at'),
  };
}
