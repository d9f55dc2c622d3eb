import type { RunClaim } from '../ports/index.js';
import type { Dialect, Row } from '../driver.js';
import { readNumber, readText } from '../rows.js';
import type { SqliteDatabase } from './database.js';

/**
 * Limits per transaction: folders whose runs it unparks, runs that it parks, and deferred runs that it admits. The next
 * transaction continues.
 */
const MAX_FOLDERS = 256;
const MAX_PARKED = 256;
const MAX_DUE = 256;

type ClaimFilter = Pick<RunClaim, 'now' | 'kinds' | 'workerTypes' | 'concurrency'>;

/**
 * Creates the function that claims runs. A claim examines the first ready run of each wrapper type: neither parked (explained in
 * `sql/schema.ts`) nor deferred. So a claim takes as long with 100,000 parked or deferred runs as without.
 */
export function createClaimNext(database: SqliteDatabase): Dialect['claimNext'] {
  const countBusy = database.prepare(COUNT_BUSY);
  const listTypes = database.prepare(LIST_TYPES);
  const findHead = database.prepare(FIND_HEAD);
  const findCanceled = database.prepare(FIND_CANCELED);
  const findBusy = database.prepare(FIND_BUSY);
  const findLeftFolders = database.prepare('SELECT folder FROM folders_left LIMIT ?');
  const deleteLeftFolder = database.prepare('DELETE FROM folders_left WHERE folder = ?');
  const findFirstLane = database.prepare(FIND_FIRST_LANE);
  const findNextLane = database.prepare(FIND_NEXT_LANE);
  const findNextOfLane = database.prepare(FIND_NEXT_OF_LANE);
  const park = database.prepare('UPDATE runs SET parked = 1 WHERE seq = ?');
  const unpark = database.prepare('UPDATE runs SET parked = 0 WHERE seq = ?');
  const admitDue = database.prepare(ADMIT_DUE);
  const claimRun = database.prepare(CLAIM);

  /** Unparks the first run of each lane in the folders that runs have left; false if more such folders remain. */
  function unparkLeftFolders(): boolean {
    const leftFolders = findLeftFolders.all(MAX_FOLDERS).map((row) => readText(row, 'folder'));
    for (const folder of leftFolders) {
      deleteLeftFolder.run(folder);
      // While a run uses the folder exclusively, no other run can be claimed.
      if (findBusy.get(folder, 0) === undefined) for (const seq of listHeads(folder)) unpark.run(seq);
    }
    return leftFolders.length < MAX_FOLDERS;
  }

  /** Lists the first parked run of each lane in a folder. */
  function listHeads(folder: string): number[] {
    const heads: number[] = [];
    for (const exclusive of [0, 1]) {
      let head = findFirstLane.get(folder, exclusive);
      while (head !== undefined) {
        heads.push(readNumber(head, 'seq'));
        head = findNextLane.get(folder, exclusive, readText(head, 'type'));
      }
    }
    return heads;
  }

  /** Lists the wrapper types that have reached their limit. */
  function listFullTypes({ concurrency = {} }: ClaimFilter): string[] {
    const limits = Object.entries(concurrency);
    if (limits.length === 0) return [];
    const busy = new Map(countBusy.all().map((row) => [readText(row, 'worker_type'), readNumber(row, 'busy')]));
    return limits.flatMap(([type, limit]) => ((busy.get(type) ?? 0) >= limit ? [type] : []));
  }

  function search(filter: ClaimFilter): number | 'more' | undefined {
    const { kinds, workerTypes } = filter;
    const [takesOrders, takesRuns] = [kinds?.includes('orders') !== false, kinds?.includes('runs') !== false];
    const full = listFullTypes(filter);
    // The empty type means runs without an order.
    const types = listTypes
      .all()
      .map((row) => readText(row, 'type'))
      .filter((type) => {
        if (type === '') return takesRuns;
        return takesOrders && !full.includes(type) && workerTypes?.includes(type) !== false;
      });
    const canceled = takesOrders
      ? findCanceled.get(JSON.stringify(full), workerTypes === undefined ? null : JSON.stringify(workerTypes))
      : undefined;
    const heads = new Map(types.map((type) => [type, findHead.get(type)]));
    for (let parked = 0; parked < MAX_PARKED; parked += 1) {
      const first = chooseFirst([...heads.values(), canceled]);
      if (first === undefined) return undefined;
      const seq = readNumber(first, 'seq');
      // A canceled order needs no folder: it is settled without a process.
      const isFree =
        first['cancel_requested'] === 1 ||
        findBusy.get(readText(first, 'folder'), readNumber(first, 'exclusive')) === undefined;
      if (isFree) return seq;
      park.run(seq);
      const type = readText(first, 'type');
      heads.set(type, findHead.get(type));
    }
    return 'more';
  }

  /** Returns the number of the run to claim; `more` if the search must continue in another transaction. */
  function find(filter: ClaimFilter): number | 'more' | undefined {
    const areAllUnparked = unparkLeftFolders();
    const areAllAdmitted = admitDue.run(filter.now, MAX_DUE).changes < MAX_DUE;
    const found = search(filter);
    return found === undefined && !(areAllUnparked && areAllAdmitted) ? 'more' : found;
  }

  /** Makes the next run of a lane claimable after a run that shares its folder was claimed. */
  function advance(claimed: Row): void {
    if (claimed['exclusive'] === 1) return;
    const type = claimed['worker_type'] === null ? '' : readText(claimed, 'worker_type');
    const next = findNextOfLane.get(readText(claimed, 'folder'), readNumber(claimed, 'exclusive'), type);
    if (next !== undefined) unpark.run(readNumber(next, 'seq'));
  }

  const claim = async ({ worker, leaseMs, ...filter }: RunClaim): Promise<Row | 'more' | undefined> =>
    database.write(() => {
      const next = find(filter);
      if (typeof next !== 'number') return next;
      const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
      const row = claimRun.get(workerId, host, pid, pidStarted, filter.now + leaseMs, next) ?? {};
      advance(row);
      return row;
    });

  return async (runClaim) => {
    for (;;) {
      const claimed = await claim(runClaim);
      if (claimed !== 'more') return claimed;
    }
  };
}

