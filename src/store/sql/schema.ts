import { PLACED } from '../queue-rules.js';

/** How a database writes the types of columns, and its additions to the tables. */
export interface SchemaDialect {
  /** An ascending number, assigned by the database. */
  readonly seq: string;
  /** Text, compared byte by byte. */
  readonly text: string;
  /** A time in milliseconds since 1970, or a count. */
  readonly bigint: string;
  readonly real: string;
  readonly bytes: string;
  /** After the columns of a table, and of a table that is found only by its primary key. */
  readonly table: string;
  readonly keyed: string;
  /** Triggers and functions. */
  readonly additions: string;
}

/** A step from one schema version to the next. A released step never changes. */
export interface SchemaStep {
  (dialect: SchemaDialect): string;
  /** The oldest schema version whose processes can still use the tables: servers are upgraded one by one. */
  readonly oldest?: number;
}

/** The steps from an empty database to the current schema version, which is their number; each a transaction. */
export const SCHEMA_STEPS: readonly SchemaStep[] = [createTables];

/**
 * The first step. Flags are 0 and 1. Text from users or agents is stored as JSON text: SQLite truncates plain text at a
 * NUL, and PostgreSQL's JSON types reject characters that agents print.
 */
function createTables({ seq, text, bigint, real, bytes, table, keyed, additions }: SchemaDialect): string {
  return `
  CREATE TABLE issues (
    seq ${seq},
    issue_ref ${text} NOT NULL UNIQUE,
    state ${text} NOT NULL CHECK (state IN ('todo', 'doing', 'review', 'blocked', 'needs-human', 'done')),
    active_run_id ${text},
    -- Whether the active run has its decision: with it one row says all that the fence must know.
    active_settled integer NOT NULL DEFAULT 0,
    active_group ${text},
    last_run_number integer NOT NULL,
    updated_at ${bigint} NOT NULL
  )${table};
  CREATE INDEX issues_by_state ON issues (state, seq);

  CREATE TABLE orders (
    seq ${seq},
    issue_ref ${text} NOT NULL REFERENCES issues (issue_ref),
    run_id ${text} NOT NULL,
    run ${text} NOT NULL UNIQUE,
    request_id ${text} UNIQUE,
    worker_type ${text} NOT NULL,
    work_order ${text} NOT NULL,
    -- The commit that the order started from, which claimed commits are compared with.
    base_commit ${text},
    race_group ${text},
    -- The run's entry in a race, until the last run has entered.
    entry ${text},
    created_at ${bigint} NOT NULL,
    settled_at ${bigint},
    decision ${text},
    result ${text},
    UNIQUE (issue_ref, run_id)
  )${table};
  CREATE INDEX orders_by_issue ON orders (issue_ref, seq);
  CREATE INDEX orders_open ON orders (seq, settled_at) WHERE settled_at IS NULL;
  CREATE INDEX orders_entered ON orders (seq) WHERE settled_at IS NULL AND entry IS NOT NULL;
  CREATE INDEX orders_settled ON orders (seq) WHERE decision IS NOT NULL;
  CREATE INDEX orders_canceled ON orders (seq) WHERE settled_at IS NOT NULL AND decision IS NULL;

  CREATE TABLE executions (
    seq ${seq},
    id ${text} NOT NULL UNIQUE,
    issue_ref ${text} NOT NULL,
    run_id ${text} NOT NULL,
    worker ${text} NOT NULL,
    decision ${text} NOT NULL,
    at ${text} NOT NULL,
    record ${text} NOT NULL
  )${table};
  CREATE INDEX executions_by_issue ON executions (issue_ref, at, seq);
  CREATE INDEX executions_by_run ON executions (run_id, at, seq);
  CREATE INDEX executions_by_worker ON executions (worker, at, seq);
  CREATE INDEX executions_by_decision ON executions (decision, at, seq);
  CREATE INDEX executions_by_time ON executions (at, seq);

  -- The times are set once an item is counted in its slots.
  CREATE TABLE inbox (
    seq ${seq},
    id ${text} NOT NULL UNIQUE,
    issue_ref ${text} NOT NULL,
    run_id ${text} NOT NULL,
    item ${text} NOT NULL,
    resolution ${text},
    created_at ${bigint},
    resolved_at ${bigint}
  )${table};
  CREATE INDEX inbox_by_issue ON inbox (issue_ref, seq);
  CREATE INDEX inbox_open ON inbox (seq, resolution) WHERE resolution IS NULL;
  CREATE INDEX inbox_open_by_creation ON inbox (created_at) WHERE resolution IS NULL AND created_at IS NOT NULL;
  CREATE INDEX inbox_to_count ON inbox (seq) WHERE created_at IS NULL OR (resolution IS NOT NULL AND resolved_at IS NULL);
  CREATE INDEX inbox_by_creation ON inbox (created_at) WHERE created_at IS NOT NULL;
  CREATE INDEX inbox_by_resolution ON inbox (resolved_at) WHERE resolved_at IS NOT NULL;

  CREATE TABLE outbox (
    seq ${seq},
    id ${text} NOT NULL UNIQUE,
    sink ${text} NOT NULL,
    issue_ref ${text} NOT NULL,
    trigger_key ${text} NOT NULL,
    body ${text} NOT NULL,
    state ${text} NOT NULL CHECK (state IN ('waiting', 'sending', 'delivered', 'dead')),
    tries integer NOT NULL DEFAULT 0,
    due_at ${bigint} NOT NULL,
    lease_until ${bigint},
    worker_id ${text},
    last_error ${text},
    delivered_to ${text},
    created_at ${bigint} NOT NULL,
    UNIQUE (sink, issue_ref, trigger_key)
  )${table};
  CREATE INDEX outbox_by_state ON outbox (state, seq);
  CREATE INDEX outbox_by_issue ON outbox (issue_ref, seq);
  CREATE INDEX outbox_open ON outbox (seq) WHERE state IN ('waiting', 'sending');
  CREATE INDEX outbox_line ON outbox (sink, issue_ref, seq) WHERE state IN ('waiting', 'sending');

  CREATE TABLE installation (number integer PRIMARY KEY CHECK (number = 1), id ${text} NOT NULL)${table};

  CREATE TABLE runs (
    seq ${seq},
    id ${text} NOT NULL UNIQUE,
    request_id ${text},
    spec ${text} NOT NULL,
    engine ${text} NOT NULL,
    state ${text} NOT NULL CHECK (state IN ('queued', 'running', 'waiting', 'ended')),
    order_issue_ref ${text},
    order_run_id ${text},
    worker_type ${text},
    -- The required labels and the wrapper type: what a worker must have to claim the run (formatKind in queue-rules.ts).
    kind ${text} NOT NULL DEFAULT ' ',
    priority ${real} NOT NULL DEFAULT 0,
    -- Callers take turns: of runs with one priority, those with the lowest number are claimed first.
    caller ${text} NOT NULL DEFAULT '',
    turn ${bigint} NOT NULL DEFAULT 0,
    folder ${text} NOT NULL DEFAULT '',
    exclusive integer NOT NULL DEFAULT 1,
    parked_on ${text} NOT NULL DEFAULT '',
    not_before ${bigint} NOT NULL DEFAULT 0,
    worker_id ${text},
    host ${text},
    pid ${bigint},
    pid_started ${text},
    cancel_requested integer NOT NULL DEFAULT 0,
    reply ${text},
    refused_answers ${text},
    created_at ${bigint} NOT NULL,
    started_at ${bigint},
    ended_at ${bigint},
    purged_at ${bigint},
    result ${text},
    -- The state of the repository before the work started, until the run has ended.
    repository_start ${text}
  )${table};
  CREATE UNIQUE INDEX runs_by_request ON runs (request_id) WHERE request_id IS NOT NULL;
  CREATE INDEX runs_by_state ON runs (state, seq);
  CREATE INDEX runs_by_engine ON runs (engine, seq);
  CREATE INDEX runs_busy ON runs (folder, host) WHERE state IN ('running', 'waiting');
  CREATE INDEX runs_by_end ON runs (ended_at, seq) WHERE state = 'ended';
  CREATE INDEX runs_unpurged ON runs (ended_at) WHERE state = 'ended' AND purged_at IS NULL;
  CREATE INDEX runs_purged ON runs (purged_at, seq) WHERE purged_at IS NOT NULL;
  -- A queued run is parked while claiming it is pointless: on a host that uses its folder, or everywhere ('*') while another
  -- run of its lane (same folder, exclusive or not, same kind) comes first. A deferred run must not be claimed before a
  -- given time, and is never parked. A claim reads neither, so it takes as long with 100,000 of them as without.
  CREATE INDEX runs_ready ON runs (kind, parked_on, priority DESC, turn, seq)
    WHERE state = 'queued' AND not_before = 0 AND parked_on <> '*';
  CREATE INDEX runs_lanes ON runs (folder, parked_on, exclusive, kind, priority DESC, turn, seq)
    WHERE state = 'queued' AND not_before = 0;
  CREATE INDEX runs_deferred ON runs (not_before) WHERE state = 'queued' AND not_before > 0;
  CREATE INDEX runs_to_place ON runs (priority DESC, turn, seq) WHERE state = 'queued' AND not_before = ${PLACED};
  CREATE INDEX runs_queued_canceled ON runs (priority DESC, turn, seq) WHERE state = 'queued' AND cancel_requested = 1;
  CREATE INDEX runs_turns ON runs (priority, state, turn) WHERE state <> 'ended';
  CREATE INDEX runs_of_caller ON runs (caller, priority, turn) WHERE state = 'queued';

  -- Until when claims are valid. A claim is renewed every few seconds: in PostgreSQL such an update must touch no index and find
  -- room on its page, so the table is narrow, sparse and has no index on the time. Everything that ends a claim, and an
  -- adoption, deletes its row; so a renewal that had to wait for it finds none.
  CREATE TABLE leases (seq ${bigint} PRIMARY KEY, lease_until ${bigint} NOT NULL)${table};

  -- Runs that a server has placed, from their first claim until their place is removed.
  CREATE TABLE placements (
    run ${text} PRIMARY KEY,
    placement ${text} NOT NULL,
    place_name ${text},
    place_uid ${text},
    tries integer NOT NULL,
    retry_at ${bigint} NOT NULL DEFAULT 0
  )${keyed};

  -- Fields that are scanned by the thousand, separate from spec and result.
  CREATE TABLE run_digests (
    seq ${bigint} PRIMARY KEY REFERENCES runs (seq),
    engine ${text} NOT NULL,
    outcome ${text},
    repair_level ${text},
    engine_version ${text},
    unknown_types integer NOT NULL DEFAULT 0,
    unknown_fields integer NOT NULL DEFAULT 0,
    usage ${text},
    created_at ${bigint} NOT NULL,
    started_at ${bigint},
    ended_at ${bigint}
  )${table};
  CREATE INDEX run_digests_by_creation ON run_digests (created_at, seq);
  CREATE INDEX run_digests_by_end ON run_digests (ended_at, seq) WHERE ended_at IS NOT NULL;
  -- The text that searches match, in rows that never change: of a run's request, with twice its number, and of its end,
  -- with the number after that.
  CREATE TABLE run_words (number ${bigint} PRIMARY KEY, words ${text} NOT NULL)${table};

  -- Ended runs and inbox items, counted in slots of a minute, an hour and a day; ended runs that are not counted yet.
  CREATE TABLE run_slots (
    length integer NOT NULL,
    at ${bigint} NOT NULL,
    engine ${text} NOT NULL,
    counts ${text} NOT NULL,
    PRIMARY KEY (length, at, engine)
  )${keyed};
  CREATE TABLE inbox_slots (
    length integer NOT NULL,
    at ${bigint} NOT NULL,
    counts ${text} NOT NULL,
    PRIMARY KEY (length, at)
  )${keyed};
  CREATE TABLE runs_to_count (seq ${bigint} PRIMARY KEY)${table};
  -- Runs and executions that are counted in metrics, so multiple servers do not count one twice.
  CREATE TABLE counted (id ${text} PRIMARY KEY, at ${bigint} NOT NULL)${keyed};
  CREATE INDEX counted_by_time ON counted (at);

  -- Consecutive events of a run, compressed. Without row ids, a search in SQLite would copy every large body it passes.
  CREATE TABLE event_packs (
    run_id ${text} NOT NULL,
    protocol ${text} NOT NULL,
    attempt integer NOT NULL,
    first_seq integer NOT NULL,
    last_seq integer NOT NULL,
    body ${bytes} NOT NULL
  )${table};

  CREATE TABLE results (
    seq ${seq},
    key ${text} NOT NULL UNIQUE,
    bytes ${bigint} NOT NULL,
    cached_at ${bigint} NOT NULL,
    entry ${text} NOT NULL
  )${table};

  CREATE TABLE workers (
    id ${text} PRIMARY KEY,
    host ${text} NOT NULL,
    version ${text} NOT NULL,
    engines ${text} NOT NULL,
    capacity integer NOT NULL,
    busy integer NOT NULL,
    stopping integer NOT NULL,
    seen_at ${bigint} NOT NULL,
    alive_until ${bigint} NOT NULL
  )${table};
  CREATE TABLE schedule_ticks (
    schedule ${text} NOT NULL,
    at ${bigint} NOT NULL,
    action ${text} NOT NULL,
    why ${text} NOT NULL,
    run_id ${text},
    PRIMARY KEY (schedule, at)
  )${table};
  CREATE TABLE schedule_pauses (
    schedule ${text} PRIMARY KEY,
    who ${text} NOT NULL,
    why ${text} NOT NULL,
    at ${bigint} NOT NULL
  )${table};
  CREATE TABLE job_leases (name ${text} PRIMARY KEY, owner ${text} NOT NULL, held_until ${bigint} NOT NULL)${table};

  -- Usage and shares of budgets, and the daily sums of the usage: of all runs, and of each caller's or issue's runs.
  -- Triggers keep the sums, whichever statement changes an entry. PostgreSQL splits a sum into parts, so concurrent
  -- reports seldom wait for each other.
  CREATE TABLE budget_entries (
    run ${text} PRIMARY KEY,
    caller ${text},
    issue_ref ${text},
    at ${bigint} NOT NULL,
    tokens ${real} NOT NULL DEFAULT 0,
    cost ${real} NOT NULL DEFAULT 0,
    held_tokens ${real} NOT NULL DEFAULT 0,
    held_cost ${real} NOT NULL DEFAULT 0,
    waits_for ${text}
  )${keyed};
  CREATE INDEX budget_entries_by_time ON budget_entries (at);
  CREATE INDEX budget_entries_waiting ON budget_entries (waits_for, run) WHERE waits_for IS NOT NULL;
  CREATE TABLE budget_totals (
    scope ${text} NOT NULL,
    name ${text} NOT NULL,
    day ${bigint} NOT NULL,
    part integer NOT NULL DEFAULT 0,
    tokens ${real} NOT NULL,
    cost ${real} NOT NULL,
    PRIMARY KEY (scope, name, day, part)
  )${keyed};
  CREATE INDEX budget_totals_by_day ON budget_totals (day);

  -- A run with the run that keeps it from its folder and the budget it waits for.
  CREATE VIEW run_records AS
    SELECT runs.*, (SELECT lease_until FROM leases WHERE leases.seq = runs.seq) AS lease_until,
      ${findFolderHolder('id')} AS folder_holder,
      ${findFolderHolder('started_at')} AS folder_held_since,
      CASE WHEN runs.state = 'queued' THEN (SELECT waits_for FROM budget_entries WHERE run = runs.id) END AS waits_for
    FROM runs;
  -- An order with what follows from its run.
  CREATE VIEW order_records AS
    SELECT orders.*, runs.started_at AS started_at, CASE
      WHEN orders.settled_at IS NULL THEN CASE WHEN runs.state = 'queued' THEN 'queued' ELSE 'running' END
      WHEN orders.decision IS NULL THEN 'canceled' ELSE 'settled' END AS state
    FROM orders LEFT JOIN runs ON runs.id = orders.run;
  ${additions}`;
}

