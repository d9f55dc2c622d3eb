import type { RunClaim } from '../ports/index.js';
import type { Dialect, Row } from '../driver.js';
import { listLabelSets, readType } from '../queue-rules.js';
import { readNumber, readText } from '../rows.js';
import type { SqliteDatabase } from './database.js';

/** Limits per transaction: runs that it parks, and deferred runs that it admits. The next transaction continues. */
const MAX_PARKED = 256;
const MAX_DUE = 256;

/**
 * Creates the function that claims runs. A claim examines the first ready run of each kind: neither parked (explained in
 * `sql/schema.ts`) nor deferred. So a claim takes as long with 100,000 parked or deferred runs as without.
 */
export function createClaimNext(database: SqliteDatabase): Dialect['claimNext'] {
  const countBusy = database.prepare(COUNT_BUSY);
  const findNextKind = database.prepare(FIND_NEXT_KIND);
  const findHead = database.prepare(FIND_HEAD);
  const findCanceled = database.prepare(FIND_CANCELED);
  const findBusy = database.prepare(FIND_BUSY);
  const park = database.prepare('UPDATE runs SET parked_on = ? WHERE seq = ?');
  const admitDue = database.prepare(ADMIT_DUE);
  const findAny = database.prepare(FIND_ANY);
  const claimRun = database.prepare(CLAIM);
  const addLease = database.prepare('INSERT INTO leases (seq, lease_until) VALUES (?, ?)');

  function listFullTypes({ concurrency = {} }: RunClaim): string[] {
    const limits = Object.entries(concurrency);
    if (limits.length === 0) return [];
    const busy = new Map(countBusy.all().map((row) => [readText(row, 'worker_type'), readNumber(row, 'busy')]));
    return limits.flatMap(([type, limit]) => ((busy.get(type) ?? 0) >= limit ? [type] : []));
  }

  /** Lists the kinds of ready runs that the worker's labels fit, by host on which they are parked, stepping through the index. */
  function listKinds({ labels, worker: { host } }: RunClaim): (readonly [kind: string, parkedOn: string])[] {
    const kinds: (readonly [string, string])[] = [];
    for (const set of listLabelSets(labels)) {
      let row = findNextKind.get(set, '', `${set}!`);
      while (row !== undefined) {
        const [kind, parkedOn] = [readText(row, 'kind'), readText(row, 'parked_on')];
        if (parkedOn !== host) kinds.push([kind, parkedOn]);
        row = findNextKind.get(kind, parkedOn, `${set}!`);
      }
    }
    return kinds;
  }

  function search(claim: RunClaim): number | 'more' | undefined {
    const { kinds, workerTypes, labels, worker } = claim;
    const [takesOrders, takesRuns] = [kinds?.includes('orders') !== false, kinds?.includes('runs') !== false];
    const full = listFullTypes(claim);
    const canceled = takesOrders
      ? findCanceled.get(
          JSON.stringify(full),
          workerTypes === undefined ? null : JSON.stringify(workerTypes),
          JSON.stringify(listLabelSets(labels)),
        )
      : undefined;
    const heads = listKinds(claim).flatMap(([kind, parkedOn]) => {
      const type = readType(kind);
      // The empty type means runs without an order.
      const fits =
        type === '' ? takesRuns : takesOrders && !full.includes(type) && workerTypes?.includes(type) !== false;
      return fits ? { kind, parkedOn, head: findHead.get(kind, parkedOn) } : [];
    });
    for (let parked = 0; parked < MAX_PARKED; parked += 1) {
      const first = chooseFirst([...heads.map(({ head }) => head), canceled]);
      if (first === undefined) return undefined;
      const seq = readNumber(first, 'seq');
      // A canceled order needs no folder: it is settled without a process.
      const isFree =
        first['cancel_requested'] === 1 ||
        findBusy.get(readText(first, 'folder'), worker.host, readNumber(first, 'exclusive')) === undefined;
      if (isFree) return seq;
      park.run(worker.host, seq);
      const lane = heads.find(({ head }) => head === first);
      if (lane !== undefined) lane.head = findHead.get(lane.kind, lane.parkedOn);
    }
    return 'more';
  }

  /** Claims a run; `more` if the search must continue in another transaction. */
  function claimNext(claim: RunClaim): Row | 'more' | undefined {
    const { now, leaseMs, worker } = claim;
    const areAllAdmitted = admitDue.run(now, MAX_DUE).changes < MAX_DUE;
    const next = search(claim);
    if (next === undefined && !areAllAdmitted) return 'more';
    if (typeof next !== 'number') return next;
    addLease.run(next, now + leaseMs);
    return claimRun.get(worker.worker_id, worker.host, worker.pid, worker.pid_started, next);
  }

  return async (claim) => {
    for (;;) {
      // A worker looks for work several times per run, mostly in vain; then it needs no transaction.
      if ((await database.read(() => findAny.get(claim.now))) === undefined) return undefined;
      const claimed = await database.write(() => claimNext(claim));
      if (claimed !== 'more') return claimed;
    }
  };
}

