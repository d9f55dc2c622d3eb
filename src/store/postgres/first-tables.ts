/** The first migration step. Like every step, it never changes. */
export const FIRST_TABLES = `
  CREATE SCHEMA IF NOT EXISTS sluice;

  CREATE TABLE sluice.migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());

  CREATE TABLE sluice.issues (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    issue_ref text COLLATE "C" PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('todo', 'doing', 'review', 'blocked', 'needs-human', 'done')),
    active_run_id text,
    -- Whether the active run has its decision: with it one row says all that the fence must know.
    active_settled boolean NOT NULL DEFAULT false,
    last_run_number integer NOT NULL,
    updated_at bigint NOT NULL
  );
  CREATE INDEX issues_by_state ON sluice.issues (state, seq);

  CREATE TABLE sluice.orders (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    issue_ref text COLLATE "C" NOT NULL REFERENCES sluice.issues,
    run_id text COLLATE "C" NOT NULL,
    run_ulid text NOT NULL UNIQUE,
    request_id text UNIQUE,
    work_order text NOT NULL,
    worker_type text NOT NULL,
    repo_dir text NOT NULL,
    isolation text NOT NULL,
    priority double precision NOT NULL,
    state text NOT NULL CHECK (state IN ('queued', 'claimed', 'running', 'settled', 'canceled')),
    worker_id text,
    owner_host text,
    owner_pid bigint,
    owner_pid_started text,
    lease_until bigint,
    cancel_requested boolean NOT NULL DEFAULT false,
    created_at bigint NOT NULL,
    started_at bigint,
    settled_at bigint,
    decision text,
    result text,
    PRIMARY KEY (issue_ref, run_id)
  );
  CREATE INDEX orders_queued ON sluice.orders (priority DESC, seq) WHERE state = 'queued';
  CREATE INDEX orders_busy ON sluice.orders (repo_dir) WHERE state IN ('claimed', 'running');
  CREATE INDEX orders_open ON sluice.orders (seq) WHERE state IN ('queued', 'claimed', 'running');
  CREATE INDEX orders_of_issue ON sluice.orders (issue_ref, seq);
  CREATE INDEX orders_by_state ON sluice.orders (state, seq);

  CREATE TABLE sluice.executions (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    issue_ref text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    worker text NOT NULL,
    decision text NOT NULL,
    at text COLLATE "C" NOT NULL,
    record text NOT NULL
  );
  CREATE INDEX executions_of_issue ON sluice.executions (issue_ref, seq);
  CREATE INDEX executions_of_run ON sluice.executions (run_id, seq);
  CREATE INDEX executions_of_worker ON sluice.executions (worker, seq);
  CREATE INDEX executions_by_decision ON sluice.executions (decision, seq);

  CREATE TABLE sluice.inbox (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text PRIMARY KEY,
    issue_ref text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    item text NOT NULL,
    resolution text
  );
  CREATE INDEX inbox_open ON sluice.inbox (seq) WHERE resolution IS NULL;
  CREATE INDEX inbox_of_issue ON sluice.inbox (issue_ref, seq);

  CREATE TABLE sluice.outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text PRIMARY KEY,
    sink text COLLATE "C" NOT NULL,
    issue_ref text COLLATE "C" NOT NULL,
    trigger text COLLATE "C" NOT NULL,
    body text NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'sending', 'delivered', 'dead')),
    worker_id text,
    tries integer NOT NULL,
    due_at bigint NOT NULL,
    lease_until bigint,
    last_error text,
    delivered_to text,
    created_at bigint NOT NULL,
    UNIQUE (sink, issue_ref, trigger)
  );
  CREATE INDEX outbox_lines ON sluice.outbox (sink, issue_ref, seq) WHERE state IN ('waiting', 'sending');
  CREATE INDEX outbox_waiting ON sluice.outbox (seq) WHERE state IN ('waiting', 'sending');
  CREATE INDEX outbox_by_state ON sluice.outbox (state, seq);
  CREATE INDEX outbox_of_issue ON sluice.outbox (issue_ref, seq);

  CREATE TABLE sluice.runs (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text PRIMARY KEY,
    spec text NOT NULL,
    engine text NOT NULL,
    state text NOT NULL CHECK (state IN ('queued', 'running', 'waiting', 'ended')),
    order_issue_ref text,
    order_run_id text,
    worker_id text,
    lease_until bigint,
    cancel_requested boolean NOT NULL DEFAULT false,
    reply text,
    created_at bigint NOT NULL,
    started_at bigint,
    ended_at bigint,
    result text
  );
  CREATE INDEX runs_queued ON sluice.runs (seq) WHERE state = 'queued';
  CREATE INDEX runs_leased ON sluice.runs (lease_until) WHERE state <> 'ended';
  CREATE INDEX runs_by_state ON sluice.runs (state, seq);
  CREATE INDEX runs_by_engine ON sluice.runs (engine, seq);

  CREATE TABLE sluice.events (
    run_id text COLLATE "C" NOT NULL,
    protocol text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    seq integer NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (run_id, protocol, attempt, seq)
  );

  CREATE TABLE sluice.results (
    key text COLLATE "C" PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    bytes bigint NOT NULL,
    entry text NOT NULL
  );
  `;
