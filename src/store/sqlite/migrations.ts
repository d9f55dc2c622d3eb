import { QUEUE_STEP } from './queue-step.js';

/**
 * The steps from an empty file to the newest form; each is run once, in a separate transaction. Steps are added, never
 * changed. Times are milliseconds since 1970. Text that people or agents wrote is kept as JSON: SQLite cuts plain text
 * off at its first NUL.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE issues (
    sequence INTEGER PRIMARY KEY,
    issue_ref TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    active_run_id TEXT,
    last_run_number INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX issues_by_state ON issues (state, sequence);

  CREATE TABLE orders (
    sequence INTEGER PRIMARY KEY,
    issue_ref TEXT NOT NULL REFERENCES issues (issue_ref),
    run_id TEXT NOT NULL,
    run_ulid TEXT NOT NULL UNIQUE,
    request_id TEXT UNIQUE,
    worker_type TEXT NOT NULL,
    repo_dir TEXT NOT NULL,
    isolation TEXT NOT NULL,
    priority INTEGER NOT NULL,
    work_order TEXT NOT NULL,
    state TEXT NOT NULL,
    worker_id TEXT,
    host TEXT,
    pid INTEGER,
    pid_started TEXT,
    lease_until INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    settled_at INTEGER,
    decision TEXT,
    result TEXT,
    UNIQUE (issue_ref, run_id)
  ) STRICT;
  CREATE INDEX orders_by_state ON orders (state, sequence);
  CREATE INDEX orders_waiting ON orders (priority DESC, sequence) WHERE state = 'queued';
  CREATE INDEX orders_open ON orders (sequence) WHERE state IN ('queued', 'claimed', 'running');
  CREATE INDEX orders_busy ON orders (repo_dir, isolation, worker_type) WHERE state IN ('claimed', 'running');

  CREATE TABLE executions (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    issue_ref TEXT NOT NULL,
    run_id TEXT NOT NULL,
    worker TEXT NOT NULL,
    decision TEXT NOT NULL,
    at TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX executions_by_issue ON executions (issue_ref, sequence);
  CREATE INDEX executions_by_run ON executions (run_id, sequence);
  CREATE INDEX executions_by_worker ON executions (worker, sequence);
  CREATE INDEX executions_by_decision ON executions (decision, sequence);
  CREATE INDEX executions_by_time ON executions (at);

  CREATE TABLE inbox (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    issue_ref TEXT NOT NULL,
    run_id TEXT NOT NULL,
    item TEXT NOT NULL,
    resolution TEXT
  ) STRICT;
  CREATE INDEX inbox_by_issue ON inbox (issue_ref, sequence);
  CREATE INDEX inbox_open ON inbox (sequence) WHERE resolution IS NULL;

  CREATE TABLE outbox (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    sink TEXT NOT NULL,
    issue_ref TEXT NOT NULL,
    trigger_key TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    lease_until INTEGER,
    worker_id TEXT,
    last_error TEXT,
    delivered_to TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (sink, issue_ref, trigger_key)
  ) STRICT;
  CREATE INDEX outbox_by_state ON outbox (state, sequence);
  CREATE INDEX outbox_by_issue ON outbox (issue_ref, sequence);
  CREATE INDEX outbox_open ON outbox (sequence) WHERE state IN ('waiting', 'sending');
  CREATE INDEX outbox_line ON outbox (sink, issue_ref, sequence) WHERE state IN ('waiting', 'sending');

  CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    engine TEXT NOT NULL,
    state TEXT NOT NULL,
    order_issue_ref TEXT,
    order_run_id TEXT,
    worker_id TEXT,
    lease_until INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    reply TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    result TEXT
  ) STRICT;
  CREATE INDEX runs_by_state ON runs (state, sequence);
  CREATE INDEX runs_by_engine ON runs (engine, sequence);
  CREATE INDEX runs_held ON runs (lease_until) WHERE state IN ('running', 'waiting');

  CREATE TABLE events (
    run_id TEXT NOT NULL,
    protocol TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_id, protocol, attempt, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE results (
    sequence INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    entry TEXT NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX results_by_size ON results (bytes);
  `,
  // Forgetting: which runs have lost their events, in the order they ended, and since when a result is kept.
  `
  ALTER TABLE runs ADD COLUMN forgotten_at INTEGER;
  CREATE INDEX runs_by_end ON runs (ended_at, sequence) WHERE state = 'ended';
  CREATE INDEX runs_kept ON runs (ended_at) WHERE state = 'ended' AND forgotten_at IS NULL;
  ALTER TABLE results ADD COLUMN kept_at INTEGER NOT NULL DEFAULT 0;
  `,
  // Searching and counting: what of a run is looked through by the thousand, apart from its spec and its result.
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
  // Executions are listed by time, whatever else is asked of them; the orders of an issue in order of submission.
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
  // The same request gives the same run, as it gives the same order.
  `
  ALTER TABLE runs ADD COLUMN request_id TEXT;
  CREATE UNIQUE INDEX runs_by_request ON runs (request_id) WHERE request_id IS NOT NULL;
  `,
  // One claim: an order is a run that carries an order. Claim, lease, cancellation and folder belong to the run.
  `
  ALTER TABLE runs ADD COLUMN folder TEXT NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN exclusive INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN worker_type TEXT;
  ALTER TABLE runs ADD COLUMN host TEXT;
  ALTER TABLE runs ADD COLUMN pid INTEGER;
  ALTER TABLE runs ADD COLUMN pid_started TEXT;
  ALTER TABLE runs ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET folder = coalesce(CASE WHEN json_valid(spec) THEN spec ->> '$.workdir' END, '');
  UPDATE runs SET (worker_type, priority, exclusive, folder, host, pid, pid_started) = (
      SELECT worker_type, priority, isolation <> 'worktree', repo_dir, host, pid, pid_started
      FROM orders WHERE run_ulid = runs.id)
    WHERE EXISTS (SELECT 1 FROM orders WHERE run_ulid = runs.id);
  UPDATE runs SET cancel_requested = 1
    WHERE state <> 'ended' AND EXISTS (SELECT 1 FROM orders WHERE run_ulid = runs.id AND orders.cancel_requested = 1);
  -- Ended, but its order was never settled: it is reconciled like a run whose worker is gone.
  UPDATE runs SET state = 'running', lease_until = 0, ended_at = NULL, result = NULL
    WHERE state = 'ended' AND EXISTS (
      SELECT 1 FROM orders WHERE run_ulid = runs.id AND orders.state IN ('queued', 'claimed', 'running'));
  INSERT INTO runs (id, spec, engine, state, order_issue_ref, order_run_id, worker_id, host, pid, pid_started, lease_until,
      cancel_requested, created_at, started_at, folder, exclusive, priority, worker_type)
    SELECT run_ulid, json_object('engine', engine, 'workdir', repo_dir, 'prompt', work_order ->> '$.instructions'), engine,
      CASE state WHEN 'queued' THEN 'queued' ELSE 'running' END, issue_ref, run_id, worker_id, host, pid, pid_started,
      lease_until, cancel_requested, created_at, started_at, repo_dir, isolation <> 'worktree', priority, worker_type
    FROM (
      SELECT *, CASE worker_type WHEN 'codex-cli' THEN 'codex' WHEN 'gemini-cli' THEN 'gemini' WHEN 'iflow-cli' THEN 'iflow'
        WHEN 'opencode-cli' THEN 'opencode' WHEN 'claude-code' THEN 'claude' WHEN 'qwen-code' THEN 'qwen' ELSE 'command' END AS engine
      FROM orders)
    WHERE state IN ('queued', 'claimed', 'running') AND NOT EXISTS (SELECT 1 FROM runs WHERE id = run_ulid)
    ORDER BY sequence;
  UPDATE run_digests SET outcome = NULL, repair_level = NULL, ended_at = NULL
    WHERE ended_at IS NOT NULL AND EXISTS (
      SELECT 1 FROM runs WHERE runs.sequence = run_digests.sequence AND state <> 'ended');
  INSERT INTO run_digests (sequence, engine, created_at, words)
    SELECT sequence, engine, created_at,
      lower(substr(id || char(10) || coalesce(order_issue_ref, '') || char(10) || spec, 1, 5000))
    FROM runs WHERE NOT EXISTS (SELECT 1 FROM run_digests WHERE run_digests.sequence = runs.sequence);

  DROP INDEX orders_by_state;
  DROP INDEX orders_waiting;
  DROP INDEX orders_open;
  DROP INDEX orders_busy;
  UPDATE orders SET settled_at = created_at WHERE state = 'canceled' AND settled_at IS NULL;
  ALTER TABLE orders RENAME COLUMN run_ulid TO run;
  ALTER TABLE orders DROP COLUMN state;
  ALTER TABLE orders DROP COLUMN repo_dir;
  ALTER TABLE orders DROP COLUMN isolation;
  ALTER TABLE orders DROP COLUMN priority;
  ALTER TABLE orders DROP COLUMN worker_id;
  ALTER TABLE orders DROP COLUMN host;
  ALTER TABLE orders DROP COLUMN pid;
  ALTER TABLE orders DROP COLUMN pid_started;
  ALTER TABLE orders DROP COLUMN lease_until;
  ALTER TABLE orders DROP COLUMN cancel_requested;
  ALTER TABLE orders DROP COLUMN started_at;
  CREATE INDEX orders_open ON orders (sequence) WHERE settled_at IS NULL;
  CREATE INDEX orders_settled ON orders (sequence) WHERE decision IS NOT NULL;
  CREATE INDEX orders_canceled ON orders (sequence) WHERE settled_at IS NOT NULL AND decision IS NULL;

  DROP INDEX runs_held;
  CREATE INDEX runs_held ON runs (lease_until) WHERE state IN ('running', 'waiting');
  CREATE INDEX runs_queued ON runs (priority DESC, sequence) WHERE state = 'queued';
  CREATE INDEX runs_busy ON runs (folder) WHERE state IN ('running', 'waiting');

  -- A run with the one that keeps it from its folder, and an order with what follows from its run.
  CREATE VIEW run_records AS
    SELECT runs.*, CASE runs.state WHEN 'queued' THEN (
      SELECT busy.id FROM runs AS busy
      WHERE busy.folder = runs.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR runs.exclusive = 1)
      ORDER BY busy.sequence LIMIT 1) END AS folder_holder
    FROM runs;
  CREATE VIEW order_records AS
    SELECT orders.*, runs.started_at AS started_at, CASE
      WHEN orders.settled_at IS NULL THEN CASE runs.state WHEN 'queued' THEN 'queued' ELSE 'running' END
      WHEN orders.decision IS NULL THEN 'canceled' ELSE 'settled' END AS state
    FROM orders LEFT JOIN runs ON runs.id = orders.run;

  -- One name for the run of a record, one spelling inside it.
  UPDATE executions SET record = json_remove(json_set(record, '$.run', record ->> '$.run_ulid'), '$.run_ulid')
    WHERE json_valid(record) AND record ->> '$.run_ulid' IS NOT NULL;
  UPDATE inbox SET item = json_remove(json_set(item, '$.run', item ->> '$.run_ulid'), '$.run_ulid')
    WHERE json_valid(item) AND item ->> '$.run_ulid' IS NOT NULL;
  UPDATE orders SET decision = json_remove(json_set(decision, '$.result_code', decision ->> '$.resultCode'), '$.resultCode')
    WHERE json_valid(decision) AND decision ->> '$.resultCode' IS NOT NULL;
  `,
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
  // The commit an order began from: claimed commits are compared with it.
  `
  ALTER TABLE orders ADD COLUMN base_commit TEXT;
  `,
  // Without row ids every search through the events copies the large ones that it passes: two lines of 5 MB made all runs slow.
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
  // Several runs of an issue compete: the issue names the race, an order what its run has entered until the last one has.
  `
  ALTER TABLE issues ADD COLUMN active_group TEXT;
  ALTER TABLE orders ADD COLUMN race_group TEXT;
  ALTER TABLE orders ADD COLUMN entry TEXT;
  `,
  // Many events in a row, compressed. What was stored before stays one event in a row.
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
  // Claiming steps from lane to lane: runs that can all be claimed or none of them.
  `
  CREATE INDEX runs_lanes ON runs ((folder || char(10) || exclusive || char(10) || coalesce(worker_type, '')), priority DESC, sequence)
    WHERE state = 'queued';
  CREATE INDEX runs_queued_canceled ON runs (sequence) WHERE state = 'queued' AND cancel_requested = 1;
  `,
  // Which steps have made the tables.
  `
  CREATE TABLE migrations (version INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT;
  `,
  // What runs used, for statistics: tokens, cost and model as JSON. Columns of the index: the digests themselves are not read.
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
  // The repositories of orders that may wait for a person, as they were before the work began.
  `
  CREATE TABLE repository_starts (run TEXT PRIMARY KEY, start TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Work that one process at a time does for all.
  `
  CREATE TABLE duties (name TEXT PRIMARY KEY, owner TEXT NOT NULL, held_until INTEGER NOT NULL) STRICT;
  `,
  // Runs that ended, counted by engine in slots of a minute, an hour and a day: statistics read these. Runs that ended before
  // are counted like those that end from now on, some at a time.
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
  // Deleting records: runs in the order in which they were forgotten.
  `
  CREATE INDEX runs_forgotten ON runs (forgotten_at, sequence) WHERE forgotten_at IS NOT NULL;
  `,
  // Which runs and executions a process has counted in its metrics: several servers must not count one twice.
  `
  CREATE TABLE counted (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX counted_by_time ON counted (at);
  `,
  // Counting what is open reads an index alone, if the column that makes it open is in it.
  `
  DROP INDEX orders_open;
  CREATE INDEX orders_open ON orders (settled_at, sequence) WHERE settled_at IS NULL;
  DROP INDEX inbox_open;
  CREATE INDEX inbox_open ON inbox (resolution, sequence) WHERE resolution IS NULL;
  CREATE INDEX orders_entered ON orders (sequence) WHERE settled_at IS NULL AND entry IS NOT NULL;
  `,
  // What runs have used and hold of budgets.
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
  // A run that waits, with the budget it waits for.
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
  // A claim that is as fast with a long queue as with a short one.
  QUEUE_STEP,
];
