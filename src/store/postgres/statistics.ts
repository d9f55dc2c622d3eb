import type { RunDigest } from '../run-digest.js';
import { inboxFigures } from '../statistics.js';
import type { RunFigure, Statistics } from '../statistics.js';
import { readColumns, readItem } from './rows.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';

const LIST_RUN_FIGURES = `
  SELECT engine, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at,
    ended_at
  FROM sluice.run_digests WHERE ended_at >= $1 AND ended_at < $2 ORDER BY ended_at DESC, seq DESC LIMIT $3`;

const LIST_ITEMS = `
  (SELECT * FROM sluice.inbox ORDER BY seq DESC LIMIT $1)
  UNION ALL
  (SELECT * FROM sluice.inbox WHERE resolution IS NULL ORDER BY seq DESC LIMIT $1)`;

/** Figures over time. */
export function createStatistics({ database }: Context): Statistics {
  return {
    async listRunFigures({ since, until, limit }) {
      const { rows } = await database.query(LIST_RUN_FIGURES, [since, until, limit]);
      return rows.map(readFigure);
    },

    async listInboxFigures(span) {
      const { rows } = await database.query(LIST_ITEMS, [span.limit]);
      const bySequence = new Map(rows.map((row) => [readColumns(row).number('seq'), row]));
      return inboxFigures([...bySequence.values()].map(readItem), span);
    },
  };
}

function readFigure(row: Row): RunFigure {
  const { text, textOrNull, number, numberOrNull, json } = readColumns(row);
  return {
    engine: text('engine'),
    outcome: text('outcome') as RunDigest['outcome'],
    repair_level: text('repair_level') as RunDigest['repair_level'],
    engine_version: textOrNull('engine_version'),
    unknown_types: number('unknown_types'),
    unknown_fields: number('unknown_fields'),
    usage: textOrNull('usage') === null ? null : (json('usage') as RunDigest['usage']),
    started_at: numberOrNull('started_at'),
    ended_at: number('ended_at'),
  };
}
