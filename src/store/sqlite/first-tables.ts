/** The first migration step. Like every step, it never changes. */
export const FIRST_TABLES = `
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
  `;
