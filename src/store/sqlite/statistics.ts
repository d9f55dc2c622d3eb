import type { RunDigest } from '../run-digest.js';
import { inboxFigures } from '../statistics.js';
import type { RunFigure, Statistics } from '../statistics.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readItem } from './resolve-item.js';
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from './row-reader.js';

const LIST_RUN_FIGURES = `
  SELECT engine, outcome, repair_level, engine_version, unknown_types, unknown_fields, started_at, ended_at
  FROM run_digests WHERE ended_at >= ? AND ended_at < ? ORDER BY ended_at DESC, sequence DESC LIMIT ?`;

const LIST_RECENT_ITEMS = 'SELECT * FROM inbox ORDER BY sequence DESC LIMIT ?';
const LIST_OPEN_ITEMS = 'SELECT * FROM inbox WHERE resolution IS NULL ORDER BY sequence DESC LIMIT ?';

export const STATISTICS_STATEMENTS = { LIST_RUN_FIGURES, LIST_RECENT_ITEMS, LIST_OPEN_ITEMS } as const;

/** What figures over time are made from. */
export function createStatistics(database: Database): Statistics {
  const runs = database.prepare(LIST_RUN_FIGURES);
  const recent = database.prepare(LIST_RECENT_ITEMS);
  const open = database.prepare(LIST_OPEN_ITEMS);
  return {
    listRunFigures: async ({ since, until, limit }) =>
      database.read(() => runs.all(since, until, limit).map(readFigure)),

    listInboxFigures: async (span) =>
      database.read(() => {
        const rows = [...recent.all(span.limit), ...open.all(span.limit)];
        const bySequence = new Map(rows.map((row) => [readInteger(row, 'sequence'), row]));
        return inboxFigures([...bySequence.values()].map(readItem), span);
      }),
  };
}

function readFigure(row: SqlRow): RunFigure {
  return {
    engine: readText(row, 'engine'),
    outcome: readText(row, 'outcome') as RunDigest['outcome'],
    repair_level: readText(row, 'repair_level') as RunDigest['repair_level'],
    engine_version: readTextOrNull(row, 'engine_version'),
    unknown_types: readInteger(row, 'unknown_types'),
    unknown_fields: readInteger(row, 'unknown_fields'),
    started_at: readIntegerOrNull(row, 'started_at'),
    ended_at: readInteger(row, 'ended_at'),
  };
}
