import { setImmediate as waitForImmediate } from 'node:timers/promises';
import type { ClaimedRun, RunStore } from '../ports/index.js';
import type { Database, Dialect, GuardedChange, Row, Session, Value } from '../driver.js';
import { MAX_EXPIRED, storeSpec } from '../queue-rules.js';
import { readFlag, readJson, readNumber, readOrder, readRun, readText } from '../rows.js';
import { buildEndStatements, listEndValues } from '../run-digest.js';
import { findOne } from './lists.js';
import { containsNul } from '../store-error.js';

/** Creates the store's methods for claiming runs, and for starting, renewing, releasing and ending claimed runs. */
export function createClaims({ database, announce, claimNext }: Dialect) {
  const renew = gatherCalls(async (renewals: readonly { id: string; worker_id: string; until: number }[]) => {
    const rows = await database.all(RENEW, [JSON.stringify(renewals)]);
    const renewed = new Map(rows.map((row) => [readText(row, 'id'), row]));
    return renewals.map(({ id }) => renewed.get(id));
  });
  return {
    async claimRun(claim) {
      const row = await claimNext(claim);
      if (row === undefined) return undefined;
      return readClaim(database, { ...row, lease_until: claim.now + claim.leaseMs });
    },

    async markStarted({ id, workerId, now, spec, baseCommit, repositoryStart }) {
      // Only an order's run has a new spec; its prompt repeats the order.
      const stored = spec === undefined ? null : JSON.stringify({ ...storeSpec(spec, 'running'), prompt: undefined });
      const values = [id, workerId, now, stored, spec?.engine ?? null, baseCommit ?? null, repositoryStart ?? null];
      const [held] = await database.change(START, values);
      if (held === undefined) return 'lost';
      return readFlag(held, 'is_canceled') ? 'canceled' : 'started';
    },

    async releaseRun({ id, workerId, retryAt, isWaiting = false }) {
      const isReleased = (await database.run(RELEASE, [id, workerId, retryAt, isWaiting ? 'waiting' : ''])) > 0;
      if (isReleased && isWaiting) await announce({ queue: true });
      return isReleased;
    },

    async renewRun({ id, workerId, leaseMs, now }) {
      // It would fail the renewals that are made with it.
      if (containsNul(id) || containsNul(workerId)) return LOST;
      const held = await renew({ id, worker_id: workerId, until: now + leaseMs });
      if (held === undefined) return LOST;
      const cancel = readFlag(held, 'cancel_requested');
      if (held['reply'] === null) return { held: true, cancel, reply: null };
      const [taken] = await database.change(TAKE_REPLY, [id, workerId]);
      return { held: true, cancel, reply: taken === undefined ? null : (readJson(taken, 'reply') as string) };
    },

    setWaiting: async ({ id, workerId, isWaiting = true }) =>
      (await database.run(WAIT, [id, workerId, isWaiting ? 'waiting' : 'running'])) > 0,

    async adoptRun({ id, from, worker, leaseMs, now }) {
      const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
      const adopted = await moveClaim(database, ADOPT, [id, from, now + leaseMs, workerId, host, pid, pidStarted, now]);
      return adopted === undefined ? undefined : readRun(adopted);
    },

    async endRun({ id, workerId, result, now }) {
      const hasEnded = (await database.change(END, [id, workerId, now, ...listEndValues(result)])).length > 0;
      if (hasEnded) await announce({ queue: true, runs: [id] });
      return hasEnded;
    },

    hasExpiredRuns: async (now, host) => (await database.get(FIND_ANY_EXPIRED, [now, host ?? null])) !== undefined,

    async requeueExpired(now) {
      const requeued = await database.run(REQUEUE_EXPIRED, [now]);
      if (requeued > 0) await announce({ queue: true });
      return requeued;
    },

    findRepositoryStart: async (id) =>
      findOne(database, FIND_REPOSITORY_START, [id], (row) => readText(row, 'repository_start')),

    async listExpiredRuns(now, { after, host } = {}) {
      const rows = await database.all(LIST_EXPIRED, [now, after ?? null, host ?? null, MAX_EXPIRED]);
      return rows.map(readRun);
    },
  } satisfies Partial<RunStore>;
}

