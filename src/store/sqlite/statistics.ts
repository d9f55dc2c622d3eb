import { setImmediate } from 'node:timers/promises';
import type { RunDigest } from '../run-digest.js';
import { inboxFigures } from '../statistics.js';
import type { RunFigure, Statistics } from '../statistics.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readInteger, readIntegerOrNull, readItem, readJson, readText, readTextOrNull } from './rows.js';

/** The index covers the query; the digests themselves are not read. */
const LIST_RUN_FIGURES = `
  SELECT sequence, engine, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at,
    ended_at
  FROM run_digests WHERE ended_at >= ? AND (ended_at, sequence) < (?, ?)
  ORDER BY ended_at DESC, sequence DESC LIMIT ?`;

/** Reading blocks the event loop: this many rows take a few milliseconds, then other work continues. */
const ROWS_AT_ONCE = 2000;

const LIST_RECENT_ITEMS = 'SELECT * FROM inbox ORDER BY sequence DESC LIMIT ?';
const LIST_OPEN_ITEMS = 'SELECT * FROM inbox WHERE resolution IS NULL ORDER BY sequence DESC LIMIT ?';

export const STATISTICS_STATEMENTS = { LIST_RUN_FIGURES, LIST_RECENT_ITEMS, LIST_OPEN_ITEMS } as const;

/** Figures over time. */
export function createStatistics(database: Database): Statistics {
  const runs = database.prepare(LIST_RUN_FIGURES);
  const recent = database.prepare(LIST_RECENT_ITEMS);
  const open = database.prepare(LIST_OPEN_ITEMS);
  return {
    async listRunFigures({ since, until, limit }) {
      const figures: RunFigure[] = [];
      let before = { endedAt: until, sequence: 0 };
      while (figures.length < limit) {
        const size = Math.min(ROWS_AT_ONCE, limit - figures.length);
        const rows = await database.read(() => runs.all(since, before.endedAt, before.sequence, size));
        for (const row of rows) figures.push(readFigure(row));
        const last = rows.at(-1);
        if (last === undefined || rows.length < size) break;
        before = { endedAt: readInteger(last, 'ended_at'), sequence: readInteger(last, 'sequence') };
        await setImmediate();
      }
      return figures;
    },

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
    usage: readTextOrNull(row, 'usage') === null ? null : (readJson(row, 'usage') as RunDigest['usage']),
    started_at: readIntegerOrNull(row, 'started_at'),
    ended_at: readInteger(row, 'ended_at'),
  };
}
