import { randomUUID } from 'node:crypto';
import type { NewOutboxMessage, OutboxMessage, SinkState } from '../records/index.js';
import type { OutboxStore } from '../ports/index.js';
import type { Dialect, Row } from '../driver.js';
import { readJson, readJsonOrNull, readNumber, readNumberOrNull, readText, readTime } from '../rows.js';
import { equal, listRows } from './lists.js';

/** Creates the store's outbox methods. */
export function createOutbox({ database, looksFirst, announce }: Dialect): OutboxStore {
  let installation: string | undefined;
  return {
    async readInstallation() {
      if (installation !== undefined) return installation;
      let row = await database.get(FIND_INSTALLATION);
      if (row === undefined) {
        // If two processes create the id concurrently, the first wins.
        await database.run(CREATE_INSTALLATION, [randomUUID()]);
        row = await database.get(FIND_INSTALLATION);
      }
      installation = readText(row ?? {}, 'id');
      return installation;
    },

    async claimOutbox({ workerId, leaseMs, now, limit, sinks }) {
      const wanted = sinks === undefined ? null : JSON.stringify(sinks);
      // A worker looks more often than a message is due.
      if (looksFirst && (await database.get(FIND_DUE, [now])) === undefined) return [];
      const rows = await database.all(CLAIM, [workerId, now + leaseMs, now, wanted, Math.max(0, Math.trunc(limit))]);
      return rows.toSorted((one, other) => readNumber(one, 'seq') - readNumber(other, 'seq')).map(readMessage);
    },

    async markDelivered({ id, workerId, deliveredTo }) {
      const changed = await database.run(DELIVER, [JSON.stringify(deliveredTo), id, workerId]);
      await announce({ queue: true });
      return changed === 1;
    },

    async markFailed({ id, workerId, error, retryAt }) {
      const state = retryAt === null ? 'dead' : 'waiting';
      const changed = await database.run(FAIL, [state, retryAt, JSON.stringify(error), id, workerId]);
      await announce({ queue: true });
      return changed === 1;
    },

    async redeliver(filter, now) {
      const changed =
        'id' in filter
          ? await database.run(REDELIVER_ONE, [now, filter.id])
          : await database.run(REDELIVER_ALL, [now, filter.sink, MAX_REDELIVERED]);
      if (changed > 0) await announce({ queue: true, messages: true });
      return changed;
    },

    listSinks: async () => (await database.all(LIST_SINKS)).map(readSink),

    async recordStranded({ sinks, dueBefore, error, limit }) {
      const values = [JSON.stringify(error), dueBefore, JSON.stringify(sinks), Math.max(0, Math.trunc(limit))];
      const stranded = await database.all(RECORD_STRANDED, values);
      return [...new Set(stranded.map((row) => readText(row, 'sink')))].toSorted();
    },

    listOutbox: async ({ state, issueRef, ...page }) => {
      const conditions = equal({ state, issue_ref: issueRef });
      return listRows(database, page, { table: 'outbox', order: 'newest', conditions }, readMessage);
    },
  };
}

/** Builds an insert of messages, for each row of `source`. Existing messages are not changed. */
export function buildMessagesInsert(messages: string, now: string, source?: string): string {
  return `
    INSERT INTO outbox (id, sink, issue_ref, trigger_key, body, state, due_at, created_at)
    SELECT message.value ->> 'id', message.value ->> 'sink', message.value ->> 'issue_ref', message.value ->> 'trigger',
      message.value ->> 'body', 'waiting', ${now}::bigint, ${now}::bigint
    FROM ${source === undefined ? '' : `${source}, `}objects(${messages}) AS message WHERE ${messages}::text IS NOT NULL
    ON CONFLICT DO NOTHING`;
}

/** Returns the value of the parameter `messages`; null if there are none. */
export function listMessages(messages: readonly NewOutboxMessage[]): string | null {
  return messages.length === 0
    ? null
    : JSON.stringify(messages.map((message) => ({ ...message, body: JSON.stringify(message.body) })));
}

const FIND_INSTALLATION = 'SELECT id FROM installation WHERE number = 1';
const CREATE_INSTALLATION = 'INSERT INTO installation (number, id) VALUES (1, $1) ON CONFLICT DO NOTHING';

const IS_DUE = `
  state IN ('waiting', 'sending') AND CASE WHEN state = 'waiting' THEN due_at ELSE coalesce(lease_until, 0) END`;

const FIND_DUE = `SELECT 1 AS found FROM outbox INDEXED BY outbox_open WHERE ${IS_DUE} <= $1 LIMIT 1`;