/** Chooses the run with the highest priority, or among equals the one whose caller's turn it is. */
function chooseFirst(rows: readonly (Row | undefined)[]): Row | undefined {
  return rows
    .filter((row) => row !== undefined)
    .toSorted(
      (one, other) =>
        readNumber(other, 'priority') - readNumber(one, 'priority') ||
        readNumber(one, 'turn') - readNumber(other, 'turn') ||
        readNumber(one, 'seq') - readNumber(other, 'seq'),
    )[0];
}

const CLAIM = `
  UPDATE runs SET state = 'running', worker_id = ?, host = ?, pid = ?, pid_started = ?, not_before = 0, parked_on = ''
  WHERE seq = ? RETURNING *`;

const HEAD = 'seq, priority, turn, folder, exclusive, cancel_requested';
const IS_READY = `state = 'queued' AND not_before = 0 AND parked_on <> '*'`;

/** Here and below, indexes are named because SQLite, without table statistics, would choose others. */
export const COUNT_BUSY = `
  SELECT worker_type, count(*) AS busy FROM runs INDEXED BY runs_busy
  WHERE state IN ('running', 'waiting') AND worker_type IS NOT NULL GROUP BY worker_type`;

/** Finds any run that could be claimed. */
export const FIND_ANY = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM runs INDEXED BY runs_ready WHERE ${IS_READY})
    OR EXISTS (SELECT 1 FROM runs INDEXED BY runs_queued_canceled WHERE state = 'queued' AND cancel_requested = 1)
    OR EXISTS (SELECT 1 FROM runs INDEXED BY runs_deferred
      WHERE state = 'queued' AND not_before > 0 AND not_before <= ?)`;

export const ADMIT_DUE = `
  UPDATE runs SET not_before = 0 WHERE seq IN (
    SELECT seq FROM runs INDEXED BY runs_deferred WHERE state = 'queued' AND not_before > 0 AND not_before <= ?
    ORDER BY not_before LIMIT ?)`;

/** In two parts: SQLite searches the index only for the first column of `(kind, parked_on) > (?, ?)`. */
export const FIND_NEXT_KIND = `
  SELECT * FROM (SELECT kind, parked_on FROM runs INDEXED BY runs_ready
    WHERE ${IS_READY} AND kind = ?1 AND parked_on > ?2 ORDER BY parked_on LIMIT 1)
  UNION ALL SELECT * FROM (SELECT kind, parked_on FROM runs INDEXED BY runs_ready
    WHERE ${IS_READY} AND kind > ?1 AND kind < ?3 ORDER BY kind, parked_on LIMIT 1)
  LIMIT 1`;

export const FIND_HEAD = `
  SELECT ${HEAD} FROM runs INDEXED BY runs_ready WHERE ${IS_READY} AND kind = ? AND parked_on = ?
  ORDER BY priority DESC, turn, seq LIMIT 1`;

export const FIND_CANCELED = `
  SELECT ${HEAD} FROM runs INDEXED BY runs_queued_canceled
  WHERE state = 'queued' AND cancel_requested = 1 AND order_run_id IS NOT NULL AND not_before = 0
    AND worker_type NOT IN (SELECT value FROM json_each(?1))
    AND (?2 IS NULL OR worker_type IN (SELECT value FROM json_each(?2)))
    AND substr(kind, 1, instr(kind, ' ') - 1) IN (SELECT value FROM json_each(?3))
  ORDER BY priority DESC, turn, seq LIMIT 1`;

/** Two runs share a folder of a host only if neither needs it exclusively. The host of some runs is unknown. */
export const FIND_BUSY = `
  SELECT 1 FROM runs INDEXED BY runs_busy
  WHERE folder = ?1 AND (host = ?2 OR host IS NULL) AND state IN ('running', 'waiting') AND (exclusive = 1 OR ?3 = 1) LIMIT 1`;
