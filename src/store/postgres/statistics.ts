import { joinHistory, listUncounted, readInboxSample, splitHistory, sumInboxCounts } from '../inbox-roll-up.js';
import type { HistoryPart, InboxCounts, StoredItem } from '../inbox-roll-up.js';
import { groupBySlot, splitPeriod, sumCounts, toRunSlot } from '../roll-up.js';
import type { RunCounts, RunSample } from '../roll-up.js';
import type { RunDigest } from '../run-digest.js';
import type { Statistics } from '../statistics.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { readColumns, readItem } from './rows.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';

const SAMPLE = `
  digest.seq, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at, ended_at`;

/**
 * Reads slots, runs that are not counted in their slots yet, and runs that ended after the last slot in one statement,
 * so no run is counted twice or missed while another process counts. `OFFSET 0` makes the planner look up each range in
 * the index; with multiple ranges it would otherwise read all slots.
 */
const LIST_RUN_SLOTS = `
  SELECT slot.at, slot.engine, counts, NULL::bigint AS seq, NULL::text AS outcome, NULL::text AS repair_level,
    NULL::text AS engine_version, NULL::integer AS unknown_types, NULL::integer AS unknown_fields, NULL::text AS usage,
    NULL::bigint AS started_at, NULL::bigint AS ended_at
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS range (length, since, until)
    CROSS JOIN LATERAL (
      SELECT * FROM sluice.run_slots
      WHERE run_slots.length = range.length AND run_slots.at >= range.since AND run_slots.at < range.until OFFSET 0) AS slot
  UNION ALL
  SELECT NULL, engine, NULL, ${SAMPLE}
  FROM sluice.runs_to_count JOIN sluice.run_digests AS digest ON digest.seq = runs_to_count.seq
  WHERE ended_at >= $4 AND ended_at < $5
  UNION ALL
  SELECT NULL, engine, NULL, ${SAMPLE}
  FROM sluice.run_digests AS digest WHERE ended_at >= $5 AND ended_at < $6`;

const LIST_TO_COUNT = `
  SELECT engine, ${SAMPLE}
  FROM (SELECT seq FROM sluice.runs_to_count ORDER BY seq LIMIT $1) AS ended
    JOIN sluice.run_digests AS digest ON digest.seq = ended.seq`;

const RUN_SLOTS = {
  list: `
    SELECT place, counts
    FROM unnest($1::integer[], $2::bigint[], $3::text[]) WITH ORDINALITY AS wanted (length, at, engine, place)
      JOIN sluice.run_slots USING (length, at, engine)`,
  put: `
    INSERT INTO sluice.run_slots (length, at, engine, counts)
    SELECT * FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::text[])
    ON CONFLICT (length, at, engine) DO UPDATE SET counts = EXCLUDED.counts`,
} as const;

const INBOX_SLOTS = {
  list: `
    SELECT place, counts FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS wanted (length, at, place)
      JOIN sluice.inbox_slots USING (length, at)`,
  put: `
    INSERT INTO sluice.inbox_slots (length, at, counts) SELECT * FROM unnest($1::integer[], $2::bigint[], $3::text[])
    ON CONFLICT (length, at) DO UPDATE SET counts = EXCLUDED.counts`,
} as const;

/** Items whose opening or resolution is not counted in their slots yet. */
const TO_COUNT = `FROM sluice.inbox WHERE created_at IS NULL OR (resolution IS NOT NULL AND resolved_at IS NULL)`;

/**
 * Reads slots, items that are not counted yet, items of the period's last minute, and open items in one statement, so
 * no item is counted twice or missed while another process counts.
 */
const READ_INBOX_HISTORY = `
  SELECT 'slot' AS part, slot.at, counts, NULL::text AS item, NULL::text AS resolution, NULL::bigint AS created_at
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS range (length, since, until)
    CROSS JOIN LATERAL (
      SELECT * FROM sluice.inbox_slots
      WHERE inbox_slots.length = range.length AND inbox_slots.at >= range.since AND inbox_slots.at < range.until OFFSET 0) AS slot
  UNION ALL
  SELECT 'new', NULL, NULL, item, resolution, created_at ${TO_COUNT}
  UNION ALL
  SELECT 'opened', NULL, NULL, item, resolution, created_at FROM sluice.inbox WHERE created_at >= $4 AND created_at < $5
  UNION ALL
  SELECT 'resolved', NULL, NULL, item, resolution, created_at FROM sluice.inbox WHERE resolved_at >= $4 AND resolved_at < $5
  UNION ALL
  SELECT 'open', (SELECT count(*) FROM sluice.inbox WHERE resolution IS NULL), NULL, NULL, NULL, (
    SELECT created_at FROM sluice.inbox WHERE resolution IS NULL AND created_at IS NOT NULL ORDER BY created_at LIMIT 1)`;

/** Skips items that are being resolved, so neither transaction waits for the other. */
const LIST_ITEMS_TO_COUNT = `SELECT seq, item, resolution, created_at ${TO_COUNT} ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED`;

const MARK_ITEMS = `
  UPDATE sluice.inbox SET created_at = counted.created_at, resolved_at = counted.resolved_at
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS counted (seq, created_at, resolved_at)
  WHERE inbox.seq = counted.seq`;

/** Creates the store's statistics methods. */
export function createStatistics(context: Context): Statistics {
  return { ...createRunStatistics(context), ...createInboxStatistics(context) };
}

