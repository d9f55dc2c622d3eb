import type { ClaimedRun, RunAdoption, RunClaim, RunHold } from '../ports/index.js';
import type { RunRecord } from '../records/index.js';
import type { Dialect } from '../driver.js';
import { PLACED } from '../queue-rules.js';
import { readNumber, readRun, readText, readTextOrNull } from '../rows.js';
import { DELETE_LEASE, IS_HELD, moveClaim, readClaim, UNCLAIMED } from './claims.js';
import { findOne } from './lists.js';

/** A run that a server places, from its first claim until its place is removed. */
export interface PlacedRecord {
  readonly id: string;
  /** Undefined if it was deleted. */
  readonly run: RunRecord | undefined;
  readonly placement: string;
  /** The name of its place, and what distinguishes it from a namesake; null if it has none, or that is not known yet. */
  readonly name: string | null;
  readonly uid: string | null;
  /** How often it was placed. */
  readonly tries: number;
  /** Whether a reply was posted, or cancellation requested. */
  readonly isCalled: boolean;
}

/** Runs that servers place, instead of leaving them to workers. Times are milliseconds since 1970. */
export interface PlacedRuns {
  /** Lists runs that wait to be placed, highest priority first, then the callers in turn. */
  listToPlace(now: number, limit: number): Promise<readonly RunRecord[]>;
  /** Lists runs that have been claimed for a place, by id, after `after`; a limited number per call. */
  listPlaced(after?: string): Promise<readonly PlacedRecord[]>;
  /** Claims a run for a place. Returns undefined if it is no longer queued, or its wrapper type is at its limit. */
  claimToPlace(
    claim: RunHold & Pick<RunClaim, 'leaseMs' | 'concurrency'> & { readonly placement: string },
  ): Promise<RunRecord | undefined>;
  /** Stores the place of a claimed run; false if the claim has moved. */
  setPlace(place: Omit<RunHold, 'now'> & { readonly name: string; readonly uid: string | null }): Promise<boolean>;
  /** Moves a claim from its maker, `from`, to the process that executes the run; repeatable, but not by a third. */
  takePlaced(taking: RunAdoption): Promise<ClaimedRun | undefined>;
  /** Ends a claim, whether its lease has expired or not: from now on, only `to` holds the run. */
  fenceRun(fence: Omit<RunAdoption, 'worker'> & { readonly to: string }): Promise<boolean>;
  /**
   * Returns a run that has not started to the queue, to be placed again at `retryAt`; its old place stays recorded. With
   * `isResumed`, also one that has: its session was saved while it waited.
   */
  requeuePlaced(
    hold: Omit<RunHold, 'now'> & { readonly retryAt: number; readonly isResumed?: boolean },
  ): Promise<boolean>;
  /** Forgets the place of a run that waits in the queue again. */
  forgetPlace(id: string): Promise<void>;
  /** Forgets a run that has ended, with its place. */
  forgetPlaced(id: string): Promise<void>;
}

/** Creates the store's methods for runs that servers place. */
export function createPlacedRuns({ database }: Dialect): PlacedRuns {
  return {
    async listToPlace(now, limit) {
      const rows = await database.all(LIST_TO_PLACE, [now, limit]);
      return rows.map(readRun);
    },

    async listPlaced(after) {
      const rows = await database.all(LIST_PLACED, [after ?? '', MAX_PLACED]);
      return rows.map((row) => ({
        id: readText(row, 'placed_run'),
        run: row['id'] === null ? undefined : readRun(row),
        placement: readText(row, 'placement'),
        name: readTextOrNull(row, 'place_name'),
        uid: readTextOrNull(row, 'place_uid'),
        tries: readNumber(row, 'tries'),
        isCalled: readNumber(row, 'is_called') === 1,
      }));
    },

    async claimToPlace({ id, workerId, placement, leaseMs, now, concurrency = {} }) {
      const limits = Object.entries(concurrency).map(([type, most]) => ({ type, most }));
      const values = [id, workerId, placement, now + leaseMs, JSON.stringify(limits)];
      if ((await database.change(CLAIM_TO_PLACE, values)).length === 0) return undefined;
      return findOne(database, 'SELECT * FROM run_records WHERE id = $1', [id], readRun);
    },

    setPlace: async ({ id, workerId, name, uid }) => (await database.run(SET_PLACE, [id, workerId, name, uid])) > 0,

    async takePlaced({ id, from, worker, leaseMs, now }) {
      const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
      const row = await moveClaim(database, TAKE_PLACED, [id, from, now + leaseMs, workerId, host, pid, pidStarted]);
      return row === undefined ? undefined : readClaim(database, row);
    },

    fenceRun: async ({ id, from, to, leaseMs, now }) =>
      (await moveClaim(database, FENCE, [id, from, now + leaseMs, to])) !== undefined,

    requeuePlaced: async ({ id, workerId, retryAt, isResumed = false }) =>
      (await database.change(REQUEUE_PLACED, [id, workerId, retryAt, isResumed ? 1 : 0])).length > 0,

    async forgetPlace(id) {
      await database.run('UPDATE placements SET place_name = NULL, place_uid = NULL WHERE run = $1', [id]);
    },

    async forgetPlaced(id) {
      await database.run('DELETE FROM placements WHERE run = $1', [id]);
    },
  };
}