/** Builds the expression for a column of the run that occupies the folder of a queued run. */
function findFolderHolder(column: string): string {
  return `CASE WHEN runs.state = 'queued' THEN (
      SELECT busy.${column} FROM runs AS busy
      WHERE busy.folder = runs.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR runs.exclusive = 1)
      ORDER BY busy.host, busy.seq LIMIT 1) END`;
}

/** The tables in the order of their references, each with its key, and the columns that can be large. */
export const STORED_TABLES: readonly StoredTable[] = [
  { name: 'installation', key: ['number'], large: [] },
  { name: 'issues', key: ['seq'], large: [] },
  { name: 'orders', key: ['seq'], large: ['work_order', 'entry', 'result'] },
  { name: 'executions', key: ['seq'], large: ['record'] },
  { name: 'inbox', key: ['seq'], large: ['item'] },
  { name: 'outbox', key: ['seq'], large: ['body'] },
  { name: 'runs', key: ['seq'], large: ['spec', 'result', 'repository_start'] },
  { name: 'placements', key: ['run'], large: [] },
  { name: 'leases', key: ['seq'], large: [] },
  { name: 'run_digests', key: ['seq'], large: [] },
  { name: 'run_words', key: ['number'], large: ['words'] },
  { name: 'runs_to_count', key: ['seq'], large: [] },
  { name: 'run_slots', key: ['length', 'at', 'engine'], large: ['counts'] },
  { name: 'inbox_slots', key: ['length', 'at'], large: ['counts'] },
  { name: 'counted', key: ['id'], large: [] },
  { name: 'event_packs', key: ['run_id', 'protocol', 'attempt', 'last_seq'], large: ['body'] },
  { name: 'results', key: ['seq'], large: ['entry'] },
  { name: 'workers', key: ['id'], large: [] },
  { name: 'schedule_ticks', key: ['schedule', 'at'], large: [] },
  { name: 'schedule_pauses', key: ['schedule'], large: [] },
  { name: 'budget_entries', key: ['run'], large: [] },
];

export interface StoredTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly large: readonly string[];
}
