import type { SchemaDialect } from '../sql/schema.js';

/**
 * The functions and triggers of the queue. For every run that is parked everywhere there is another queued run in its
 * lane that is not, and for every run that is parked on a host a run that occupies its folder there. A transaction that
 * removes one of these holds the folder's lock and unparks runs; a transaction that parks a run holds the lock, too. A
 * claim on the server takes one round trip instead of one per candidate, lock and update: at least six.
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
    label_sets text[] NOT NULL,
    is_full boolean NOT NULL DEFAULT false,
    PRIMARY KEY (listener, worker)
  );

  -- A thousand locks for all folders, and as many for all types and all turns: a transaction that adds many runs must not take more
  -- locks than a server has. Negative, unlike the numbers of listeners. Two folders with one lock wait for each other, no more.
  CREATE FUNCTION sluice.lock_key(kind text, name text) RETURNS bigint LANGUAGE sql IMMUTABLE
    AS $$ SELECT -1 - (hashtextextended(name, 0) & 1023) - CASE kind WHEN 'folder' THEN 0 ELSE 1024 END $$;

  -- Of runs that a caller submits at once, each would get the number after the last committed one, and others would wait for all of
  -- them. The lock of a number is free once its run is committed, and visible to the next statement, or rolled back. None waits.
  CREATE FUNCTION sluice.choose_turn() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    FOR attempt IN 1..1024 LOOP
      IF pg_try_advisory_xact_lock(-2049 - ((hashtextextended(NEW.caller, 0) + NEW.turn) & 1023)) THEN
        PERFORM FROM sluice.runs
          WHERE caller = NEW.caller AND priority = NEW.priority AND turn = NEW.turn AND state = 'queued';
        IF NOT FOUND THEN RETURN NEW; END IF;
      END IF;
      NEW.turn := NEW.turn + 1;
    END LOOP;
    RETURN NEW;
  END $$;
  -- Its name comes before that of add_to_queue, which compares turns.
  CREATE TRIGGER a_choose_turn BEFORE INSERT ON sluice.runs FOR EACH ROW WHEN (NEW.state = 'queued' AND NEW.turn > 0)
    EXECUTE FUNCTION sluice.choose_turn();

  -- Wakes one worker that has room and takes such runs. A wake-up assigns nothing.
  CREATE FUNCTION sluice.wake_worker(kind text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    labels text := split_part(kind, ' ', 1);
    type text := split_part(kind, ' ', 2);
    found bigint;
  BEGIN
    FOR found IN
      SELECT listener FROM sluice.queue_watchers
      WHERE NOT is_full AND labels = ANY (label_sets)
        AND CASE type WHEN '' THEN takes_runs ELSE takes_orders AND (worker_types IS NULL OR type = ANY (worker_types)) END
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

  CREATE FUNCTION sluice.add_to_queue() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- Without the lock the folder is changing: the run is left to a claim, which parks it if need be.
    IF pg_try_advisory_xact_lock_shared(sluice.lock_key('folder', NEW.folder)) AND (EXISTS (
      SELECT FROM sluice.runs
      WHERE folder = NEW.folder AND parked_on = '' AND exclusive = NEW.exclusive AND kind = NEW.kind
        AND state = 'queued' AND not_before = 0
        AND (priority > NEW.priority OR (priority = NEW.priority AND turn <= NEW.turn))
    ) OR EXISTS (
      SELECT FROM sluice.runs
      WHERE folder = NEW.folder AND parked_on > '*' AND exclusive = NEW.exclusive AND kind = NEW.kind
        AND state = 'queued' AND not_before = 0
        AND (priority > NEW.priority OR (priority = NEW.priority AND turn <= NEW.turn))
    )) THEN NEW.parked_on := '*';
    ELSE PERFORM sluice.wake_worker(NEW.kind);
    END IF;
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

  -- The next run of the lane comes first. If its folder is in use now, it can be claimed on other hosts. A row that someone has
  -- locked is being canceled: it needs no folder, or leaves the queue and comes here again.
  CREATE FUNCTION sluice.leave_queue() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE following bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(sluice.lock_key('folder', NEW.folder));
    SELECT seq INTO following FROM sluice.runs
    WHERE folder = NEW.folder AND parked_on = '*' AND exclusive = NEW.exclusive AND kind = NEW.kind
      AND state = 'queued' AND not_before = 0
    ORDER BY priority DESC, turn, seq LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN NULL; END IF;
    UPDATE sluice.runs SET parked_on = CASE WHEN NEW.state = 'running' AND NEW.exclusive = 1 THEN NEW.host ELSE '' END
    WHERE seq = following;
    PERFORM sluice.wake_worker(NEW.kind);
    RETURN NULL;
  END $$;
  CREATE TRIGGER leave_queue AFTER UPDATE OF state ON sluice.runs FOR EACH ROW
    WHEN (OLD.state = 'queued' AND NEW.state <> 'queued' AND OLD.parked_on <> '*' AND OLD.not_before = 0)
    EXECUTE FUNCTION sluice.leave_queue();

  CREATE FUNCTION sluice.leave_folder() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE unparked record;
  BEGIN
    DELETE FROM sluice.leases WHERE seq = NEW.seq;
    PERFORM pg_advisory_xact_lock(sluice.lock_key('folder', NEW.folder));
    FOR unparked IN
      SELECT seq, kind FROM sluice.runs
      WHERE folder = NEW.folder AND state = 'queued' AND not_before = 0 AND parked_on > '*'
      ORDER BY parked_on FOR NO KEY UPDATE SKIP LOCKED
    LOOP
      UPDATE sluice.runs SET parked_on = '' WHERE seq = unparked.seq;
      PERFORM sluice.wake_worker(unparked.kind);
    END LOOP;
    IF NEW.state = 'queued' THEN PERFORM sluice.wake_worker(NEW.kind);
    -- Of a type with a limit another one may be claimed now.
    ELSIF NEW.worker_type IS NOT NULL AND EXISTS (
      SELECT FROM sluice.runs WHERE state = 'queued' AND not_before = 0 AND parked_on = '' AND kind = NEW.kind
    ) THEN PERFORM sluice.wake_worker(NEW.kind);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER leave_folder AFTER UPDATE OF state ON sluice.runs FOR EACH ROW
    WHEN (OLD.state IN ('running', 'waiting') AND NEW.state IN ('queued', 'ended'))
    EXECUTE FUNCTION sluice.leave_folder();

  CREATE FUNCTION sluice.end_run() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO sluice.runs_to_count (seq) VALUES (NEW.seq) ON CONFLICT DO NOTHING;
    PERFORM pg_notify('sluice_' || listener, 'run ' || run_id) FROM sluice.followers WHERE run_id = NEW.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER end_run AFTER UPDATE OF state ON sluice.runs FOR EACH ROW
    WHEN (OLD.state <> 'ended' AND NEW.state = 'ended') EXECUTE FUNCTION sluice.end_run();

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
    types text[], limited text[], limits double precision[], orders boolean, plain boolean, label_sets text[],
    watcher_listener bigint, watcher_worker text, is_last boolean, wait_for bigint
  ) RETURNS TABLE (run sluice.runs, contended bigint, is_more boolean) LANGUAGE plpgsql ROWS 1
  -- Planning took longer than claiming.
  SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    full_types text[];
    locked_types text[] := '{}';
    open_kinds text[];
    open_hosts text[];
    candidate record;
    queued sluice.runs;
    key bigint;
    has_parked boolean;
  BEGIN
    IF wait_for IS NOT NULL THEN PERFORM pg_advisory_xact_lock(wait_for); END IF;
    is_more := sluice.admit_due(claim_at);
    SELECT coalesce(array_agg(type), '{}') INTO full_types FROM unnest(limited, limits) AS each (type, most)
      WHERE (SELECT count(*) FROM sluice.runs WHERE worker_type = type AND state IN ('running', 'waiting')) >= most;
    -- The kinds that the labels fit, by host on which runs are parked.
    WITH RECURSIVE steps (labels, kind, parked_on) AS (
      SELECT labels, head.* FROM unnest(label_sets) AS sets (labels) CROSS JOIN LATERAL (
        SELECT kind, parked_on FROM sluice.runs
        WHERE state = 'queued' AND not_before = 0 AND parked_on <> '*' AND kind > labels AND kind < labels || '!'
        ORDER BY kind, parked_on LIMIT 1) AS head
      UNION ALL
      SELECT labels, later.* FROM steps CROSS JOIN LATERAL (
        SELECT ready.kind, ready.parked_on FROM sluice.runs AS ready
        WHERE ready.state = 'queued' AND ready.not_before = 0 AND ready.parked_on <> '*'
          AND (ready.kind, ready.parked_on) > (steps.kind, steps.parked_on) AND ready.kind < steps.labels || '!'
        ORDER BY ready.kind, ready.parked_on LIMIT 1) AS later
    )
    SELECT array_agg(kind), array_agg(parked_on) INTO open_kinds, open_hosts FROM steps WHERE parked_on <> claim_host;

    FOR round IN 1..4 LOOP
      has_parked := false;
      FOR candidate IN
        SELECT ready.*, split_part(wanted.kind, ' ', 2) AS type
        FROM unnest(open_kinds, open_hosts) AS wanted (kind, host) CROSS JOIN LATERAL (
          SELECT seq, folder, priority, turn FROM sluice.runs
          WHERE state = 'queued' AND not_before = 0 AND parked_on <> '*' AND kind = wanted.kind AND parked_on = wanted.host
          ORDER BY priority DESC, turn, seq LIMIT 32) AS ready
        WHERE CASE split_part(wanted.kind, ' ', 2) WHEN '' THEN plain
          ELSE orders AND (types IS NULL OR split_part(wanted.kind, ' ', 2) = ANY (types)) END
          AND NOT split_part(wanted.kind, ' ', 2) = ANY (full_types)
        UNION
        SELECT seq, folder, priority, turn, worker_type FROM sluice.runs
        WHERE state = 'queued' AND cancel_requested = 1 AND not_before = 0 AND split_part(kind, ' ', 1) = ANY (label_sets)
          AND orders AND (types IS NULL OR worker_type = ANY (types)) AND NOT worker_type = ANY (full_types)
        ORDER BY priority DESC, turn, seq
        LIMIT 32
      LOOP
        IF candidate.type = ANY (full_types) THEN CONTINUE; END IF;
        IF candidate.type = ANY (limited) AND NOT candidate.type = ANY (locked_types) THEN
          key := sluice.lock_key('type', candidate.type);
          IF NOT pg_try_advisory_xact_lock(key) THEN
            contended := coalesce(contended, key);
            CONTINUE;
          END IF;
          locked_types := locked_types || candidate.type;
          -- Counted again: now no other worker claims runs of this type.
          IF (SELECT count(*) FROM sluice.runs WHERE worker_type = candidate.type AND state IN ('running', 'waiting'))
            >= limits[array_position(limited, candidate.type)]
          THEN
            full_types := full_types || candidate.type;
            CONTINUE;
          END IF;
        END IF;
        key := sluice.lock_key('folder', candidate.folder);
        IF NOT pg_try_advisory_xact_lock(key) THEN
          contended := coalesce(contended, key);
          CONTINUE;
        END IF;
        SELECT * INTO queued FROM sluice.runs WHERE seq = candidate.seq AND state = 'queued' AND not_before = 0
          FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN CONTINUE; END IF;
        -- A canceled order needs no folder: it is settled without a process. The host of some runs is unknown.
        IF queued.cancel_requested = 0 AND (EXISTS (
          SELECT FROM sluice.runs AS busy WHERE busy.folder = queued.folder AND busy.host = claim_host
            AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR queued.exclusive = 1)
        ) OR EXISTS (
          SELECT FROM sluice.runs AS busy WHERE busy.folder = queued.folder AND busy.host IS NULL
            AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR queued.exclusive = 1)
        )) THEN
          UPDATE sluice.runs SET parked_on = claim_host WHERE seq = queued.seq;
          -- On another host its folder may be free. Only once: two hosts must not wake each other forever.
          IF queued.parked_on = '' THEN PERFORM sluice.wake_worker(queued.kind); END IF;
          has_parked := true;
          CONTINUE;
        END IF;
        UPDATE sluice.runs SET state = 'running', worker_id = claim_worker, host = claim_host, pid = claim_pid,
          pid_started = claim_pid_started, not_before = 0, parked_on = ''
        WHERE seq = queued.seq RETURNING * INTO run;
        INSERT INTO sluice.leases (seq, lease_until) VALUES (queued.seq, claim_until);
        contended := NULL;
        IF is_last THEN
          UPDATE sluice.queue_watchers SET is_full = true
          WHERE listener = watcher_listener AND worker = watcher_worker AND NOT is_full;
          -- This worker takes nothing more; another one may.
          PERFORM sluice.wake_worker(kind) FROM (
            SELECT kind FROM sluice.runs WHERE state = 'queued' AND not_before = 0 AND parked_on <> '*'
            ORDER BY kind LIMIT 1) AS more;
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

/** The index of searches, if the extension exists or this role may create it. */
const WORDS = `
  DO $$ DECLARE place text;
  BEGIN
    BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN NULL;
    END;
    SELECT quote_ident(nspname) INTO place
      FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
    IF place IS NOT NULL THEN
      EXECUTE 'CREATE INDEX run_words_by_trigram ON sluice.run_words USING gin (words ' || place || '.gin_trgm_ops)';
    END IF;
  END $$;
  -- Only by the index: for a frequent word the planner would read all rows, and for one that it takes for frequent.
  CREATE FUNCTION sluice.find_word(pattern text, most integer) RETURNS SETOF bigint LANGUAGE sql STABLE
    SET enable_seqscan = off AS $$ SELECT number / 2 FROM sluice.run_words WHERE words LIKE pattern LIMIT most $$;
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
  -- A row, its next version and their two pointers for each lease on a page.
  ALTER TABLE leases SET (fillfactor = 40);
  ${QUEUE}${BUDGETS}${WORDS}`,
};
