import { joinHistory, listUncounted, readInboxSample, splitHistory, sumInboxCounts } from '../inbox-roll-up.js';
import type { HistoryPart, InboxCounts, StoredItem } from '../inbox-roll-up.js';
import { groupBySlot, splitPeriod, sumCounts, toRunSlot } from '../roll-up.js';
import type { RunCounts, RunSample } from '../roll-up.js';
import type { RunDigest } from '../run-digest.js';
import type { Statistics } from '../statistics.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readInteger, readIntegerOrNull, readItem, readJson, readText, readTextOrNull } from './rows.js';

const SAMPLE = `
  digest.sequence, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at, ended_at`;

/**
 * Reads slots, runs that are not counted in their slots yet, and runs that ended after the last slot in one statement,
 * so no run is counted twice or missed while another process counts.
 */
const LIST_RUN_SLOTS = `
  SELECT slot.at, slot.engine AS engine, counts, NULL AS sequence, NULL AS outcome, NULL AS repair_level,
    NULL AS engine_version, NULL AS unknown_types, NULL AS unknown_fields, NULL AS usage, NULL AS started_at, NULL AS ended_at
  FROM json_each(?1) AS range CROSS JOIN run_slots AS slot
    ON slot.length = range.value ->> 'length' AND slot.at >= range.value ->> 'since' AND slot.at < range.value ->> 'until'
  UNION ALL
  SELECT NULL, engine, NULL, ${SAMPLE}
  FROM runs_to_count CROSS JOIN run_digests AS digest ON digest.sequence = runs_to_count.sequence
  WHERE ended_at >= ?2 AND ended_at < ?3
  UNION ALL
  SELECT NULL, engine, NULL, ${SAMPLE}
  FROM run_digests AS digest INDEXED BY run_digests_by_end WHERE ended_at >= ?3 AND ended_at < ?4`;

const LIST_TO_COUNT = `
  SELECT engine, ${SAMPLE}
  FROM (SELECT sequence FROM runs_to_count ORDER BY sequence LIMIT ?) AS ended
    CROSS JOIN run_digests AS digest ON digest.sequence = ended.sequence`;

/** Items whose opening or resolution is not counted in their slots yet. */
const TO_COUNT = `
  FROM inbox INDEXED BY inbox_to_count WHERE created_at IS NULL OR (resolution IS NOT NULL AND resolved_at IS NULL)`;

/**
 * Reads slots, items that are not counted yet, items of the period's last minute, and open items in one statement, so
 * no item is counted twice or missed while another process counts.
 */
const READ_INBOX_HISTORY = `
  SELECT 'slot' AS part, slot.at, counts, NULL AS item, NULL AS resolution, NULL AS created_at
  FROM json_each(?1) AS range CROSS JOIN inbox_slots AS slot
    ON slot.length = range.value ->> 'length' AND slot.at >= range.value ->> 'since' AND slot.at < range.value ->> 'until'
  UNION ALL
  SELECT 'new', NULL, NULL, item, resolution, created_at ${TO_COUNT}
  UNION ALL
  SELECT 'opened', NULL, NULL, item, resolution, created_at
  FROM inbox INDEXED BY inbox_by_creation WHERE created_at >= ?2 AND created_at < ?3
  UNION ALL
  SELECT 'resolved', NULL, NULL, item, resolution, created_at
  FROM inbox INDEXED BY inbox_by_resolution WHERE resolved_at >= ?2 AND resolved_at < ?3
  UNION ALL
  SELECT 'open', (SELECT count(*) FROM inbox INDEXED BY inbox_open WHERE resolution IS NULL), NULL, NULL, NULL, (
    SELECT created_at FROM inbox INDEXED BY inbox_open_by_creation WHERE resolution IS NULL AND created_at IS NOT NULL
    ORDER BY created_at LIMIT 1)`;

const LIST_ITEMS_TO_COUNT = `SELECT sequence, item, resolution, created_at ${TO_COUNT} ORDER BY sequence LIMIT ?`;

export const STATISTICS_STATEMENTS = {
  LIST_RUN_SLOTS,
  LIST_TO_COUNT,
  READ_INBOX_HISTORY,
  LIST_ITEMS_TO_COUNT,
} as const;

/** Creates the store's statistics methods. */
export function createStatistics(database: Database): Statistics {
  return { ...createRunStatistics(database), ...createInboxStatistics(database) };
}

