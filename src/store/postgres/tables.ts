import type { SchemaDialect } from '../sql/schema.js';

/**
 * The functions and triggers of the queue. For every parked run there is an unparked run in its lane, or a run that
 * occupies its folder. A transaction that removes one of these holds the folder's lock and then unparks the first run of
 * each lane; a transaction that parks a run holds the lock, too. A claim on the server takes one round trip instead of one
 * per candidate, lock and update: at least six.
 */
const QUEUE = `
  -- Connections that listen. Each holds the advisory lock of its number while it lives. Lost in a crash of the server, with the
  -- connections: they register again.
  CREATE UNLOGGED TABLE sluice.followers (
    run_id text COLLATE "C" NOT NULL,
    listener bigint NOT NULL,
    PRIMARY KEY (run_id, listener)
  );
  CREATE INDEX followers_by_listener ON sluice.followers (listener);
  -- Workers that watch the queue, and what they take.
  CREATE UNLOGGED TABLE sluice.queue_watchers (
    listener bigint NOT NULL,
    worker text NOT NULL,
    worker_types text[],
    takes_orders boolean NOT NULL,
    takes_runs boolean NOT NULL,
    is_full boolean NOT NULL DEFAULT false,
    PRIMARY KEY (listener, worker)
  );

  -- A thousand locks for all folders, and as many for all types: a transaction that adds many runs must not take more locks than a
  -- server has. Negative, unlike the numbers of listeners. Two folders with one lock wait for each other, no more.
  CREATE FUNCTION sluice.lock_key(kind text, name text) RETURNS bigint LANGUAGE sql IMMUTABLE
    AS $$ SELECT -1 - (hashtextextended(name, 0) & 1023) - CASE kind WHEN 'folder' THEN 0 ELSE 1024 END $$;

  -- Wakes one worker that has room and takes such runs. A wake-up assigns nothing.
  CREATE FUNCTION sluice.wake_worker(kind text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE found bigint;
  BEGIN
    FOR found IN
      SELECT listener FROM sluice.queue_watchers
      WHERE NOT is_full AND CASE WHEN kind = '' THEN takes_runs
        ELSE takes_orders AND (worker_types IS NULL OR kind = ANY (worker_types)) END
      ORDER BY random()
    LOOP
      -- The lock is free only if the connection is gone.
      IF pg_try_advisory_xact_lock_shared(found) THEN CONTINUE; END IF;
      PERFORM pg_notify('sluice_' || found, 'runs');
      RETURN;
    END LOOP;
  END $$;

  -- Wakes one worker, full or not, to deliver comments.
  CREATE FUNCTION sluice.wake_deliverer() RETURNS void LANGUAGE plpgsql AS $$
  DECLARE found bigint;
  BEGIN
    FOR found IN SELECT listener FROM sluice.queue_watchers ORDER BY is_full, random() LOOP
      IF pg_try_advisory_xact_lock_shared(found) THEN CONTINUE; END IF;
      PERFORM pg_notify('sluice_' || found, 'messages');
      RETURN;
    END LOOP;
  END $$;

  -- Unparks the first run of a lane, or of the first lane after it; null if there is none. A row that someone has locked is being
  -- canceled: it needs no folder, or leaves the queue and comes here again.
  CREATE FUNCTION sluice.unpark(of_folder text, after_exclusive integer, after_kind text, is_same boolean) RETURNS sluice.runs
  LANGUAGE plpgsql AS $$
  DECLARE head sluice.runs;
  BEGIN
    SELECT * INTO head FROM sluice.runs
    WHERE folder = of_folder AND state = 'queued' AND parked = 1
      AND CASE WHEN is_same THEN (exclusive, coalesce(worker_type, '')) = (after_exclusive, after_kind)
        ELSE (exclusive, coalesce(worker_type, '')) > (after_exclusive, after_kind) END
    ORDER BY exclusive, coalesce(worker_type, ''), priority DESC, seq
    LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN NULL; END IF;
    UPDATE sluice.runs SET parked = 0 WHERE seq = head.seq;
    PERFORM sluice.wake_worker(coalesce(head.worker_type, ''));
    RETURN head;
  END $$;

  -- Unparks the first run of each lane that the runs in the folder leave room for.
  CREATE FUNCTION sluice.unpark_lanes(of_folder text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head sluice.runs;
    last_exclusive integer := 0;
    last_kind text := '';
  BEGIN
    IF NOT EXISTS (SELECT FROM sluice.runs WHERE folder = of_folder AND state = 'queued' AND parked = 1) THEN RETURN; END IF;
    IF EXISTS (
      SELECT FROM sluice.runs WHERE folder = of_folder AND state IN ('running', 'waiting') AND exclusive = 1
    ) THEN RETURN; END IF;
    -- No lane is before this one: a plain run shares its folder with nothing.
    head := sluice.unpark(of_folder, last_exclusive, last_kind, true);
    LOOP
      head := sluice.unpark(of_folder, last_exclusive, last_kind, false);
      EXIT WHEN head.seq IS NULL;
      last_exclusive := head.exclusive;
      last_kind := coalesce(head.worker_type, '');
    END LOOP;
  END $$;

  CREATE FUNCTION sluice.add_to_queue() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- Without the lock the folder is changing: the run is left to a claim, which parks it if need be.
    IF pg_try_advisory_xact_lock_shared(sluice.lock_key('folder', NEW.folder)) THEN
      NEW.parked := (EXISTS (
        SELECT FROM sluice.runs AS busy
        WHERE busy.folder = NEW.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR NEW.exclusive = 1)
      ) OR EXISTS (
        SELECT FROM sluice.runs AS ahead
        WHERE ahead.folder = NEW.folder AND ahead.state = 'queued' AND ahead.parked = 0
          AND ahead.exclusive = NEW.exclusive AND ahead.worker_type IS NOT DISTINCT FROM NEW.worker_type
          AND ahead.priority >= NEW.priority AND ahead.not_before = 0
      ))::integer;
    END IF;
    IF NEW.parked = 0 THEN PERFORM sluice.wake_worker(coalesce(NEW.worker_type, '')); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER add_to_queue BEFORE INSERT ON sluice.runs FOR EACH ROW WHEN (NEW.state = 'queued' AND NEW.not_before = 0)
    EXECUTE FUNCTION sluice.add_to_queue();

  -- True if more are due than one transaction admits. Those that another claim admits are left to it.
  CREATE FUNCTION sluice.admit_due(claim_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE admitted integer;
  BEGIN
    IF NOT EXISTS (SELECT FROM sluice.runs WHERE state = 'queued' AND not_before > 0 AND not_before <= claim_at) THEN
      RETURN false;
    END IF;
    UPDATE sluice.runs SET not_before = 0 WHERE seq = ANY (ARRAY(
      SELECT seq FROM sluice.runs WHERE state = 'queued' AND not_before > 0 AND not_before <= claim_at
      ORDER BY not_before LIMIT 256 FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS admitted = ROW_COUNT;
    RETURN admitted = 256;
  END $$;

  -- A run has left its folder or the queue, other than by being claimed.
  CREATE FUNCTION sluice.leave_folder() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.state = 'ended' THEN
      PERFORM pg_notify('sluice_' || listener, 'run ' || run_id) FROM sluice.followers WHERE run_id = NEW.id;
    END IF;
    PERFORM pg_advisory_xact_lock(sluice.lock_key('folder', NEW.folder));
    PERFORM sluice.unpark_lanes(NEW.folder);
    IF NEW.state = 'queued' THEN PERFORM sluice.wake_worker(coalesce(NEW.worker_type, ''));
    -- Of a type with a limit another one may be claimed now.
    ELSIF OLD.state <> 'queued' AND NEW.worker_type IS NOT NULL AND EXISTS (
      SELECT FROM sluice.runs WHERE state = 'queued' AND parked = 0 AND not_before = 0 AND coalesce(worker_type, '') = NEW.worker_type
    ) THEN PERFORM sluice.wake_worker(NEW.worker_type);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER leave_folder AFTER UPDATE OF state ON sluice.runs FOR EACH ROW
    WHEN (OLD.state <> NEW.state AND NEW.state IN ('queued', 'ended'))
    EXECUTE FUNCTION sluice.leave_folder();

  -- The last run of a race decides the orders of the others, which have ended before.
  CREATE FUNCTION sluice.announce_decision() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('sluice_' || listener, 'run ' || run_id) FROM sluice.followers WHERE run_id = NEW.run;
    RETURN NULL;
  END $$;
  CREATE TRIGGER announce_decision AFTER UPDATE OF decision ON sluice.orders FOR EACH ROW
    WHEN (OLD.decision IS NULL AND NEW.decision IS NOT NULL) EXECUTE FUNCTION sluice.announce_decision();

  CREATE FUNCTION sluice.announce_request() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('sluice_requests', NEW.id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER announce_request AFTER UPDATE OF cancel_requested, reply ON sluice.runs FOR EACH ROW
    WHEN (NEW.cancel_requested > OLD.cancel_requested OR (NEW.reply IS NOT NULL AND OLD.reply IS NULL))
    EXECUTE FUNCTION sluice.announce_request();

  -- Claims the next run. Folders and limited types are locked one by one, never waiting: what others are changing is passed over, and
  -- if there is nothing else, "contended" is the lock to wait for in the next call. With "is_more" so many runs were parked that the
  -- transaction ends here and the next one goes on.
  CREATE FUNCTION sluice.claim_run(
    claim_worker text, claim_host text, claim_pid bigint, claim_pid_started text, claim_until bigint, claim_at bigint,
    kinds text[], limited text[], limits double precision[], orders boolean, plain boolean,
    watcher_listener bigint, watcher_worker text, is_last boolean, wait_for bigint
  ) RETURNS TABLE (run sluice.runs, contended bigint, is_more boolean) LANGUAGE plpgsql AS $$
  DECLARE
    full_kinds text[];
    locked_kinds text[] := '{}';
    open_kinds text[];
    candidate record;
    queued sluice.runs;
    key bigint;
    has_parked boolean;
  BEGIN
    is_more := false;
    IF wait_for IS NOT NULL THEN PERFORM pg_advisory_xact_lock(wait_for); END IF;
    is_more := sluice.admit_due(claim_at);
    SELECT coalesce(array_agg(kind), '{}') INTO full_kinds FROM unnest(limited, limits) AS each (kind, most)
      WHERE (SELECT count(*) FROM sluice.runs WHERE worker_type = kind AND state IN ('running', 'waiting')) >= most;
    WITH RECURSIVE steps (kind) AS (
      (SELECT coalesce(worker_type, '') FROM sluice.runs WHERE state = 'queued' AND parked = 0 AND not_before = 0 ORDER BY coalesce(worker_type, '') LIMIT 1)
      UNION ALL
      SELECT (
        SELECT coalesce(worker_type, '') FROM sluice.runs
        WHERE state = 'queued' AND parked = 0 AND not_before = 0 AND coalesce(worker_type, '') > steps.kind ORDER BY coalesce(worker_type, '') LIMIT 1)
      FROM steps WHERE steps.kind IS NOT NULL
    )
    SELECT array_agg(kind) INTO open_kinds FROM steps WHERE kind IS NOT NULL;

    FOR round IN 1..4 LOOP
      has_parked := false;
      FOR candidate IN
        SELECT ready.* FROM unnest(open_kinds) AS wanted (kind) CROSS JOIN LATERAL (
          SELECT seq, folder, priority, coalesce(worker_type, '') AS kind FROM sluice.runs
          WHERE state = 'queued' AND parked = 0 AND not_before = 0 AND coalesce(worker_type, '') = wanted.kind AND not_before <= claim_at
          ORDER BY priority DESC, seq LIMIT 32) AS ready
        WHERE CASE WHEN wanted.kind = '' THEN plain ELSE orders AND (kinds IS NULL OR wanted.kind = ANY (kinds)) END
          AND NOT wanted.kind = ANY (full_kinds)
        UNION
        SELECT seq, folder, priority, worker_type FROM sluice.runs
        WHERE state = 'queued' AND cancel_requested = 1 AND not_before <= claim_at
          AND orders AND (kinds IS NULL OR worker_type = ANY (kinds)) AND NOT worker_type = ANY (full_kinds)
        ORDER BY priority DESC, seq
        LIMIT 32
      LOOP
        IF candidate.kind = ANY (full_kinds) THEN CONTINUE; END IF;
        IF candidate.kind = ANY (limited) AND NOT candidate.kind = ANY (locked_kinds) THEN
          key := sluice.lock_key('type', candidate.kind);
          IF NOT pg_try_advisory_xact_lock(key) THEN
            contended := coalesce(contended, key);
            CONTINUE;
          END IF;
          locked_kinds := locked_kinds || candidate.kind;
          -- Counted again: now no other worker claims runs of this type.
          IF (SELECT count(*) FROM sluice.runs WHERE worker_type = candidate.kind AND state IN ('running', 'waiting'))
            >= limits[array_position(limited, candidate.kind)]
          THEN
            full_kinds := full_kinds || candidate.kind;
            CONTINUE;
          END IF;
        END IF;
        key := sluice.lock_key('folder', candidate.folder);
        IF NOT pg_try_advisory_xact_lock(key) THEN
          contended := coalesce(contended, key);
          CONTINUE;
        END IF;
        SELECT * INTO queued FROM sluice.runs WHERE seq = candidate.seq AND state = 'queued' AND not_before <= claim_at
          FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN CONTINUE; END IF;
        -- A canceled order needs no folder: it is settled without a process.
        IF queued.cancel_requested = 0 AND EXISTS (
          SELECT FROM sluice.runs AS busy
          WHERE busy.folder = queued.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR queued.exclusive = 1)
        ) THEN
          UPDATE sluice.runs SET parked = 1 WHERE seq = queued.seq;
          has_parked := true;
          CONTINUE;
        END IF;
        UPDATE sluice.runs SET state = 'running', worker_id = claim_worker, host = claim_host, pid = claim_pid,
          pid_started = claim_pid_started, lease_until = claim_until, not_before = 0, parked = 0
        WHERE seq = queued.seq RETURNING * INTO run;
        IF queued.exclusive = 0 THEN PERFORM sluice.unpark(queued.folder, 0, candidate.kind, true); END IF;
        contended := NULL;
        IF is_last THEN
          UPDATE sluice.queue_watchers SET is_full = true
          WHERE listener = watcher_listener AND worker = watcher_worker AND NOT is_full;
          -- This worker takes nothing more; another one may.
          PERFORM sluice.wake_worker(kind) FROM (
            SELECT coalesce(worker_type, '') AS kind FROM sluice.runs WHERE state = 'queued' AND parked = 0 AND not_before = 0
            ORDER BY coalesce(worker_type, '') LIMIT 1) AS more;
        END IF;
        RETURN NEXT;
        RETURN;
      END LOOP;
      EXIT WHEN NOT has_parked;
      is_more := is_more OR round = 4;
    END LOOP;
    IF contended IS NULL AND NOT is_more THEN
      UPDATE sluice.queue_watchers SET is_full = false WHERE listener = watcher_listener AND worker = watcher_worker AND is_full;
    END IF;
    RETURN NEXT;
  END $$;
`;

/** The daily sums of budget usage. */
const BUDGETS = `
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
  CREATE TRIGGER count_budget AFTER INSERT OR UPDATE OR DELETE ON sluice.budget_entries FOR EACH ROW
    EXECUTE FUNCTION sluice.count_budget();
`;

/** The tables in PostgreSQL. A body is compressed already. */
export const POSTGRES_SCHEMA: SchemaDialect = {
  seq: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
  text: 'text COLLATE "C"',
  bigint: 'bigint',
  real: 'double precision',
  bytes: 'bytea',
  table: '',
  keyed: '',
  additions: `
  CREATE UNIQUE INDEX event_packs_by_position ON event_packs (run_id, protocol, attempt, last_seq);
  CREATE INDEX runs_busy_by_type ON runs (worker_type) WHERE state IN ('running', 'waiting');
  ALTER TABLE event_packs ALTER COLUMN body SET STORAGE EXTERNAL;
  ${QUEUE}${BUDGETS}`,
};
