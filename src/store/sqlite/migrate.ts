import {
  createIncompleteError,
  createMigratedError,
  createOutdatedError,
  createTooNewError,
  StoreError,
  TRANSFER_SCHEMA_VERSION,
} from '../store-error.js';
import { SCHEMA_STEPS, type SchemaStep, type SchemaDialect } from '../sql/schema.js';
import { createDamagedError } from './database-error.js';
import type { Connection } from './driver.js';

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

/** Selects the queued runs in the lane of a run. */
const IN_LANE = `
        FROM runs AS lane INDEXED BY runs_lanes
        WHERE lane.folder = NEW.folder AND lane.exclusive = NEW.exclusive AND lane.kind = NEW.kind
          AND lane.state = 'queued' AND lane.not_before = 0`;

const IS_AHEAD = `lane.seq <> NEW.seq
          AND (lane.priority > NEW.priority OR (lane.priority = NEW.priority AND lane.turn <= NEW.turn))`;

const TRIGGERS = `
  -- With the first number, finding events reads only the index.
  CREATE UNIQUE INDEX event_packs_by_position ON event_packs (run_id, protocol, attempt, last_seq, first_seq);

  CREATE TRIGGER add_to_queue AFTER INSERT ON runs WHEN NEW.state = 'queued' AND NEW.not_before = 0 BEGIN
    UPDATE runs SET parked_on = '*' WHERE seq = NEW.seq AND (
      EXISTS (SELECT 1 ${IN_LANE} AND lane.parked_on = '' AND ${IS_AHEAD})
      OR EXISTS (SELECT 1 ${IN_LANE} AND lane.parked_on > '*' AND ${IS_AHEAD}));
  END;
  -- The next run of the lane comes first. If its folder is in use now, it can be claimed on other hosts.
  CREATE TRIGGER leave_queue AFTER UPDATE OF state ON runs
  WHEN OLD.state = 'queued' AND NEW.state <> 'queued' AND OLD.parked_on <> '*' AND OLD.not_before = 0 BEGIN
    UPDATE runs SET parked_on = CASE WHEN NEW.state = 'running' AND NEW.exclusive = 1 THEN coalesce(NEW.host, '') ELSE '' END
    WHERE seq = (SELECT seq ${IN_LANE} AND lane.parked_on = '*' ORDER BY priority DESC, turn, seq LIMIT 1);
  END;
  CREATE TRIGGER leave_folder AFTER UPDATE OF state ON runs
  WHEN OLD.state IN ('running', 'waiting') AND NEW.state IN ('queued', 'ended') BEGIN
    DELETE FROM leases WHERE seq = NEW.seq;
    UPDATE runs SET parked_on = '' WHERE seq IN (
      SELECT seq FROM runs INDEXED BY runs_lanes
      WHERE folder = NEW.folder AND state = 'queued' AND not_before = 0
        AND parked_on > '*');
  END;

  CREATE TRIGGER end_run AFTER UPDATE OF state ON runs WHEN OLD.state <> 'ended' AND NEW.state = 'ended' BEGIN
    INSERT OR IGNORE INTO runs_to_count (seq) VALUES (NEW.seq);
  END;

  -- Words of three characters and more are found by their trigrams; searches check the text itself.
  CREATE VIRTUAL TABLE run_trigrams USING fts5(
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
  CREATE TRIGGER add_words AFTER INSERT ON run_words BEGIN
    INSERT INTO run_trigrams (rowid, words) VALUES (NEW.number, NEW.words);
  END;
  CREATE TRIGGER remove_words AFTER DELETE ON run_words BEGIN
    DELETE FROM run_trigrams WHERE rowid = OLD.number;
  END;

  CREATE TRIGGER budget_entries_added AFTER INSERT ON budget_entries WHEN ${isUsed('NEW')} BEGIN${ADD_USAGE}
  END;
  CREATE TRIGGER budget_entries_changed AFTER UPDATE ON budget_entries WHEN ${isUsed('OLD')} OR ${isUsed('NEW')} BEGIN${SUBTRACT_USAGE}${ADD_USAGE}
  END;
  CREATE TRIGGER budget_entries_removed AFTER DELETE ON budget_entries WHEN ${isUsed('OLD')} BEGIN${SUBTRACT_USAGE}
  END;`;

const SQLITE_SCHEMA: SchemaDialect = {
  seq: 'INTEGER PRIMARY KEY',
  text: 'TEXT',
  bigint: 'INTEGER',
  real: 'REAL',
  bytes: 'BLOB',
  table: ' STRICT',
  keyed: ' STRICT, WITHOUT ROWID',
  additions: TRIGGERS,
};

/** Marks a file as a Sluice database: "SLC1" in four bytes. */
const APPLICATION_ID = 0x53_4c_43_31;
/** The mark of unpublished versions, whose tables differ: "SLCE". */
const UNPUBLISHED_ID = 0x53_4c_43_45;

/** Migrates the tables, one transaction per step. A file of a newer version or another application is unchanged. */
export function migrate(connection: Connection, file: string, steps: readonly SchemaStep[] = SCHEMA_STEPS): void {
  checkOwner(connection, file);
  while (readVersion(connection, file, steps.length) < steps.length) {
    connection.exec('BEGIN IMMEDIATE');
    try {
      // Another process might have migrated first, so the version is read again under the lock.
      const version = readVersion(connection, file, steps.length);
      const step = steps[version];
      if (step !== undefined) {
        connection.exec(step(SQLITE_SCHEMA));
        connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
        connection.exec(`PRAGMA user_version = ${version + 1}`);
      }
      connection.exec('COMMIT');
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Creates a check, for use inside a write transaction, that no newer version has migrated the tables. */
export function createVersionCheck(connection: Connection, file: string, supported: number): () => void {
  const readSchemaVersion = connection.prepare('PRAGMA user_version');
  return () => {
    if (readSchemaVersion.get()?.['user_version'] !== supported) throw createMigratedError(`the database "${file}"`);
  };
}

/** Rejects another application's file, or an unknown schema version; changes nothing. */
export function checkVersion(connection: Connection, file: string): void {
  checkOwner(connection, file);
  readVersion(connection, file, SCHEMA_STEPS.length);
}

/** Rejects another application's file; changes nothing. */
function checkOwner(connection: Connection, file: string): void {
  const owner = connection.prepare('PRAGMA application_id').get()?.['application_id'];
  if (owner === APPLICATION_ID) return;
  if (owner === UNPUBLISHED_ID) throw createOutdatedError(`the database "${file}"`);
  const isEmpty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  // Read again, because another process might have created the tables meanwhile.
  if (isEmpty || connection.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID) return;
  throw new StoreError(
    'INVALID_STORE_URL',
    `Cannot open "${file}": it belongs to another application. Use another file.`,
  );
}

function readVersion(connection: Connection, file: string, supported: number): number {
  const version = Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
  // The version is negative or not a number: no migration starts from it.
  if (!(version >= 0)) throw createDamagedError(file, new Error(`invalid schema version ${version}`));
  if (version === TRANSFER_SCHEMA_VERSION) throw createIncompleteError(`the database "${file}"`);
  if (version > supported) throw createTooNewError(`the database "${file}"`, version, supported);
  return version;
}
