import type { Emitted } from '../../events/index.js';
import type { WatchableEventLog } from '../../runs/ports/event-log.js';
import { positionOf, readRange } from '../event-position.js';
import { columnsOf } from './columns.js';
import type { Context } from './context.js';

/** The events of all runs, each protocol of a run in its order. */
export function createEventLog({ database, notifications }: Context): WatchableEventLog {
  return {
    async append(runId, events) {
      const positions = events.map(positionOf);
      // One statement is one transaction: who hears of the events finds them.
      await database.query(
        `WITH added AS (
           INSERT INTO sluice.events (run_id, protocol, attempt, seq, event)
           SELECT $1, * FROM unnest($2::text[], $3::integer[], $4::integer[], $5::text[])
           ON CONFLICT DO NOTHING
           RETURNING true
         )
         SELECT pg_notify('sluice_events', $1) FROM added LIMIT 1`,
        [
          runId,
          events.map(({ protocol }) => protocol),
          positions.map(({ attempt }) => attempt),
          positions.map(({ seq }) => seq),
          events.map(({ event }) => JSON.stringify(event)),
        ],
      );
    },

    async read(query) {
      const { after, to, limit } = readRange(query);
      const { protocol } = query;
      const { rows } = await database.query(
        `SELECT event FROM sluice.events
         WHERE run_id = $1 AND protocol = $2 AND (attempt, seq) > ($3, $4) AND (attempt, seq) <= ($5, $6)
         ORDER BY attempt, seq
         LIMIT $7`,
        [query.runId, protocol, after.attempt, after.seq, to.attempt, to.seq, limit],
      );
      return rows.map((row) => ({ protocol, event: columnsOf(row).json('event') }) as Emitted);
    },

    watch(runId, wake) {
      database.checkOpen();
      return notifications.listen('sluice_events', runId, wake);
    },
  };
}
