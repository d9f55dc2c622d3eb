import { countRun, groupBySlot, splitSpan, sumCounts } from '../roll-up.js';
import type { RunCounts, RunFigure } from '../roll-up.js';
import type { RunDigest } from '../run-digest.js';
import { inboxFigures } from '../statistics.js';
import type { Statistics } from '../statistics.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readInteger, readIntegerOrNull, readItem, readJson, readText, readTextOrNull } from './rows.js';

const FIGURE = `
  digest.sequence, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at, ended_at`;

/**
 * Slots, runs that are not in their slots yet, and runs of the rest of the span: one statement, so that none is counted twice
 * or left out while another process counts.
 */
const LIST_RUN_SLOTS = `
  SELECT slot.at, slot.engine AS engine, counts, NULL AS sequence, NULL AS outcome, NULL AS repair_level,
    NULL AS engine_version, NULL AS unknown_types, NULL AS unknown_fields, NULL AS usage, NULL AS started_at, NULL AS ended_at
  FROM json_each(?1) AS range CROSS JOIN run_slots AS slot
    ON slot.length = range.value ->> 'length' AND slot.at >= range.value ->> 'since' AND slot.at < range.value ->> 'until'
  UNION ALL
  SELECT NULL, engine, NULL, ${FIGURE}
  FROM runs_to_count CROSS JOIN run_digests AS digest ON digest.sequence = runs_to_count.sequence
  WHERE ended_at >= ?2 AND ended_at < ?3
  UNION ALL
  SELECT NULL, engine, NULL, ${FIGURE}
  FROM run_digests AS digest INDEXED BY run_digests_by_end WHERE ended_at >= ?3 AND ended_at < ?4`;

const LIST_TO_COUNT = `
  SELECT engine, ${FIGURE}
  FROM (SELECT sequence FROM runs_to_count ORDER BY sequence LIMIT ?) AS ended
    CROSS JOIN run_digests AS digest ON digest.sequence = ended.sequence`;

const LIST_RECENT_ITEMS = 'SELECT * FROM inbox ORDER BY sequence DESC LIMIT ?';
const LIST_OPEN_ITEMS = 'SELECT * FROM inbox WHERE resolution IS NULL ORDER BY sequence DESC LIMIT ?';

export const STATISTICS_STATEMENTS = { LIST_RUN_SLOTS, LIST_TO_COUNT, LIST_RECENT_ITEMS, LIST_OPEN_ITEMS } as const;

/** Figures over time. */
export function createStatistics(database: Database): Statistics {
  const listSlots = database.prepare(LIST_RUN_SLOTS);
  const anyToCount = database.prepare('SELECT 1 FROM runs_to_count LIMIT 1');
  const listToCount = database.prepare(LIST_TO_COUNT);
  const findSlot = database.prepare('SELECT counts FROM run_slots WHERE length = ? AND at = ? AND engine = ?');
  const putSlot = database.prepare('INSERT OR REPLACE INTO run_slots (length, at, engine, counts) VALUES (?, ?, ?, ?)');
  const markCounted = database.prepare('DELETE FROM runs_to_count WHERE sequence IN (SELECT value FROM json_each(?))');
  const recent = database.prepare(LIST_RECENT_ITEMS);
  const open = database.prepare(LIST_OPEN_ITEMS);
  return {
    async listRunSlots(span) {
      const { ranges, rest } = splitSpan(span);
      const rows = await database.read(() => listSlots.all(JSON.stringify(ranges), span.since, rest, span.until));
      return rows.flatMap((row) => {
        if (row['counts'] !== null) {
          const counts = readJson(row, 'counts') as RunCounts;
          return [{ at: readInteger(row, 'at'), engine: readText(row, 'engine'), counts }];
        }
        const figures = readFigure(row);
        return figures.map((figure) => ({ at: figure.ended_at, engine: figure.engine, counts: countRun(figure) }));
      });
    },

    async countEndedRuns(limit) {
      if ((await database.read(() => anyToCount.get())) === undefined) return 0;
      return database.write(() => {
        const rows = listToCount.all(limit);
        for (const { length, at, engine, counts } of groupBySlot(rows.flatMap(readFigure))) {
          const row = findSlot.get(length, at, engine);
          const known = row === undefined ? [] : [readJson(row, 'counts') as RunCounts];
          putSlot.run(length, at, engine, JSON.stringify(sumCounts([...known, ...counts])));
        }
        markCounted.run(JSON.stringify(rows.map((row) => readInteger(row, 'sequence'))));
        return rows.length;
      });
    },

    listInboxFigures: async (span) =>
      database.read(() => {
        const rows = [...recent.all(span.limit), ...open.all(span.limit)];
        const bySequence = new Map(rows.map((row) => [readInteger(row, 'sequence'), row]));
        return inboxFigures([...bySequence.values()].map(readItem), span);
      }),
  };
}

/** The figures of a digest; none if its run has no readable result. */
function readFigure(row: SqlRow): RunFigure[] {
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
