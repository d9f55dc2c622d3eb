import { getPosition } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { readEventRange } from '../../runs/index.js';
import type { WatchableEventLog } from '../../runs/index.js';
import { readColumns } from './rows.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';

interface EventRow {
  readonly runId: string;
  readonly protocol: Emitted['protocol'];
  readonly attempt: number;
  readonly seq: number;
  readonly text: string;
}

interface Waiting {
  readonly rows: readonly EventRow[];
  /** Characters of all texts. */
  readonly size: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Limits the size of one statement, in characters. */
const LARGEST_BATCH = 4 * 1024 * 1024;

/**
 * The events of all runs. Events appended while a statement is in flight are batched into the next one: PostgreSQL
 * commits notifications one at a time, and two hundred runs would queue up.
 */
export function createEventLog({ database, notifications }: Context): WatchableEventLog {
  const waiting: Waiting[] = [];
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = takeBatch(waiting);
      try {
        await insertRows(
          database,
          batch.flatMap(({ rows }) => rows),
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return {
    append: async (runId, events) =>
      new Promise((resolve, reject) => {
        database.checkOpen();
        const rows = events.map((emitted) => toRow(runId, emitted));
        const size = rows.reduce((total, { text }) => total + text.length, 0);
        waiting.push({ rows, size, resolve, reject });
        if (!isWriting) void writeWaiting();
      }),

    async read(query) {
      const { after, to, limit } = readEventRange(query);
      const { protocol } = query;
      const { rows } = await database.query(
        `SELECT event FROM sluice.events
         WHERE run_id = $1 AND protocol = $2 AND (attempt, seq) > ($3, $4) AND (attempt, seq) <= ($5, $6)
         ORDER BY attempt, seq
         LIMIT $7`,
        [query.runId, protocol, after.attempt, after.seq, to.attempt, to.seq, limit],
      );
      return rows.map((row) => ({ protocol, event: readColumns(row).json('event') }) as Emitted);
    },

    watch(runId, wake) {
      database.checkOpen();
      return notifications.listen('sluice_events', runId, wake);
    },
  };
}

function toRow(runId: string, emitted: Emitted): EventRow {
  return { runId, protocol: emitted.protocol, ...getPosition(emitted), text: JSON.stringify(emitted.event) };
}

/** The oldest entries; at least one. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let total = 0;
  const end = waiting.findIndex(({ size }, index) => (total += size) > LARGEST_BATCH && index > 0);
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

/** One statement is one transaction: a reader that is notified finds the events. */
async function insertRows(database: Queryable, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  await database.query(
    `WITH added AS (
       INSERT INTO sluice.events (run_id, protocol, attempt, seq, event)
       SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::text[])
       ON CONFLICT DO NOTHING
       RETURNING run_id
     )
     SELECT pg_notify('sluice_events', run_id) FROM added GROUP BY run_id`,
    [
      rows.map(({ runId }) => runId),
      rows.map(({ protocol }) => protocol),
      rows.map(({ attempt }) => attempt),
      rows.map(({ seq }) => seq),
      rows.map(({ text }) => text),
    ],
  );
}
