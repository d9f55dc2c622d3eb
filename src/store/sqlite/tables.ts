import type { SchemaDialect } from '../sql/schema.js';

/** Builds the list of totals that a budget entry contributes to. */
const listScopes = (entry: 'OLD' | 'NEW'): string => `(
      SELECT 'day' AS scope, '' AS name
      UNION ALL SELECT 'caller', ${entry}.caller WHERE ${entry}.caller IS NOT NULL
      UNION ALL SELECT 'issue', ${entry}.issue_ref WHERE ${entry}.issue_ref IS NOT NULL)`;

const ADD_USAGE = `
    INSERT INTO budget_totals (scope, name, day, tokens, cost)
    SELECT scope, name, NEW.at / 86400000, NEW.tokens, NEW.cost FROM ${listScopes('NEW')} WHERE NEW.tokens > 0 OR NEW.cost > 0
    ON CONFLICT (scope, name, day, part) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost;`;

/** Only an update, so an old total that was deleted does not come back. */
const SUBTRACT_USAGE = `
    UPDATE budget_totals SET tokens = tokens - OLD.tokens, cost = cost - OLD.cost
    WHERE day = OLD.at / 86400000 AND (scope, name) IN ${listScopes('OLD')} AND (OLD.tokens > 0 OR OLD.cost > 0);`;

const isUsed = (entry: 'OLD' | 'NEW'): string => `${entry}.tokens > 0 OR ${entry}.cost > 0`;

/**
 * When a run leaves its folder or the queue, a trigger records the folder; the next claim unparks the first run of each of
 * its lanes (`queue.ts`).
 */
const TRIGGERS = `
  -- With the first number, finding events reads only the index.
  CREATE UNIQUE INDEX event_packs_by_position ON event_packs (run_id, protocol, attempt, last_seq, first_seq);

  CREATE TABLE folders_left (folder TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TRIGGER add_to_queue AFTER INSERT ON runs WHEN NEW.state = 'queued' AND NEW.not_before = 0 BEGIN
    UPDATE runs SET parked = 1 WHERE seq = NEW.seq AND (
      EXISTS (
        SELECT 1 FROM runs AS busy INDEXED BY runs_busy
        WHERE busy.folder = NEW.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR NEW.exclusive = 1))
      OR EXISTS (
        SELECT 1 FROM runs AS ahead INDEXED BY runs_ready_in_folder
        WHERE ahead.folder = NEW.folder AND ahead.state = 'queued' AND ahead.parked = 0 AND ahead.exclusive = NEW.exclusive
          AND ahead.worker_type IS NEW.worker_type AND ahead.priority >= NEW.priority AND ahead.not_before = 0
          AND ahead.seq <> NEW.seq));
  END;
  CREATE TRIGGER leave_folder AFTER UPDATE OF state ON runs
  WHEN OLD.state <> NEW.state AND NEW.state IN ('queued', 'ended') BEGIN
    INSERT OR IGNORE INTO folders_left (folder) SELECT NEW.folder WHERE EXISTS (
      SELECT 1 FROM runs INDEXED BY runs_parked WHERE folder = NEW.folder AND state = 'queued' AND parked = 1);
  END;

  CREATE TRIGGER budget_entries_added AFTER INSERT ON budget_entries WHEN ${isUsed('NEW')} BEGIN${ADD_USAGE}
  END;
  CREATE TRIGGER budget_entries_changed AFTER UPDATE ON budget_entries WHEN ${isUsed('OLD')} OR ${isUsed('NEW')} BEGIN${SUBTRACT_USAGE}${ADD_USAGE}
  END;
  CREATE TRIGGER budget_entries_removed AFTER DELETE ON budget_entries WHEN ${isUsed('OLD')} BEGIN${SUBTRACT_USAGE}
  END;`;

/** The tables in SQLite. */
export const SQLITE_SCHEMA: SchemaDialect = {
  seq: 'INTEGER PRIMARY KEY',
  text: 'TEXT',
  bigint: 'INTEGER',
  real: 'REAL',
  bytes: 'BLOB',
  table: ' STRICT',
  keyed: ' STRICT, WITHOUT ROWID',
  additions: TRIGGERS,
};
