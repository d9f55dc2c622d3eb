import { QUEUE_FUNCTIONS } from './queue-functions.js';

/**
 * The steps from an empty database to the present form, in order; a step that has been released never changes. JSON is
 * kept as text: PostgreSQL's own JSON type refuses characters that agents do print. Times are milliseconds since 1970.
 */
export const MIGRATIONS: readonly string[] = [
  `
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
  `,
  // Forgetting: which runs have lost their events, in the order they ended, and since when a result is kept.
  `
  ALTER TABLE sluice.runs ADD COLUMN forgotten_at bigint;
  CREATE INDEX runs_by_end ON sluice.runs (ended_at, seq) WHERE state = 'ended';
  CREATE INDEX runs_kept ON sluice.runs (ended_at) WHERE state = 'ended' AND forgotten_at IS NULL;
  CREATE INDEX executions_by_time ON sluice.executions (at);
  ALTER TABLE sluice.results ADD COLUMN kept_at bigint NOT NULL DEFAULT 0;
  `,
  // Searching and counting: what of a run is looked through by the thousand, apart from its spec and its result.
  `
  CREATE TABLE sluice.run_digests (
    seq bigint PRIMARY KEY REFERENCES sluice.runs (seq),
    engine text NOT NULL,
    outcome text,
    repair_level text,
    engine_version text,
    unknown_types integer NOT NULL DEFAULT 0,
    unknown_fields integer NOT NULL DEFAULT 0,
    created_at bigint NOT NULL,
    started_at bigint,
    ended_at bigint,
    words text NOT NULL
  );
  CREATE INDEX run_digests_by_end ON sluice.run_digests (ended_at, seq) WHERE ended_at IS NOT NULL;
  INSERT INTO sluice.run_digests (seq, engine, outcome, repair_level, created_at, started_at, ended_at, words)
    SELECT seq, engine,
      substring(result from '^\\{"status":"([a-z]+)"'),
      substring(result from '"repair_level":"([a-z_]+)"'),
      created_at, started_at, ended_at,
      lower(left(id || E'\\n' || coalesce(order_issue_ref, '') || E'\\n' || spec, 5000))
    FROM sluice.runs;
  `,
  // Executions are listed by time, whatever else is asked of them.
  `
  DROP INDEX sluice.executions_of_issue;
  DROP INDEX sluice.executions_of_run;
  DROP INDEX sluice.executions_of_worker;
  DROP INDEX sluice.executions_by_decision;
  DROP INDEX sluice.executions_by_time;
  CREATE INDEX executions_of_issue ON sluice.executions (issue_ref, at, seq);
  CREATE INDEX executions_of_run ON sluice.executions (run_id, at, seq);
  CREATE INDEX executions_of_worker ON sluice.executions (worker, at, seq);
  CREATE INDEX executions_by_decision ON sluice.executions (decision, at, seq);
  CREATE INDEX executions_by_time ON sluice.executions (at, seq);
  `,
  // The same request gives the same run, as it gives the same order.
  `
  ALTER TABLE sluice.runs ADD COLUMN request_id text;
  CREATE UNIQUE INDEX runs_by_request ON sluice.runs (request_id) WHERE request_id IS NOT NULL;
  `,
  // One claim: an order is a run that carries an order. Claim, lease, cancellation and folder belong to the run.
  `
  ALTER TABLE sluice.runs
    ADD COLUMN folder text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN exclusive boolean NOT NULL DEFAULT true,
    ADD COLUMN priority double precision NOT NULL DEFAULT 0,
    ADD COLUMN worker_type text,
    ADD COLUMN owner_host text,
    ADD COLUMN owner_pid bigint,
    ADD COLUMN owner_pid_started text,
    ADD COLUMN not_before bigint NOT NULL DEFAULT 0;
  UPDATE sluice.runs SET folder = coalesce(substring(spec from '"workdir":"((?:[^"\\\\]|\\\\.)*)"'), '');
  UPDATE sluice.runs SET
      worker_type = orders.worker_type, priority = orders.priority, exclusive = orders.isolation <> 'worktree',
      folder = orders.repo_dir, owner_host = orders.owner_host, owner_pid = orders.owner_pid,
      owner_pid_started = orders.owner_pid_started,
      cancel_requested = runs.cancel_requested OR (runs.state <> 'ended' AND orders.cancel_requested)
    FROM sluice.orders WHERE orders.run_ulid = runs.id;
  -- Ended, but its order was never settled: it is reconciled like a run whose worker is gone.
  UPDATE sluice.runs SET state = 'running', lease_until = 0, ended_at = NULL, result = NULL
    FROM sluice.orders
    WHERE orders.run_ulid = runs.id AND runs.state = 'ended' AND orders.state IN ('queued', 'claimed', 'running');
  INSERT INTO sluice.runs (id, spec, engine, state, order_issue_ref, order_run_id, worker_id, owner_host, owner_pid,
      owner_pid_started, lease_until, cancel_requested, created_at, started_at, folder, exclusive, priority, worker_type)
    SELECT run_ulid, '{"engine":"' || engine || '","workdir":' || to_json(repo_dir) || '}', engine,
      CASE WHEN state = 'queued' THEN 'queued' ELSE 'running' END, issue_ref, run_id, worker_id, owner_host, owner_pid,
      owner_pid_started, lease_until, cancel_requested, created_at, started_at, repo_dir, isolation <> 'worktree', priority,
      worker_type
    FROM (
      SELECT *, CASE worker_type WHEN 'codex-cli' THEN 'codex' WHEN 'gemini-cli' THEN 'gemini' WHEN 'iflow-cli' THEN 'iflow'
        WHEN 'opencode-cli' THEN 'opencode' WHEN 'claude-code' THEN 'claude' WHEN 'qwen-code' THEN 'qwen' ELSE 'command' END AS engine
      FROM sluice.orders) AS open
    WHERE state IN ('queued', 'claimed', 'running') AND NOT EXISTS (SELECT FROM sluice.runs WHERE id = run_ulid)
    ORDER BY seq;
  UPDATE sluice.run_digests SET outcome = NULL, repair_level = NULL, ended_at = NULL
    FROM sluice.runs WHERE runs.seq = run_digests.seq AND runs.state <> 'ended' AND run_digests.ended_at IS NOT NULL;
  INSERT INTO sluice.run_digests (seq, engine, created_at, words)
    SELECT seq, engine, created_at, lower(left(id || E'\\n' || coalesce(order_issue_ref, '') || E'\\n' || spec, 5000))
    FROM sluice.runs WHERE NOT EXISTS (SELECT FROM sluice.run_digests WHERE run_digests.seq = runs.seq);

  DROP INDEX sluice.orders_queued;
  DROP INDEX sluice.orders_busy;
  DROP INDEX sluice.orders_open;
  DROP INDEX sluice.orders_by_state;
  UPDATE sluice.orders SET settled_at = created_at WHERE state = 'canceled' AND settled_at IS NULL;
  ALTER TABLE sluice.orders RENAME COLUMN run_ulid TO run;
  ALTER TABLE sluice.orders
    DROP COLUMN state, DROP COLUMN repo_dir, DROP COLUMN isolation, DROP COLUMN priority, DROP COLUMN worker_id,
    DROP COLUMN owner_host, DROP COLUMN owner_pid, DROP COLUMN owner_pid_started, DROP COLUMN lease_until,
    DROP COLUMN cancel_requested, DROP COLUMN started_at;
  CREATE INDEX orders_open ON sluice.orders (seq) WHERE settled_at IS NULL;
  CREATE INDEX orders_settled ON sluice.orders (seq) WHERE decision IS NOT NULL;
  CREATE INDEX orders_canceled ON sluice.orders (seq) WHERE settled_at IS NOT NULL AND decision IS NULL;

  DROP INDEX sluice.runs_queued;
  DROP INDEX sluice.runs_leased;
  CREATE INDEX runs_queued ON sluice.runs (priority DESC, seq) WHERE state = 'queued';
  CREATE INDEX runs_busy ON sluice.runs (folder) WHERE state IN ('running', 'waiting');
  CREATE INDEX runs_leased ON sluice.runs (lease_until) WHERE state IN ('running', 'waiting');

  -- A run with the one that keeps it from its folder, and an order with what follows from its run.
  CREATE VIEW sluice.run_records AS
    SELECT runs.*, CASE WHEN runs.state = 'queued' THEN (
      SELECT busy.id FROM sluice.runs AS busy
      WHERE busy.folder = runs.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive OR runs.exclusive)
      ORDER BY busy.seq LIMIT 1) END AS folder_holder
    FROM sluice.runs;
  CREATE VIEW sluice.order_records AS
    SELECT orders.*, runs.started_at, CASE
      WHEN orders.settled_at IS NULL THEN CASE WHEN runs.state = 'queued' THEN 'queued' ELSE 'running' END
      WHEN orders.decision IS NULL THEN 'canceled' ELSE 'settled' END AS state
    FROM sluice.orders LEFT JOIN sluice.runs ON runs.id = orders.run;

  -- One name for the run of a record, one spelling inside it. As text: PostgreSQL's JSON refuses characters that agents print.
  UPDATE sluice.executions SET record = replace(record, '"run_ulid":', '"run":');
  UPDATE sluice.inbox SET item = replace(item, '"run_ulid":', '"run":');
  UPDATE sluice.orders SET decision = replace(decision, '"resultCode":', '"result_code":') WHERE decision IS NOT NULL;
  `,
  // Workers report that they are alive.
  `
  CREATE TABLE sluice.workers (
    id text PRIMARY KEY,
    host text NOT NULL,
    version text NOT NULL,
    engines text NOT NULL,
    capacity integer NOT NULL,
    busy integer NOT NULL,
    stopping boolean NOT NULL,
    seen_at bigint NOT NULL,
    alive_until bigint NOT NULL
  );
  `,
  // The commit an order began from: claimed commits are compared with it. A view has the columns of the day it was made.
  `
  ALTER TABLE sluice.orders ADD COLUMN base_commit text;
  DROP VIEW sluice.order_records;
  CREATE VIEW sluice.order_records AS
    SELECT orders.*, runs.started_at, CASE
      WHEN orders.settled_at IS NULL THEN CASE WHEN runs.state = 'queued' THEN 'queued' ELSE 'running' END
      WHEN orders.decision IS NULL THEN 'canceled' ELSE 'settled' END AS state
    FROM sluice.orders LEFT JOIN sluice.runs ON runs.id = orders.run;
  `,
  // Several runs of an issue compete: the issue names the race, an order what its run has entered until the last one has.
  `
  ALTER TABLE sluice.issues ADD COLUMN active_group text;
  ALTER TABLE sluice.orders ADD COLUMN race_group text, ADD COLUMN entry text;
  DROP VIEW sluice.order_records;
  CREATE VIEW sluice.order_records AS
    SELECT orders.*, runs.started_at, CASE
      WHEN orders.settled_at IS NULL THEN CASE WHEN runs.state = 'queued' THEN 'queued' ELSE 'running' END
      WHEN orders.decision IS NULL THEN 'canceled' ELSE 'settled' END AS state
    FROM sluice.orders LEFT JOIN sluice.runs ON runs.id = orders.run;
  `,
  // Many events in a row, compressed. What was stored before stays one event in a row.
  `
  CREATE TABLE sluice.event_packs (
    run_id text COLLATE "C" NOT NULL,
    protocol text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    first_seq integer NOT NULL,
    last_seq integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run_id, protocol, attempt, last_seq)
  );
  -- A body is compressed already.
  ALTER TABLE sluice.event_packs ALTER COLUMN body SET STORAGE EXTERNAL;
  INSERT INTO sluice.event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
    SELECT run_id, protocol, attempt, seq, seq, convert_to(event, 'UTF8') FROM sluice.events;
  DROP TABLE sluice.events;
  `,
  // Claiming steps from lane to lane: runs that can all be claimed or none of them.
  `
  CREATE INDEX runs_lanes ON sluice.runs ((folder || E'\\n' || exclusive::text || E'\\n' || coalesce(worker_type, '')), priority DESC, seq)
    WHERE state = 'queued';
  CREATE INDEX runs_queued_canceled ON sluice.runs (seq) WHERE state = 'queued' AND cancel_requested;
  `,
  // Which steps have made the tables.
  `
  ALTER TABLE sluice.migrations ADD COLUMN checksum text;
  `,
  // What runs used, for statistics: tokens, cost and model as JSON. Runs that ended before are not counted.
  `
  ALTER TABLE sluice.run_digests ADD COLUMN usage text;
  `,
  // The repositories of orders that may wait for a person, as they were before the work began.
  `
  CREATE TABLE sluice.repository_starts (run text COLLATE "C" PRIMARY KEY, start text NOT NULL);
  `,
  // Work that one process at a time does for all.
  `
  CREATE TABLE sluice.duties (name text PRIMARY KEY, owner text NOT NULL, held_until bigint NOT NULL);
  `,
  // Runs that ended, counted by engine in slots of a minute, an hour and a day: statistics read these. Runs that ended before
  // are counted like those that end from now on, some at a time.
  `
  CREATE TABLE sluice.run_slots (
    length integer NOT NULL,
    at bigint NOT NULL,
    engine text NOT NULL,
    counts text NOT NULL,
    PRIMARY KEY (length, at, engine)
  );
  CREATE TABLE sluice.runs_to_count (seq bigint PRIMARY KEY);
  INSERT INTO sluice.runs_to_count (seq) SELECT seq FROM sluice.run_digests WHERE ended_at IS NOT NULL;
  `,
  // Deleting records: runs in the order in which they were forgotten.
  `
  CREATE INDEX runs_forgotten ON sluice.runs (forgotten_at, seq) WHERE forgotten_at IS NOT NULL;
  `,
  // Claims without one lock for all, wake-ups for one worker instead of all, announcements for those who follow.
  QUEUE_FUNCTIONS,
  // Which runs and executions a process has counted in its metrics: several servers must not count one twice.
  `
  CREATE TABLE sluice.counted (id text COLLATE "C" PRIMARY KEY, at bigint NOT NULL);
  CREATE INDEX counted_by_time ON sluice.counted (at);
  `,
  // Counting open orders: those whose run has ended in a race that has not.
  `
  CREATE INDEX orders_entered ON sluice.orders (seq) WHERE settled_at IS NULL AND entry IS NOT NULL;
  `,
  // What runs have used and hold of budgets.
  `
  CREATE TABLE sluice.budget_entries (
    run text COLLATE "C" PRIMARY KEY,
    caller text,
    issue_ref text,
    at bigint NOT NULL,
    tokens double precision NOT NULL DEFAULT 0,
    cost double precision NOT NULL DEFAULT 0,
    held_tokens double precision NOT NULL DEFAULT 0,
    held_cost double precision NOT NULL DEFAULT 0,
    waits_for text
  );
  CREATE INDEX budget_entries_by_time ON sluice.budget_entries (at);
  CREATE INDEX budget_entries_by_issue ON sluice.budget_entries (issue_ref) WHERE issue_ref IS NOT NULL;
  `,
  // A run that waits, with the budget it waits for.
  `
  CREATE INDEX budget_entries_waiting ON sluice.budget_entries (run) WHERE waits_for IS NOT NULL;
  DROP VIEW sluice.run_records;
  CREATE VIEW sluice.run_records AS
    SELECT runs.*, CASE WHEN runs.state = 'queued' THEN (
      SELECT busy.id FROM sluice.runs AS busy
      WHERE busy.folder = runs.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive OR runs.exclusive)
      ORDER BY busy.seq LIMIT 1) END AS folder_holder,
      CASE WHEN runs.state = 'queued' THEN (
        SELECT waits_for FROM sluice.budget_entries WHERE run = runs.id) END AS waits_for
    FROM sluice.runs;
  `,
];

/** What a connection says when it is opened: tables refuse writes of another form. */
export const SET_FORM = `SET sluice.form = ${MIGRATIONS.length}`;
