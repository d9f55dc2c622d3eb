import { countRun, groupBySlot, splitSpan, sumCounts } from '../roll-up.js';
import type { RunCounts, RunFigure } from '../roll-up.js';
import type { RunDigest } from '../run-digest.js';
import { inboxFigures } from '../statistics.js';
import type { Statistics } from '../statistics.js';
import { readColumns, readItem } from './rows.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';

/** One process counts at a time; others have nothing to do then. */
const COUNT_LOCK = 758_425;

const FIGURE = `
  digest.seq, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at, ended_at`;

/**
 * Slots, runs that are not in their slots yet, and runs of the rest of the span: one statement, so that none is counted twice
 * or left out while another process counts.
 */
const LIST_RUN_SLOTS = `
  SELECT slot.at, slot.engine, counts, NULL::bigint AS seq, NULL::text AS outcome, NULL::text AS repair_level,
    NULL::text AS engine_version, NULL::integer AS unknown_types, NULL::integer AS unknown_fields, NULL::text AS usage,
    NULL::bigint AS started_at, NULL::bigint AS ended_at
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS range (length, since, until)
    CROSS JOIN LATERAL (
      SELECT * FROM sluice.run_slots
      WHERE run_slots.length = range.length AND run_slots.at >= range.since AND run_slots.at < range.until) AS slot
  UNION ALL
  SELECT NULL, engine, NULL, ${FIGURE}
  FROM sluice.runs_to_count JOIN sluice.run_digests AS digest ON digest.seq = runs_to_count.seq
  WHERE ended_at >= $4 AND ended_at < $5
  UNION ALL
  SELECT NULL, engine, NULL, ${FIGURE}
  FROM sluice.run_digests AS digest WHERE ended_at >= $5 AND ended_at < $6`;

const LIST_TO_COUNT = `
  SELECT engine, ${FIGURE}
  FROM (SELECT seq FROM sluice.runs_to_count ORDER BY seq LIMIT $1) AS ended
    JOIN sluice.run_digests AS digest ON digest.seq = ended.seq`;

const LIST_SLOTS = `
  SELECT length, at, engine, counts
  FROM sluice.run_slots JOIN unnest($1::integer[], $2::bigint[], $3::text[]) AS wanted (length, at, engine)
    USING (length, at, engine)`;

const PUT_SLOTS = `
  INSERT INTO sluice.run_slots (length, at, engine, counts)
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::text[])
  ON CONFLICT (length, at, engine) DO UPDATE SET counts = EXCLUDED.counts`;

const LIST_ITEMS = `
  (SELECT * FROM sluice.inbox ORDER BY seq DESC LIMIT $1)
  UNION ALL
  (SELECT * FROM sluice.inbox WHERE resolution IS NULL ORDER BY seq DESC LIMIT $1)`;

/** Figures over time. */
export function createStatistics({ database }: Context): Statistics {
  return {
    async listRunSlots(span) {
      const { ranges, rest } = splitSpan(span);
      const { rows } = await database.query(LIST_RUN_SLOTS, [
        ranges.map(({ length }) => length),
        ranges.map(({ since }) => since),
        ranges.map(({ until }) => until),
        span.since,
        rest,
        span.until,
      ]);
      return rows.flatMap((row) => {
        const { text, number, json } = readColumns(row);
        if (row['counts'] !== null) {
          return [{ at: number('at'), engine: text('engine'), counts: json('counts') as RunCounts }];
        }
        const figures = readFigure(row);
        return figures.map((figure) => ({ at: figure.ended_at, engine: figure.engine, counts: countRun(figure) }));
      });
    },

    async countEndedRuns(limit) {
      const { rows: found } = await database.query(`SELECT FROM sluice.runs_to_count ORDER BY seq LIMIT 1`);
      if (found.length === 0) return 0;
      return database.transaction(async (transaction) => count(transaction, limit));
    },

    async listInboxFigures(span) {
      const { rows } = await database.query(LIST_ITEMS, [span.limit]);
      const bySequence = new Map(rows.map((row) => [readColumns(row).number('seq'), row]));
      return inboxFigures([...bySequence.values()].map(readItem), span);
    },
  };
}

async function count(transaction: Queryable, limit: number): Promise<number> {
  const { rows: locked } = await transaction.query(`SELECT pg_try_advisory_xact_lock($1) AS alone`, [COUNT_LOCK]);
  if (!readColumns(locked[0] ?? {}).flag('alone')) return 0;
  const { rows } = await transaction.query(LIST_TO_COUNT, [limit]);
  const slots = groupBySlot(rows.flatMap(readFigure));
  const keys = [slots.map(({ length }) => length), slots.map(({ at }) => at), slots.map(({ engine }) => engine)];
  const { rows: stored } = await transaction.query(LIST_SLOTS, keys);
  const known = new Map(
    stored.map((row) => {
      const { number, text, json } = readColumns(row);
      return [`${number('length')} ${number('at')} ${text('engine')}`, json('counts') as RunCounts] as const;
    }),
  );
  const sums = slots.map(({ length, at, engine, counts }) => {
    const before = known.get(`${length} ${at} ${engine}`);
    return JSON.stringify(sumCounts(before === undefined ? counts : [before, ...counts]));
  });
  await transaction.query(PUT_SLOTS, [...keys, sums]);
  await transaction.query(`DELETE FROM sluice.runs_to_count WHERE seq = ANY ($1::bigint[])`, [
    rows.map((row) => readColumns(row).number('seq')),
  ]);
  return rows.length;
}

/** The figures of a digest; none if its run has no readable result. */
function readFigure(row: Row): RunFigure[] {
  const { text, textOrNull, number, numberOrNull, json } = readColumns(row);
  const outcome = textOrNull('outcome');
  const repairLevel = textOrNull('repair_level');
  if (outcome === null || repairLevel === null) return [];
  return [
    {
      engine: text('engine'),
      outcome: outcome as RunDigest['outcome'],
      repair_level: repairLevel as RunDigest['repair_level'],
      engine_version: textOrNull('engine_version'),
      unknown_types: number('unknown_types'),
      unknown_fields: number('unknown_fields'),
      usage: textOrNull('usage') === null ? null : (json('usage') as RunDigest['usage']),
      started_at: numberOrNull('started_at'),
      ended_at: number('ended_at'),
    },
  ];
}