/** The maximum number of placed runs that one call returns. */
const MAX_PLACED = 1000;

/** A place that is left from an earlier try has to be removed first. */
const LIST_TO_PLACE = `
  SELECT runs.*, NULL AS folder_holder, NULL AS folder_held_since, NULL AS waits_for
  FROM runs INDEXED BY runs_to_place LEFT JOIN placements ON placements.run = runs.id
  WHERE runs.state = 'queued' AND runs.not_before = ${PLACED} AND placements.place_name IS NULL
    AND coalesce(placements.retry_at, 0) <= $1
  ORDER BY runs.priority DESC, runs.turn, runs.seq LIMIT $2`;

const LIST_PLACED = `
  SELECT runs.*, lease_until, NULL AS folder_holder, NULL AS folder_held_since, NULL AS waits_for,
    CASE WHEN reply IS NOT NULL OR cancel_requested = 1 THEN 1 ELSE 0 END AS is_called, placements.run AS placed_run, placements.placement, place_name, place_uid, tries
  FROM placements LEFT JOIN runs ON runs.id = placements.run LEFT JOIN leases ON leases.seq = runs.seq
  WHERE placements.run > $1 ORDER BY placements.run LIMIT $2`;

const CLAIM_TO_PLACE = {
  guard: `
    SELECT id, seq FROM runs WHERE id = $1 AND state = 'queued' AND not_before = ${PLACED} AND NOT EXISTS (
      SELECT 1 FROM objects($5) AS limited
      WHERE limited.value ->> 'type' = runs.worker_type AND (limited.value ->> 'most')::bigint <= (
        SELECT count(*) FROM runs AS busy WHERE busy.worker_type = runs.worker_type AND busy.state IN ('running', 'waiting')))
    FOR UPDATE`,
  statements: [
    `UPDATE runs SET state = 'running', worker_id = $2, host = $3, pid = 0, pid_started = NULL
     FROM guard WHERE runs.id = guard.id`,
    'INSERT INTO leases (seq, lease_until) SELECT seq, $4::bigint FROM guard',
    `INSERT INTO placements (run, placement, tries) SELECT guard.id, $3::text, 1 FROM guard WHERE true
     ON CONFLICT (run) DO UPDATE SET placement = excluded.placement, tries = placements.tries + 1`,
  ],
} as const;

const SET_PLACE = `
  UPDATE placements SET place_name = $3, place_uid = $4
  WHERE run = $1 AND EXISTS (SELECT 1 FROM runs WHERE id = $1 AND (worker_id = $2 OR worker_id LIKE $2::text || '/%') AND ${IS_HELD})`;

const TAKE_PLACED = {
  guard: `
    SELECT seq, id, started_at, $3::bigint AS until FROM runs
    WHERE id = $1 AND state = 'running' AND (worker_id = $2 OR (worker_id = $4 AND started_at IS NULL)) FOR UPDATE`,
  statements: [
    'UPDATE runs SET worker_id = $4, host = $5, pid = $6, pid_started = $7 WHERE seq IN (SELECT seq FROM guard)',
    // A run that waits again and again is placed as often.
    'UPDATE placements SET tries = 1 WHERE run IN (SELECT id FROM guard WHERE started_at IS NOT NULL)',
    DELETE_LEASE,
  ],
} as const;

const FENCE = {
  guard: `
    SELECT seq, $3::bigint AS until FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} FOR UPDATE`,
  statements: ['UPDATE runs SET worker_id = $4 WHERE seq IN (SELECT seq FROM guard)', DELETE_LEASE],
} as const;

const REQUEUE_PLACED = {
  guard: `
    SELECT id FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND (started_at IS NULL OR $4::integer = 1)
      AND not_before = ${PLACED} FOR UPDATE`,
  statements: [
    `UPDATE runs SET ${UNCLAIMED} FROM guard WHERE runs.id = guard.id`,
    'UPDATE placements SET retry_at = $3 FROM guard WHERE placements.run = guard.id',
  ],
} as const;