/** Changes a claim's worker and returns its run. `move` finds the run and `until`, and deletes the old lease. */
export async function moveClaim(
  database: Database,
  move: GuardedChange,
  values: readonly Value[],
): Promise<Row | undefined> {
  return database.transaction(async (session) => {
    const [moved] = await session.change(move, values);
    if (moved === undefined) return undefined;
    await session.run(ADD_LEASE, [readNumber(moved, 'seq'), readNumber(moved, 'until')]);
    return session.get('SELECT * FROM run_records WHERE seq = $1', [readNumber(moved, 'seq')]);
  });
}

/** Reads a claimed run with the order that it carries. */
export async function readClaim(database: Session, row: Row): Promise<ClaimedRun> {
  const record = readRun(row);
  if (record.order === null) return { record, order: null, unresolved: [] };
  // A claim on PostgreSQL has read the order, which is undecided.
  const order =
    typeof row['work_order'] === 'string'
      ? readOrder({ ...row, run: record.id, settled_at: null, decision: null, result: null })
      : await findOne(database, 'SELECT * FROM order_records WHERE run = $1', [record.id], readOrder);
  const dependencies = order?.order.depends_on ?? [];
  if (dependencies.length === 0) return { record, order: order ?? null, unresolved: [] };
  const rows = await database.all(FIND_UNRESOLVED, [JSON.stringify(dependencies)]);
  // The database returns them in any order.
  const found = new Set(rows.map((each) => readText(each, 'issue_ref')));
  return { record, order: order ?? null, unresolved: dependencies.filter((issueRef) => found.has(issueRef)) };
}

const FIND_UNRESOLVED = `
  SELECT wanted.value AS issue_ref FROM each($1) AS wanted
  WHERE NOT EXISTS (SELECT 1 FROM issues WHERE issues.issue_ref = wanted.value AND state IN ('review', 'done'))`;

export const IS_HELD = `state IN ('running', 'waiting')`;

const IS_STARTING = 'guard.is_canceled = 0';

/** Cancellation can be requested during the start. */
const START = {
  guard: `
    SELECT id, CASE WHEN cancel_requested = 1 AND started_at IS NULL THEN 1 ELSE 0 END AS is_canceled
    FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} FOR UPDATE`,
  statements: [
    `UPDATE runs SET started_at = coalesce(started_at, $3), spec = coalesce($4, spec), engine = coalesce($5, engine),
       repository_start = coalesce($7, repository_start)
     FROM guard WHERE runs.id = guard.id AND ${IS_STARTING}`,
    `UPDATE orders SET base_commit = coalesce(base_commit, $6)
     FROM guard WHERE orders.run = guard.id AND ${IS_STARTING}`,
  ],
} as const;

const FIND_REPOSITORY_START = 'SELECT repository_start FROM runs WHERE id = $1 AND repository_start IS NOT NULL';

export const UNCLAIMED = `state = 'queued', parked_on = '', worker_id = NULL, host = NULL, pid = NULL, pid_started = NULL`;

const RELEASE = `
  UPDATE runs SET ${UNCLAIMED}, not_before = $3
  WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND (started_at IS NULL OR state = $4)`;

const ADD_LEASE = 'INSERT INTO leases (seq, lease_until) VALUES ($1, $2)';

const LOST = { held: false, cancel: false, reply: null } as const;

/**
 * Writes only leases: the requests to a run are read with the lease, which is gone if the claim has ended meanwhile. The subquery,
 * and the limit, which is never reached, make PostgreSQL look up each run; it would join by reading all runs, unless most have ended.
 */