/** Only the oldest message per issue and sink is claimed, so comments are delivered one at a time and in order. */
export const CLAIM = `
  UPDATE outbox SET state = 'sending', tries = tries + 1, worker_id = $1, lease_until = $2 WHERE seq = ANY (ARRAY(
    SELECT seq FROM outbox AS message INDEXED BY outbox_open
    WHERE ${IS_DUE} <= $3
      AND ($4::text IS NULL OR sink IN (SELECT wanted.value FROM each($4) AS wanted))
      AND NOT EXISTS (
        SELECT 1 FROM outbox AS older
        WHERE older.sink = message.sink AND older.issue_ref = message.issue_ref
          AND older.state IN ('waiting', 'sending') AND older.seq < message.seq)
    ORDER BY seq LIMIT $5 FOR UPDATE SKIP LOCKED))
  RETURNING *`;

const DELIVER = `
  UPDATE outbox SET state = 'delivered', delivered_to = $1, lease_until = NULL
  WHERE id = $2 AND worker_id = $3 AND state = 'sending'`;

const FAIL = `
  UPDATE outbox SET state = $1, due_at = coalesce($2, due_at), last_error = $3, lease_until = NULL
  WHERE id = $4 AND worker_id = $5 AND state = 'sending'`;

/** The first condition repeats the index's condition: SQLite does not infer it from the second. */
export const RECORD_STRANDED = `
  UPDATE outbox SET last_error = $1 WHERE seq = ANY (ARRAY(
    SELECT seq FROM outbox INDEXED BY outbox_open
    WHERE state IN ('waiting', 'sending') AND state = 'waiting' AND due_at <= $2 AND last_error IS DISTINCT FROM $1
      AND sink NOT IN (SELECT known.value FROM each($3) AS known)
    ORDER BY seq LIMIT $4 FOR UPDATE SKIP LOCKED))
  RETURNING sink`;

const REDELIVER_ONE = `
  UPDATE outbox SET state = 'waiting', tries = 1, due_at = $1 WHERE id = $2 AND state IN ('dead', 'waiting')`;

/** Uses the index by state twice: for dead and for waiting messages. */
export const REDELIVER_ALL = `
  UPDATE outbox SET state = 'waiting', tries = 1, due_at = $1 WHERE seq = ANY (ARRAY(
    SELECT seq FROM outbox INDEXED BY outbox_by_state
    WHERE state IN ('dead', 'waiting') AND sink = $2 ORDER BY seq LIMIT $3 FOR UPDATE SKIP LOCKED))`;

export const LIST_SINKS = `
  SELECT sink, count(*) FILTER (WHERE state <> 'dead') AS open, count(*) FILTER (WHERE state = 'dead') AS dead,
    min(created_at) AS oldest_at,
    (SELECT last_error FROM outbox AS failed
     WHERE failed.sink = undelivered.sink AND failed.state IN ('dead', 'waiting', 'sending') AND failed.last_error IS NOT NULL
     ORDER BY failed.seq DESC LIMIT 1) AS last_error
  FROM outbox AS undelivered INDEXED BY outbox_by_state WHERE state IN ('dead', 'waiting', 'sending')
  GROUP BY sink ORDER BY sink`;

function readSink(row: Row): SinkState {
  const [dead, lastError] = [readNumber(row, 'dead'), readJsonOrNull(row, 'last_error') as string | null];
  return {
    name: readText(row, 'sink'),
    open: readNumber(row, 'open'),
    dead,
    last_error: lastError,
    oldest_at: readTime(row, 'oldest_at'),
    state: dead > 0 ? 'broken' : lastError === null ? 'waiting' : 'failing',
  };
}

function readMessage(row: Row): OutboxMessage {
  return {
    id: readText(row, 'id'),
    sink: readText(row, 'sink'),
    issue_ref: readText(row, 'issue_ref'),
    trigger: readText(row, 'trigger_key'),
    body: readJson(row, 'body') as string,
    state: readText(row, 'state') as OutboxMessage['state'],
    tries: readNumber(row, 'tries'),
    due_at: readNumber(row, 'due_at'),
    lease_until: readNumberOrNull(row, 'lease_until'),
    last_error: readJsonOrNull(row, 'last_error') as string | null,
    delivered_to: readJsonOrNull(row, 'delivered_to') as string | null,
    created_at: readTime(row, 'created_at'),
  };
}

/** The maximum number of messages that one call of `redeliver` makes due. */
const MAX_REDELIVERED = 1000;