function createRunStatistics(database: Database): Pick<Statistics, 'listRunSlots' | 'countEndedRuns'> {
  const listSlots = database.prepare(LIST_RUN_SLOTS);
  const anyToCount = database.prepare('SELECT 1 FROM runs_to_count LIMIT 1');
  const listToCount = database.prepare(LIST_TO_COUNT);
  const findSlot = database.prepare('SELECT counts FROM run_slots WHERE length = ? AND at = ? AND engine = ?');
  const putSlot = database.prepare('INSERT OR REPLACE INTO run_slots (length, at, engine, counts) VALUES (?, ?, ?, ?)');
  const markCounted = database.prepare('DELETE FROM runs_to_count WHERE sequence IN (SELECT value FROM json_each(?))');
  return {
    async listRunSlots(period) {
      const { ranges, coveredUntil } = splitPeriod(period);
      const rows = await database.read(() =>
        listSlots.all(JSON.stringify(ranges), period.since, coveredUntil, period.until),
      );
      return rows.flatMap((row) => {
        if (row['counts'] !== null) {
          const counts = readJson(row, 'counts') as RunCounts;
          return [{ at: readInteger(row, 'at'), engine: readText(row, 'engine'), counts }];
        }
        return readRunSample(row).map(toRunSlot);
      });
    },

    async countEndedRuns(limit) {
      if ((await database.read(() => anyToCount.get())) === undefined) return 0;
      return database.write(() => {
        const rows = listToCount.all(limit);
        for (const { length, at, engine, counts } of groupBySlot(rows.flatMap(readRunSample).map(toRunSlot))) {
          const row = findSlot.get(length, at, engine);
          const known = row === undefined ? [] : [readJson(row, 'counts') as RunCounts];
          putSlot.run(length, at, engine, JSON.stringify(sumCounts([...known, ...counts])));
        }
        markCounted.run(JSON.stringify(rows.map((row) => readInteger(row, 'sequence'))));
        return rows.length;
      });
    },
  };
}

function createInboxStatistics(database: Database): Pick<Statistics, 'readInboxHistory' | 'countInboxItems'> {
  const history = database.prepare(READ_INBOX_HISTORY);
  const anyToCount = database.prepare(`SELECT 1 ${TO_COUNT} LIMIT 1`);
  const listToCount = database.prepare(LIST_ITEMS_TO_COUNT);
  const findSlot = database.prepare('SELECT counts FROM inbox_slots WHERE length = ? AND at = ?');
  const putSlot = database.prepare('INSERT OR REPLACE INTO inbox_slots (length, at, counts) VALUES (?, ?, ?)');
  const markCounted = database.prepare('UPDATE inbox SET created_at = ?, resolved_at = ? WHERE sequence = ?');
  return {
    async readInboxHistory(period) {
      const { ranges, lastMinute } = splitHistory(period);
      const rows = await database.read(() => history.all(JSON.stringify(ranges), lastMinute.since, lastMinute.until));
      return joinHistory(rows.map(readPart), period.since);
    },

    async countInboxItems(limit) {
      if ((await database.read(() => anyToCount.get())) === undefined) return 0;
      return database.write(() => {
        const rows = listToCount.all(limit);
        for (const { length, at, counts } of groupBySlot(rows.map(readStored).flatMap(listUncounted))) {
          const row = findSlot.get(length, at);
          const known = row === undefined ? [] : [readJson(row, 'counts') as InboxCounts];
          putSlot.run(length, at, JSON.stringify(sumInboxCounts([...known, ...counts])));
        }
        for (const row of rows) {
          const { created_at: created, resolved_at: resolved } = readInboxSample(readItem(row));
          markCounted.run(created, resolved, readInteger(row, 'sequence'));
        }
        return rows.length;
      });
    },
  };
}

function readPart(row: SqlRow): HistoryPart {
  const part = readText(row, 'part') as HistoryPart['part'];
  if (part === 'slot') return { part, at: readInteger(row, 'at'), counts: readJson(row, 'counts') as InboxCounts };
  if (part === 'open') return { part, open: readInteger(row, 'at'), oldest: readIntegerOrNull(row, 'created_at') };
  return { part, ...readStored(row) };
}

function readStored(row: SqlRow): StoredItem {
  return { item: readItem(row), isOpeningCounted: row['created_at'] !== null };
}

/** Reads the sample of a run; empty if the run has no readable result. */
function readRunSample(row: SqlRow): RunSample[] {
  const outcome = readTextOrNull(row, 'outcome');
  const repairLevel = readTextOrNull(row, 'repair_level');
  if (outcome === null || repairLevel === null) return [];
  return [
    {
      engine: readText(row, 'engine'),
      outcome: outcome as RunDigest['outcome'],
      repair_level: repairLevel as RunDigest['repair_level'],
      engine_version: readTextOrNull(row, 'engine_version'),
      unknown_types: readInteger(row, 'unknown_types'),
      unknown_fields: readInteger(row, 'unknown_fields'),
      usage: readTextOrNull(row, 'usage') === null ? null : (readJson(row, 'usage') as RunDigest['usage']),
      started_at: readIntegerOrNull(row, 'started_at'),
      ended_at: readInteger(row, 'ended_at'),
    },
  ];
}