const RENEW = `
  UPDATE leases SET lease_until = held.until
  FROM (
    SELECT (renewal.value ->> 'until')::bigint AS until, (
      SELECT seq FROM runs WHERE id = renewal.value ->> 'id' AND worker_id = renewal.value ->> 'worker_id' AND ${IS_HELD}) AS seq
    FROM objects($1) AS renewal LIMIT 1000000) AS held
  WHERE leases.seq = held.seq
  RETURNING (SELECT id FROM runs WHERE runs.seq = leases.seq) AS id,
    (SELECT reply FROM runs WHERE runs.seq = leases.seq) AS reply,
    (SELECT cancel_requested FROM runs WHERE runs.seq = leases.seq) AS cancel_requested`;

const TAKE_REPLY = {
  guard: `SELECT id, reply FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND reply IS NOT NULL FOR UPDATE`,
  statements: [`UPDATE runs SET reply = NULL, state = 'running' WHERE id IN (SELECT id FROM guard)`],
} as const;

/**
 * A run that asks a second question is already waiting, and the first might have been answered: that answer is kept. So is
 * one that was posted before another worker resumes the run.
 */
const WAIT = `
  UPDATE runs SET state = $3, reply = CASE WHEN $3::text = 'waiting' THEN reply END
  WHERE id = $1 AND worker_id = $2 AND ${IS_HELD}`;

/** Of the run that a guard has found. */
export const DELETE_LEASE = 'DELETE FROM leases WHERE seq IN (SELECT seq FROM guard)';

const ADOPT = {
  guard: `
    SELECT runs.seq, $3::bigint AS until FROM runs CROSS JOIN leases ON leases.seq = runs.seq
    WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $8 FOR UPDATE`,
  statements: [
    `UPDATE runs SET worker_id = $4, host = $5, pid = $6, pid_started = $7 WHERE seq IN (SELECT seq FROM guard)`,
    DELETE_LEASE,
  ],
} as const;

const END = {
  guard: `SELECT id FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND order_run_id IS NULL FOR UPDATE`,
  statements: buildEndStatements('SELECT id FROM guard', { now: 3, result: 4 }),
} as const;

/** Also queried each time a worker reports that it is alive. Runs that servers place are left to them. */
export const FIND_ANY_EXPIRED = `
  SELECT 1 AS found FROM leases CROSS JOIN runs ON runs.seq = leases.seq
  WHERE lease_until <= $1 AND not_before = 0 AND ($2::text IS NULL OR host = $2) LIMIT 1`;

/** Skips rows that another process is requeueing or renewing. */
const REQUEUE_EXPIRED = `
  UPDATE runs SET ${UNCLAIMED} WHERE seq = ANY (ARRAY(
    SELECT runs.seq FROM leases CROSS JOIN runs ON runs.seq = leases.seq
    WHERE ${IS_HELD} AND started_at IS NULL AND lease_until <= $1 AND not_before = 0
    ORDER BY runs.seq FOR NO KEY UPDATE SKIP LOCKED))`;

const LIST_EXPIRED = `
  SELECT runs.*, lease_until FROM leases CROSS JOIN runs ON runs.seq = leases.seq
  WHERE ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $1 AND not_before = 0
    AND leases.seq > coalesce((SELECT seq FROM runs WHERE id = $2), 0) AND ($3::text IS NULL OR host = $3)
  ORDER BY leases.seq LIMIT $4`;

/**
 * Gathers calls: those made in one turn of the event loop, and while a batch is being executed, are the next batch. All
 * claims of a worker are renewed at the same time.
 */
function gatherCalls<Input, Output>(
  execute: (inputs: readonly Input[]) => Promise<readonly Output[]>,
): (input: Input) => Promise<Output | undefined> {
  let inputs: Input[] = [];
  let batch: Promise<readonly Output[]> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return async (input) => {
    const index = inputs.push(input) - 1;
    batch ??= Promise.allSettled([last, waitForImmediate()]).then(async () => {
      const gathered = inputs;
      [inputs, batch] = [[], undefined];
      return execute(gathered);
    });
    last = batch;
    return (await batch)[index];
  };
}
