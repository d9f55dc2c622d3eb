/**
 * The migration step that made runs execute orders: claim, lease, cancellation and folder moved from orders to runs.
 * Like every step, it never changes.
 */
export const ONE_CLAIM = `
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
  `;