/** Chooses the run with the highest priority, or the first queued among equals. */
function chooseFirst(rows: readonly (Row | undefined)[]): Row | undefined {
  return rows
    .filter((row) => row !== undefined)
    .toSorted(
      (one, other) =>
        readNumber(other, 'priority') - readNumber(one, 'priority') ||
        readNumber(one, 'seq') - readNumber(other, 'seq'),
    )[0];
}

const CLAIM = `
  UPDATE runs SET state = 'running', worker_id = ?, host = ?, pid = ?, pid_started = ?, lease_until = ?, not_before = 0, parked = 0
  WHERE seq = ? RETURNING *`;

/** The same expression as in the indexes. */
const TYPE = `coalesce(worker_type, '')`;
const HEAD = `seq, priority, folder, exclusive, cancel_requested, ${TYPE} AS type`;
const IS_READY = `state = 'queued' AND parked = 0 AND not_before = 0`;
const IS_PARKED = `state = 'queued' AND parked = 1`;

/** Here and below, indexes are named because SQLite, without table statistics, would choose others. */
const COUNT_BUSY = `
  SELECT worker_type, count(*) AS busy FROM runs INDEXED BY runs_busy
  WHERE state IN ('running', 'waiting') AND worker_type IS NOT NULL GROUP BY worker_type`;

/** Admits due deferred runs. */
const ADMIT_DUE = `
  UPDATE runs SET not_before = 0 WHERE seq IN (
    SELECT seq FROM runs INDEXED BY runs_deferred WHERE state = 'queued' AND not_before > 0 AND not_before <= ?
    ORDER BY not_before LIMIT ?)`;

/** Lists the types of ready runs, stepping from type to type through the index. */
const LIST_TYPES = `
  WITH RECURSIVE types (type) AS (
    SELECT * FROM (SELECT ${TYPE} FROM runs INDEXED BY runs_ready WHERE ${IS_READY} ORDER BY ${TYPE} LIMIT 1)
    UNION ALL
    SELECT (
      SELECT ${TYPE} FROM runs INDEXED BY runs_ready WHERE ${IS_READY} AND ${TYPE} > types.type ORDER BY ${TYPE} LIMIT 1)
    FROM types WHERE types.type IS NOT NULL
  )
  SELECT type FROM types WHERE type IS NOT NULL`;

const FIND_HEAD = `
  SELECT ${HEAD} FROM runs INDEXED BY runs_ready WHERE ${IS_READY} AND ${TYPE} = ?
  ORDER BY priority DESC, seq LIMIT 1`;

const FIND_CANCELED = `
  SELECT ${HEAD} FROM runs INDEXED BY runs_queued_canceled
  WHERE state = 'queued' AND cancel_requested = 1 AND order_run_id IS NOT NULL AND not_before = 0
    AND worker_type NOT IN (SELECT value FROM json_each(?1))
    AND (?2 IS NULL OR worker_type IN (SELECT value FROM json_each(?2)))
  ORDER BY priority DESC, seq LIMIT 1`;

/** Two runs share a folder only if neither needs it exclusively. */
const FIND_BUSY = `
  SELECT 1 FROM runs INDEXED BY runs_busy
  WHERE folder = ?1 AND state IN ('running', 'waiting') AND (exclusive = 1 OR ?2 = 1) LIMIT 1`;

const FIND_FIRST_LANE = `
  SELECT seq, ${TYPE} AS type FROM runs INDEXED BY runs_parked
  WHERE ${IS_PARKED} AND folder = ? AND exclusive = ? ORDER BY ${TYPE}, priority DESC, seq LIMIT 1`;

const FIND_NEXT_LANE = `
  SELECT seq, ${TYPE} AS type FROM runs INDEXED BY runs_parked
  WHERE ${IS_PARKED} AND folder = ? AND exclusive = ? AND ${TYPE} > ? ORDER BY ${TYPE}, priority DESC, seq LIMIT 1`;

const FIND_NEXT_OF_LANE = `
  SELECT seq FROM runs INDEXED BY runs_parked
  WHERE ${IS_PARKED} AND folder = ? AND exclusive = ? AND ${TYPE} = ? ORDER BY priority DESC, seq LIMIT 1`;

/** Exported for the query plan tests. */
export const QUEUE_STATEMENTS = {
  COUNT_BUSY,
  ADMIT_DUE,
  LIST_TYPES,
  FIND_HEAD,
  FIND_CANCELED,
  FIND_BUSY,
  FIND_FIRST_LANE,
  FIND_NEXT_LANE,
  FIND_NEXT_OF_LANE,
};
