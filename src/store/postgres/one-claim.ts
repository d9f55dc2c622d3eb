/**
 * The migration step that made runs execute orders: claim, lease, cancellation and folder moved from orders to runs.
 * Like every step, it never changes.
 */
export const ONE_CLAIM = `
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
  `;
