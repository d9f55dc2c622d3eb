/** The parts of SQL functions that differ between schema versions. */
interface VersionParts {
  readonly create: string;
  /** The condition of the index that claims use. */
  readonly isReady: string;
  readonly admit: string;
  readonly hasMore: string;
}

const FIRST: VersionParts = {
  create: 'CREATE FUNCTION',
  isReady: `state = 'queued' AND NOT parked`,
  admit: '',
  hasMore: 'round = 4',
};

const CURRENT: VersionParts = {
  create: 'CREATE OR REPLACE FUNCTION',
  isReady: `state = 'queued' AND NOT parked AND not_before = 0`,
  admit: `
    is_more := sluice.admit_due(claim_at);`,
  hasMore: 'is_more OR round = 4',
};

const buildLeaveFolder = ({
  create,
  isReady,
}: VersionParts): string => `  ${create} sluice.leave_folder() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.state = 'ended' THEN
      PERFORM pg_notify('sluice_' || listener, 'run ' || run_id) FROM sluice.followers WHERE run_id = NEW.id;
    END IF;
    PERFORM pg_advisory_xact_lock(sluice.lock_key('folder', NEW.folder));
    PERFORM sluice.unpark_lanes(NEW.folder);
    IF NEW.state = 'queued' THEN PERFORM sluice.wake_worker(coalesce(NEW.worker_type, ''));
    -- Of a type with a limit another one may be claimed now.
    ELSIF OLD.state <> 'queued' AND NEW.worker_type IS NOT NULL AND EXISTS (
      SELECT FROM sluice.runs WHERE ${isReady} AND coalesce(worker_type, '') = NEW.worker_type
    ) THEN PERFORM sluice.wake_worker(NEW.worker_type);
    END IF;
    RETURN NULL;
  END $$;
`;

const buildClaimRun = ({ create, isReady, admit, hasMore }: VersionParts): string => `  ${create} sluice.claim_run(
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
    IF wait_for IS NOT NULL THEN PERFORM pg_advisory_xact_lock(wait_for); END IF;${admit}
    SELECT coalesce(array_agg(kind), '{}') INTO full_kinds FROM unnest(limited, limits) AS each (kind, most)
      WHERE (SELECT count(*) FROM sluice.runs WHERE worker_type = kind AND state IN ('running', 'waiting')) >= most;
    WITH RECURSIVE steps (kind) AS (
      (SELECT coalesce(worker_type, '') FROM sluice.runs WHERE ${isReady} ORDER BY coalesce(worker_type, '') LIMIT 1)
      UNION ALL
      SELECT (
        SELECT coalesce(worker_type, '') FROM sluice.runs
        WHERE ${isReady} AND coalesce(worker_type, '') > steps.kind ORDER BY coalesce(worker_type, '') LIMIT 1)
      FROM steps WHERE steps.kind IS NOT NULL
    )
    SELECT array_agg(kind) INTO open_kinds FROM steps WHERE kind IS NOT NULL;

    FOR round IN 1..4 LOOP
      has_parked := false;
      FOR candidate IN
        SELECT ready.* FROM unnest(open_kinds) AS wanted (kind) CROSS JOIN LATERAL (
          SELECT seq, folder, priority, coalesce(worker_type, '') AS kind FROM sluice.runs
          WHERE ${isReady} AND coalesce(worker_type, '') = wanted.kind AND not_before <= claim_at
          ORDER BY priority DESC, seq LIMIT 32) AS ready
        WHERE CASE WHEN wanted.kind = '' THEN plain ELSE orders AND (kinds IS NULL OR wanted.kind = ANY (kinds)) END
          AND NOT wanted.kind = ANY (full_kinds)
        UNION
        SELECT seq, folder, priority, worker_type FROM sluice.runs
        WHERE state = 'queued' AND cancel_requested AND not_before <= claim_at
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
        IF NOT queued.cancel_requested AND EXISTS (
          SELECT FROM sluice.runs AS busy
          WHERE busy.folder = queued.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive OR queued.exclusive)
        ) THEN
          UPDATE sluice.runs SET parked = true WHERE seq = queued.seq;
          has_parked := true;
          CONTINUE;
        END IF;
        UPDATE sluice.runs SET state = 'running', worker_id = claim_worker, owner_host = claim_host, owner_pid = claim_pid,
          owner_pid_started = claim_pid_started, lease_until = claim_until, not_before = 0, parked = false
        WHERE seq = queued.seq RETURNING * INTO run;
        IF NOT queued.exclusive THEN PERFORM sluice.unpark(queued.folder, false, candidate.kind, true); END IF;
        contended := NULL;
        IF is_last THEN
          UPDATE sluice.queue_watchers SET is_full = true
          WHERE listener = watcher_listener AND worker = watcher_worker AND NOT is_full;
          -- This worker takes nothing more; another one may.
          PERFORM sluice.wake_worker(kind) FROM (
            SELECT coalesce(worker_type, '') AS kind FROM sluice.runs WHERE ${isReady}
            ORDER BY coalesce(worker_type, '') LIMIT 1) AS more;
        END IF;
        RETURN NEXT;
        RETURN;
      END LOOP;
      EXIT WHEN NOT has_parked;
      is_more := ${hasMore};
    END LOOP;
    IF contended IS NULL AND NOT is_more THEN
      UPDATE sluice.queue_watchers SET is_full = false WHERE listener = watcher_listener AND worker = watcher_worker AND is_full;
    END IF;
    RETURN NEXT;
  END $$;
`;