function createRunStatistics({ database }: Context): Pick<Statistics, 'listRunSlots' | 'countEndedRuns'> {
  return {
    async listRunSlots(period) {
      const { ranges, coveredUntil } = splitPeriod(period);
      const { rows } = await database.query(LIST_RUN_SLOTS, [
        ranges.map(({ length }) => length),
        ranges.map(({ since }) => since),
        ranges.map(({ until }) => until),
        period.since,
        coveredUntil,
        period.until,
      ]);
      return rows.flatMap((row) => {
        const { text, number, json } = readColumns(row);
        if (row['counts'] !== null) {
          return [{ at: number('at'), engine: text('engine'), counts: json('counts') as RunCounts }];
        }
        return readRunSample(row).map(toRunSlot);
      });
    },

    async countEndedRuns(limit) {
      const { rows: found } = await database.query(`SELECT FROM sluice.runs_to_count ORDER BY seq LIMIT 1`);
      if (found.length === 0) return 0;
      return database.transaction(async (transaction) => countRuns(transaction, limit));
    },
  };
}

function createInboxStatistics({ database }: Context): Pick<Statistics, 'readInboxHistory' | 'countInboxItems'> {
  return {
    async readInboxHistory(period) {
      const { ranges, lastMinute } = splitHistory(period);
      const { rows } = await database.query(READ_INBOX_HISTORY, [
        ranges.map(({ length }) => length),
        ranges.map(({ since }) => since),
        ranges.map(({ until }) => until),
        lastMinute.since,
        lastMinute.until,
      ]);
      return joinHistory(rows.map(readPart), period.since);
    },

    async countInboxItems(limit) {
      const { rows: found } = await database.query(`SELECT ${TO_COUNT} ORDER BY seq LIMIT 1`);
      if (found.length === 0) return 0;
      return database.transaction(async (transaction) => countItems(transaction, limit));
    },
  };
}

async function countItems(transaction: Queryable, limit: number): Promise<number> {
  if (!(await lockCounting(transaction))) return 0;
  const { rows } = await transaction.query(LIST_ITEMS_TO_COUNT, [limit]);
  const slots = groupBySlot(rows.map(readStored).flatMap(listUncounted));
  const keys = [slots.map(({ length }) => length), slots.map(({ at }) => at)];
  await addToSlots(transaction, INBOX_SLOTS, { keys, added: slots.map(({ counts }) => counts), sum: sumInboxCounts });
  const samples = rows.map((row) => readInboxSample(readItem(row)));
  await transaction.query(MARK_ITEMS, [
    rows.map((row) => readColumns(row).number('seq')),
    samples.map(({ created_at: created }) => created),
    samples.map(({ resolved_at: resolved }) => resolved),
  ]);
  return rows.length;
}

/** Adds counts to slots. `keys` has an array per key column, and `added` the counts per slot. */
async function addToSlots<Counts>(
  transaction: Queryable,
  { list, put }: { readonly list: string; readonly put: string },
  {
    keys,
    added,
    sum,
  }: {
    readonly keys: readonly (readonly unknown[])[];
    readonly added: readonly (readonly Counts[])[];
    readonly sum: (all: Iterable<Counts>) => Counts;
  },
): Promise<void> {
  const { rows } = await transaction.query(list, keys);
  const countsBySlot = added.map((counts) => [...counts]);
  for (const row of rows) {
    const { number, json } = readColumns(row);
    countsBySlot[number('place') - 1]?.unshift(json('counts') as Counts);
  }
  await transaction.query(put, [...keys, countsBySlot.map((counts) => JSON.stringify(sum(counts)))]);
}

function readPart(row: Row): HistoryPart {
  const { text, number, numberOrNull, json } = readColumns(row);
  const part = text('part') as HistoryPart['part'];
  if (part === 'slot') return { part, at: number('at'), counts: json('counts') as InboxCounts };
  if (part === 'open') return { part, open: number('at'), oldest: numberOrNull('created_at') };
  return { part, ...readStored(row) };
}

function readStored(row: Row): StoredItem {
  return { item: readItem(row), isOpeningCounted: row['created_at'] !== null };
}

/** Whether this process may count. If so, no other process counts until the end of the transaction. */
async function lockCounting(transaction: Queryable): Promise<boolean> {
  const { rows } = await transaction.query(`SELECT pg_try_advisory_xact_lock($1) AS alone`, [ADVISORY_LOCKS.counting]);
  return readColumns(rows[0] ?? {}).flag('alone');
}

async function countRuns(transaction: Queryable, limit: number): Promise<number> {
  if (!(await lockCounting(transaction))) return 0;
  const { rows } = await transaction.query(LIST_TO_COUNT, [limit]);
  const slots = groupBySlot(rows.flatMap(readRunSample).map(toRunSlot));
  const keys = [slots.map(({ length }) => length), slots.map(({ at }) => at), slots.map(({ engine }) => engine)];
  await addToSlots(transaction, RUN_SLOTS, { keys, added: slots.map(({ counts }) => counts), sum: sumCounts });
  await transaction.query(`DELETE FROM sluice.runs_to_count WHERE seq = ANY ($1::bigint[])`, [
    rows.map((row) => readColumns(row).number('seq')),
  ]);
  return rows.length;
}

/** Reads the sample of a run; empty if the run has no readable result. */
function readRunSample(row: Row): RunSample[] {
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
