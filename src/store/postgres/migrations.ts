import { FIRST_TABLES } from './first-tables.js';
import { ONE_CLAIM } from './one-claim.js';
import { DEFERRED_RUNS, QUEUE_FUNCTIONS, EARLY_CHECKS } from './queue-functions.js';

/**
 * The steps from an empty database to the current schema version, in order; a released step never changes. JSON is
 * stored as text, because PostgreSQL's JSON types reject characters that agents print. Times are milliseconds since
 * 1970.
 */
export const MIGRATIONS: readonly string[] = [
  FIRST_TABLES,
  // Retention: runs whose events were deleted, in the order they ended, and when a result was cached.
  `
  ALTER TABLE sluice.runs ADD COLUMN forgotten_at bigint;
  CREATE INDEX runs_by_end ON sluice.runs (ended_at, seq) WHERE state = 'ended';
  CREATE INDEX runs_kept ON sluice.runs (ended_at) WHERE state = 'ended' AND forgotten_at IS NULL;
  CREATE INDEX executions_by_time ON sluice.executions (at);
  ALTER TABLE sluice.results ADD COLUMN kept_at bigint NOT NULL DEFAULT 0;
  `,
  // Searching and counting: run fields that are scanned by the thousand, separate from spec and result.
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
  // Executions are listed by time with every filter.
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
  // A repeated request returns the same run, as it returns the same order.
  `
  ALTER TABLE sluice.runs ADD COLUMN request_id text;
  CREATE UNIQUE INDEX runs_by_request ON sluice.runs (request_id) WHERE request_id IS NOT NULL;
  `,
  // One claim for an order and its run: claim, lease, cancellation and folder belong to the run.
  ONE_CLAIM,
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
  // The commit an order started from, which claimed commits are compared with. The view is recreated to get the new
  // column.
  `
  ALTER TABLE sluice.orders ADD COLUMN base_commit text;
  DROP VIEW sluice.order_records;
  CREATE VIEW sluice.order_records AS
    SELECT orders.*, runs.started_at, CASE
      WHEN orders.settled_at IS NULL THEN CASE WHEN runs.state = 'queued' THEN 'queued' ELSE 'running' END
      WHEN orders.decision IS NULL THEN 'canceled' ELSE 'settled' END AS state
    FROM sluice.orders LEFT JOIN sluice.runs ON runs.id = orders.run;
  `,
  // Races: the issue names the active race, and an order stores its run's entry until the last run has entered.
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
  // Many events per row, compressed. Events stored before this step keep one row each.
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
  // Claims go from lane to lane. A lane is a set of runs of which either all or none can be claimed.
  `
  CREATE INDEX runs_lanes ON sluice.runs ((folder || E'\\n' || exclusive::text || E'\\n' || coalesce(worker_type, '')), priority DESC, seq)
    WHERE state = 'queued';
  CREATE INDEX runs_queued_canceled ON sluice.runs (seq) WHERE state = 'queued' AND cancel_requested;
  `,
  // The checksums of the steps that created the tables.
  `
  ALTER TABLE sluice.migrations ADD COLUMN checksum text;
  `,
  // Run usage for statistics: tokens, cost and model as JSON. Runs that ended before this step are not counted.
  `
  ALTER TABLE sluice.run_digests ADD COLUMN usage text;
  `,
  // The state of repositories before the work started, for orders that might wait for a human decision.
  `
  CREATE TABLE sluice.repository_starts (run text COLLATE "C" PRIMARY KEY, start text NOT NULL);
  `,
  // JobLeases: work that one process at a time does for all.
  `
  CREATE TABLE sluice.duties (name text PRIMARY KEY, owner text NOT NULL, held_until bigint NOT NULL);
  `,
  // Ended runs, counted by engine in slots of a minute, an hour and a day, for statistics. Runs that have already ended
  // are counted gradually, like new runs.
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
  // Deleting records: runs in the order they were purged.
  `
  CREATE INDEX runs_forgotten ON sluice.runs (forgotten_at, seq) WHERE forgotten_at IS NOT NULL;
  `,
  // Claims without a global lock, wake-ups for one worker instead of all, notifications for followers.
  QUEUE_FUNCTIONS,
  // Runs and executions already counted in metrics, so multiple servers do not count one twice.
  `
  CREATE TABLE sluice.counted (id text COLLATE "C" PRIMARY KEY, at bigint NOT NULL);
  CREATE INDEX counted_by_time ON sluice.counted (at);
  `,
  // Counting open orders whose run has ended but whose race has not.
  `
  CREATE INDEX orders_entered ON sluice.orders (seq) WHERE settled_at IS NULL AND entry IS NOT NULL;
  `,
  // Budget usage and shares.
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
  // Waiting runs, with the budget they are waiting for.
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
  // Inbox items in slots, like runs: opened and resolved items, and the times of items counted in their slots.
  `
  ALTER TABLE sluice.inbox ADD COLUMN created_at bigint;
  ALTER TABLE sluice.inbox ADD COLUMN resolved_at bigint;
  CREATE TABLE sluice.inbox_slots (
    length integer NOT NULL,
    at bigint NOT NULL,
    counts text NOT NULL,
    PRIMARY KEY (length, at)
  );
  CREATE INDEX inbox_to_count ON sluice.inbox (seq)
    WHERE created_at IS NULL OR (resolution IS NOT NULL AND resolved_at IS NULL);
  CREATE INDEX inbox_by_creation ON sluice.inbox (created_at) WHERE created_at IS NOT NULL;
  CREATE INDEX inbox_by_resolution ON sluice.inbox (resolved_at) WHERE resolved_at IS NOT NULL;
  CREATE INDEX inbox_open_by_creation ON sluice.inbox (created_at) WHERE resolution IS NULL AND created_at IS NOT NULL;
  `,
  // Claims do not read deferred runs.
  DEFERRED_RUNS,
  // Runs waiting for a budget are neither added to the usage nor counted with runs waiting for another budget.
  `
  DROP INDEX sluice.budget_entries_waiting;
  CREATE INDEX budget_entries_waiting ON sluice.budget_entries (waits_for, run) WHERE waits_for IS NOT NULL;
  CREATE INDEX budget_entries_used ON sluice.budget_entries (at)
    WHERE (tokens > 0 OR cost > 0 OR held_tokens > 0 OR held_cost > 0);
  `,
  // A budget's usage is stored as daily sums, so reserving a share does not add up every run of the day. Triggers
  // update the sums, so every statement that changes an entry counts. Each sum is split into 16 parts, so concurrent
  // reports seldom wait for each other.
  `
  CREATE TABLE sluice.budget_totals (
    scope text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    part integer NOT NULL,
    tokens double precision NOT NULL,
    cost double precision NOT NULL,
    PRIMARY KEY (scope, name, day, part)
  );
  CREATE INDEX budget_totals_by_day ON sluice.budget_totals (day);

  CREATE FUNCTION sluice.add_to_totals(entry sluice.budget_entries) RETURNS void LANGUAGE sql AS $$
    INSERT INTO sluice.budget_totals (scope, name, day, part, tokens, cost)
    SELECT scope, name, entry.at / 86400000, hashtext(entry.run) & 15, entry.tokens, entry.cost
    FROM (VALUES ('day', ''), ('caller', entry.caller), ('issue', entry.issue_ref)) AS counted (scope, name)
    WHERE name IS NOT NULL
    ON CONFLICT (scope, name, day, part) DO UPDATE SET
      tokens = budget_totals.tokens + EXCLUDED.tokens, cost = budget_totals.cost + EXCLUDED.cost
  $$;
  -- Only an update: a total that was deleted because it is old does not come back.
  CREATE FUNCTION sluice.take_from_totals(entry sluice.budget_entries) RETURNS void LANGUAGE sql AS $$
    UPDATE sluice.budget_totals SET tokens = budget_totals.tokens - entry.tokens, cost = budget_totals.cost - entry.cost
    FROM (VALUES ('day', ''), ('caller', entry.caller), ('issue', entry.issue_ref)) AS counted (scope, name)
    WHERE budget_totals.scope = counted.scope AND budget_totals.name = counted.name
      AND day = entry.at / 86400000 AND part = hashtext(entry.run) & 15
  $$;
  CREATE FUNCTION sluice.count_budget() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND (OLD.tokens > 0 OR OLD.cost > 0) THEN PERFORM sluice.take_from_totals(OLD); END IF;
    IF TG_OP <> 'DELETE' AND (NEW.tokens > 0 OR NEW.cost > 0) THEN PERFORM sluice.add_to_totals(NEW); END IF;
    RETURN NULL;
  END $$;
  SELECT sluice.add_to_totals(entries) FROM sluice.budget_entries AS entries WHERE tokens > 0 OR cost > 0;
  CREATE TRIGGER count_budget AFTER INSERT OR UPDATE OR DELETE ON sluice.budget_entries FOR EACH ROW
    EXECUTE FUNCTION sluice.count_budget();
  DROP INDEX sluice.budget_entries_used;
  DROP INDEX sluice.budget_entries_by_issue;
  `,
  // The id of the installation, created on first use.
  `
  CREATE TABLE sluice.installation (number integer PRIMARY KEY CHECK (number = 1), id text NOT NULL);
  `,
  // Claims and run ends check whether there is anything to do before they write.
  EARLY_CHECKS,
];

/** Declares a new connection's schema version: tables reject writes with another version. */
export const SET_SCHEMA_VERSION = `SET sluice.form = ${MIGRATIONS.length}`;