/**
 * The migration step that replaced the single lock for all claims. Like every step, it never changes.
 *
 * A queued run is *parked* while claiming it is pointless: another run of its lane (same folder, exclusive or not, same
 * worker type) comes first, or its folder is in use. No index that a claim reads contains parked runs, so a claim takes
 * as long with 100,000 of them as without. For every parked run there is an unparked run in its lane, or a run that
 * occupies its folder. A transaction that removes one of these holds the folder's lock and then unparks the first run
 * of each lane; a transaction that parks a run holds the lock, too.
 */
export const QUEUE_FUNCTIONS = `
  ALTER TABLE sluice.runs ADD COLUMN parked boolean NOT NULL DEFAULT false;
  DROP INDEX sluice.runs_queued;
  DROP INDEX sluice.runs_lanes;
  CREATE INDEX runs_ready ON sluice.runs ((coalesce(worker_type, '')), priority DESC, seq) WHERE state = 'queued' AND NOT parked;
  CREATE INDEX runs_ready_in_folder ON sluice.runs (folder) WHERE state = 'queued' AND NOT parked;
  CREATE INDEX runs_parked ON sluice.runs (folder, exclusive, (coalesce(worker_type, '')), priority DESC, seq)
    WHERE state = 'queued' AND parked;
  CREATE INDEX runs_busy_by_type ON sluice.runs (worker_type) WHERE state IN ('running', 'waiting');

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
  CREATE FUNCTION sluice.unpark(of_folder text, after_exclusive boolean, after_kind text, is_same boolean) RETURNS sluice.runs
  LANGUAGE plpgsql AS $$
  DECLARE head sluice.runs;
  BEGIN
    SELECT * INTO head FROM sluice.runs
    WHERE folder = of_folder AND state = 'queued' AND parked
      AND CASE WHEN is_same THEN (exclusive, coalesce(worker_type, '')) = (after_exclusive, after_kind)
        ELSE (exclusive, coalesce(worker_type, '')) > (after_exclusive, after_kind) END
    ORDER BY exclusive, coalesce(worker_type, ''), priority DESC, seq
    LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN NULL; END IF;
    UPDATE sluice.runs SET parked = false WHERE seq = head.seq;
    PERFORM sluice.wake_worker(coalesce(head.worker_type, ''));
    RETURN head;
  END $$;

  -- Unparks the first run of each lane that the runs in the folder leave room for.
  CREATE FUNCTION sluice.unpark_lanes(of_folder text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head sluice.runs;
    keeps_all boolean;
    last_exclusive boolean := false;
    last_kind text := '';
  BEGIN
    SELECT bool_or(exclusive) INTO keeps_all FROM sluice.runs WHERE folder = of_folder AND state IN ('running', 'waiting');
    IF keeps_all THEN RETURN; END IF;
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
      NEW.parked := EXISTS (
        SELECT FROM sluice.runs AS busy
        WHERE busy.folder = NEW.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive OR NEW.exclusive)
      ) OR EXISTS (
        SELECT FROM sluice.runs AS ahead
        WHERE ahead.folder = NEW.folder AND ahead.state = 'queued' AND NOT ahead.parked
          AND ahead.exclusive = NEW.exclusive AND ahead.worker_type IS NOT DISTINCT FROM NEW.worker_type
          AND ahead.priority >= NEW.priority AND ahead.not_before = 0
      );
    END IF;
    IF NOT NEW.parked THEN PERFORM sluice.wake_worker(coalesce(NEW.worker_type, '')); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER add_to_queue BEFORE INSERT ON sluice.runs FOR EACH ROW WHEN (NEW.state = 'queued')
    EXECUTE FUNCTION sluice.add_to_queue();

  -- A run has left its folder or the queue, other than by being claimed.
${buildLeaveFolder(FIRST)}  CREATE TRIGGER leave_folder AFTER UPDATE OF state ON sluice.runs FOR EACH ROW
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

  -- Claims the next run. Folders and limited types are locked one by one, never waiting: what others are changing is passed over, and
  -- if there is nothing else, "contended" is the lock to wait for in the next call. With "is_more" so many runs were parked that the
  -- transaction ends here and the next one goes on.
${buildClaimRun(FIRST)}  `;

