import { BUDGET_TOTALS } from './budget-totals.js';
import { FIRST_TABLES } from './first-tables.js';
import { ONE_CLAIM } from './one-claim.js';
import { DEFERRED_RUNS, QUEUE_STEP } from './queue-step.js';

/**
 * The steps from an empty file to the current schema version; each runs once, in a separate transaction. Steps are
 * added, never changed. Times are milliseconds since 1970. Text from users or agents is stored as JSON, because SQLite
 * truncates plain text at its first NUL.
 */
export const MIGRATIONS: readonly string[] = [
  FIRST_TABLES,
  // Retention: runs whose events were deleted, in the order they ended, and when a result was cached.
  `
  ALTER TABLE runs ADD COLUMN forgotten_at INTEGER;
  CREATE INDEX runs_by_end ON runs (ended_at, sequence) WHERE state = 'ended';
  CREATE INDEX runs_kept ON runs (ended_at) WHERE state = 'ended' AND forgotten_at IS NULL;
  ALTER TABLE results ADD COLUMN kept_at INTEGER NOT NULL DEFAULT 0;
  `,
  // Searching and counting: run fields that are scanned by the thousand, separate from spec and result.
  `
  CREATE TABLE run_digests (
    sequence INTEGER PRIMARY KEY REFERENCES runs (sequence),
    engine TEXT NOT NULL,
    outcome TEXT,
    repair_level TEXT,
    engine_version TEXT,
    unknown_types INTEGER NOT NULL DEFAULT 0,
    unknown_fields INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    words TEXT NOT NULL
  ) STRICT;
  CREATE INDEX run_digests_by_end ON run_digests (
    ended_at, sequence, engine, outcome, repair_level, engine_version, unknown_types, unknown_fields, started_at
  ) WHERE ended_at IS NOT NULL;
  INSERT INTO run_digests (sequence, engine, outcome, repair_level, created_at, started_at, ended_at, words)
    SELECT sequence, engine,
      CASE WHEN json_valid(result) THEN result ->> '$.status' END,
      CASE WHEN json_valid(result) THEN result ->> '$.repair_level' END,
      created_at, started_at, ended_at,
      lower(substr(id || char(10) || coalesce(order_issue_ref, '') || char(10) || spec, 1, 5000))
    FROM runs;
  `,
  // Executions are listed by time with every filter, and an issue's orders in submission order.
  `
  DROP INDEX executions_by_issue;
  DROP INDEX executions_by_run;
  DROP INDEX executions_by_worker;
  DROP INDEX executions_by_decision;
  DROP INDEX executions_by_time;
  CREATE INDEX executions_by_issue ON executions (issue_ref, at, sequence);
  CREATE INDEX executions_by_run ON executions (run_id, at, sequence);
  CREATE INDEX executions_by_worker ON executions (worker, at, sequence);
  CREATE INDEX executions_by_decision ON executions (decision, at, sequence);
  CREATE INDEX executions_by_time ON executions (at, sequence);
  CREATE INDEX orders_by_issue ON orders (issue_ref, sequence);
  `,
  // A repeated request returns the same run, as it returns the same order.
  `
  ALTER TABLE runs ADD COLUMN request_id TEXT;
  CREATE UNIQUE INDEX runs_by_request ON runs (request_id) WHERE request_id IS NOT NULL;
  `,
  // One claim for an order and its run: claim, lease, cancellation and folder belong to the run.
  ONE_CLAIM,
  // Workers report that they are alive.
  `
  CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    version TEXT NOT NULL,
    engines TEXT NOT NULL,
    capacity INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    stopping INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    alive_until INTEGER NOT NULL
  ) STRICT;
  `,
  // The commit an order started from, which claimed commits are compared with.
  `
  ALTER TABLE orders ADD COLUMN base_commit TEXT;
  `,
  // In a table without row ids, a search copies every large event it passes: two 5 MB lines slowed down all runs.
  `
  ALTER TABLE events RENAME TO events_without_row_ids;
  CREATE TABLE events (
    run_id TEXT NOT NULL,
    protocol TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL
  ) STRICT;
  INSERT INTO events (run_id, protocol, attempt, seq, event)
    SELECT run_id, protocol, attempt, seq, event FROM events_without_row_ids ORDER BY run_id, protocol, attempt, seq;
  DROP TABLE events_without_row_ids;
  CREATE UNIQUE INDEX events_by_position ON events (run_id, protocol, attempt, seq);
  `,
  // Races: the issue names the active race, and an order stores its run's entry until the last run has entered.
  `
  ALTER TABLE issues ADD COLUMN active_group TEXT;
  ALTER TABLE orders ADD COLUMN race_group TEXT;
  ALTER TABLE orders ADD COLUMN entry TEXT;
  `,
  // Many events per row, compressed. Events stored before this step keep one row each.
  `
  CREATE TABLE event_packs (
    run_id TEXT NOT NULL,
    protocol TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
    SELECT run_id, protocol, attempt, seq, seq, CAST(event AS BLOB) FROM events ORDER BY run_id, protocol, attempt, seq;
  DROP TABLE events;
  CREATE UNIQUE INDEX event_packs_by_position ON event_packs (run_id, protocol, attempt, last_seq, first_seq);
  `,
  // Claims go from lane to lane. A lane is a set of runs of which either all or none can be claimed.
  `
  CREATE INDEX runs_lanes ON runs ((folder || char(10) || exclusive || char(10) || coalesce(worker_type, '')), priority DESC, sequence)
    WHERE state = 'queued';
  CREATE INDEX runs_queued_canceled ON runs (sequence) WHERE state = 'queued' AND cancel_requested = 1;
  `,
  // The checksums of the steps that created the tables.
  `
  CREATE TABLE migrations (version INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT;
  `,
  // Run usage for statistics: tokens, cost and model as JSON. The index contains all columns that statistics read, so
  // the digests themselves are not read.
  `
  ALTER TABLE run_digests ADD COLUMN usage TEXT;
  UPDATE run_digests SET usage = (
    SELECT json_object(
      'model', coalesce(result ->> '$.usage.model', result ->> '$.model'),
      'input_tokens', coalesce(result ->> '$.usage.input_tokens', 0),
      'cached_input_tokens', coalesce(result ->> '$.usage.cached_input_tokens', 0),
      'output_tokens', coalesce(result ->> '$.usage.output_tokens', 0),
      'cost', result ->> '$.usage.cost')
    FROM runs WHERE runs.sequence = run_digests.sequence AND json_valid(result)
      AND result ->> '$.usage.input_tokens' IS NOT NULL AND result ->> '$.cached_from' IS NULL);
  DROP INDEX run_digests_by_end;
  CREATE INDEX run_digests_by_end ON run_digests (
    ended_at, sequence, engine, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at
  ) WHERE ended_at IS NOT NULL;
  `,
  // The state of repositories before the work started, for orders that might wait for a human decision.
  `
  CREATE TABLE repository_starts (run TEXT PRIMARY KEY, start TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // JobLeases: work that one process at a time does for all.
  `
  CREATE TABLE duties (name TEXT PRIMARY KEY, owner TEXT NOT NULL, held_until INTEGER NOT NULL) STRICT;
  `,
  // Ended runs, counted by engine in slots of a minute, an hour and a day, for statistics. Runs that have already ended
  // are counted gradually, like new runs.
  `
  CREATE TABLE run_slots (
    length INTEGER NOT NULL,
    at INTEGER NOT NULL,
    engine TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (length, at, engine)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE runs_to_count (sequence INTEGER PRIMARY KEY) STRICT;
  INSERT INTO runs_to_count (sequence) SELECT sequence FROM run_digests WHERE ended_at IS NOT NULL;
  DROP INDEX run_digests_by_end;
  CREATE INDEX run_digests_by_end ON run_digests (ended_at) WHERE ended_at IS NOT NULL;
  `,
  // Deleting records: runs in the order they were purged.
  `
  CREATE INDEX runs_forgotten ON runs (forgotten_at, sequence) WHERE forgotten_at IS NOT NULL;
  `,
  // Runs and executions already counted in metrics, so multiple servers do not count one twice.
  `
  CREATE TABLE counted (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX counted_by_time ON counted (at);
  `,
  // Counting open rows reads only an index if it contains the column that makes a row open.
  `
  DROP INDEX orders_open;
  CREATE INDEX orders_open ON orders (settled_at, sequence) WHERE settled_at IS NULL;
  DROP INDEX inbox_open;
  CREATE INDEX inbox_open ON inbox (resolution, sequence) WHERE resolution IS NULL;
  CREATE INDEX orders_entered ON orders (sequence) WHERE settled_at IS NULL AND entry IS NOT NULL;
  `,
  // Budget usage and shares.
  `
  CREATE TABLE budget_entries (
    run TEXT PRIMARY KEY,
    caller TEXT,
    issue_ref TEXT,
    at INTEGER NOT NULL,
    tokens REAL NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    held_tokens REAL NOT NULL DEFAULT 0,
    held_cost REAL NOT NULL DEFAULT 0,
    waits_for TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX budget_entries_by_time ON budget_entries (at);
  CREATE INDEX budget_entries_by_issue ON budget_entries (issue_ref) WHERE issue_ref IS NOT NULL;
  `,
  // Waiting runs, with the budget they are waiting for.
  `
  CREATE INDEX budget_entries_waiting ON budget_entries (run) WHERE waits_for IS NOT NULL;
  DROP VIEW run_records;
  CREATE VIEW run_records AS
    SELECT runs.*, CASE runs.state WHEN 'queued' THEN (
      SELECT busy.id FROM runs AS busy
      WHERE busy.folder = runs.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR runs.exclusive = 1)
      ORDER BY busy.sequence LIMIT 1) END AS folder_holder,
      CASE runs.state WHEN 'queued' THEN (SELECT waits_for FROM budget_entries WHERE run = runs.id) END AS waits_for
    FROM runs;
  `,
  // A claim that is as fast with a long queue as with a short queue.
  QUEUE_STEP,
  // Inbox items in slots, like runs: opened and resolved items, and the times of items counted in their slots.
  `
  ALTER TABLE inbox ADD COLUMN created_at INTEGER;
  ALTER TABLE inbox ADD COLUMN resolved_at INTEGER;
  CREATE TABLE inbox_slots (
    length INTEGER NOT NULL,
    at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (length, at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX inbox_to_count ON inbox (sequence) WHERE created_at IS NULL OR (resolution IS NOT NULL AND resolved_at IS NULL);
  CREATE INDEX inbox_by_creation ON inbox (created_at) WHERE created_at IS NOT NULL;
  CREATE INDEX inbox_by_resolution ON inbox (resolved_at) WHERE resolved_at IS NOT NULL;
  CREATE INDEX inbox_open_by_creation ON inbox (created_at) WHERE resolution IS NULL AND created_at IS NOT NULL;
  `,
  // Claims do not read deferred runs.
  DEFERRED_RUNS,
  // Runs waiting for a budget are neither added to the usage nor counted with runs waiting for another budget.
  `
  DROP INDEX budget_entries_waiting;
  CREATE INDEX budget_entries_waiting ON budget_entries (waits_for, run) WHERE waits_for IS NOT NULL;
  CREATE INDEX budget_entries_used ON budget_entries (at)
    WHERE (tokens > 0 OR cost > 0 OR held_tokens > 0 OR held_cost > 0);
  `,
  // A budget's usage is stored as daily sums, so reserving a share does not add up every run of the day.
  BUDGET_TOTALS,
  // The id of the installation, created on first use.
  `
  CREATE TABLE installation (number INTEGER PRIMARY KEY CHECK (number = 1), id TEXT NOT NULL) STRICT;
  `,
];