/**
 * The migration step that removed deferred runs, which must not be claimed before a given time, from the indexes that
 * claims read. A claim first admits due runs. They are never parked: parked runs rely on a run of their lane that can
 * be claimed.
 */
export const DEFERRED_RUNS = `
  DROP INDEX sluice.runs_ready;
  DROP INDEX sluice.runs_ready_in_folder;
  CREATE INDEX runs_ready ON sluice.runs ((coalesce(worker_type, '')), priority DESC, seq) WHERE ${CURRENT.isReady};
  CREATE INDEX runs_ready_in_folder ON sluice.runs (folder) WHERE ${CURRENT.isReady};
  CREATE INDEX runs_deferred ON sluice.runs (not_before) WHERE state = 'queued' AND not_before > 0;
  UPDATE sluice.runs SET parked = false WHERE state = 'queued' AND not_before > 0 AND parked;
  DROP TRIGGER add_to_queue ON sluice.runs;
  CREATE TRIGGER add_to_queue BEFORE INSERT ON sluice.runs FOR EACH ROW WHEN (NEW.state = 'queued' AND NEW.not_before = 0)
    EXECUTE FUNCTION sluice.add_to_queue();

  -- True if more are due than one transaction admits. Those that another claim admits are left to it.
  CREATE FUNCTION sluice.admit_due(claim_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE admitted integer;
  BEGIN
    UPDATE sluice.runs SET not_before = 0 WHERE seq = ANY (ARRAY(
      SELECT seq FROM sluice.runs WHERE state = 'queued' AND not_before > 0 AND not_before <= claim_at
      ORDER BY not_before LIMIT 256 FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS admitted = ROW_COUNT;
    RETURN admitted = 256;
  END $$;

${buildLeaveFolder(CURRENT)}
${buildClaimRun(CURRENT)}`;

/**
 * The migration step that makes claims and run ends first check whether there is anything to do: most find no due
 * deferred run and no parked run in the folder.
 */
export const EARLY_CHECKS = `
  CREATE OR REPLACE FUNCTION sluice.admit_due(claim_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
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

  CREATE OR REPLACE FUNCTION sluice.unpark_lanes(of_folder text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head sluice.runs;
    last_exclusive boolean := false;
    last_kind text := '';
  BEGIN
    IF NOT EXISTS (SELECT FROM sluice.runs WHERE folder = of_folder AND state = 'queued' AND parked) THEN RETURN; END IF;
    IF EXISTS (
      SELECT FROM sluice.runs WHERE folder = of_folder AND state IN ('running', 'waiting') AND exclusive
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
  `;
