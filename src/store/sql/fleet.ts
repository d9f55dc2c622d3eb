import type { SchedulePause, ScheduleTick, WorkerRecord } from '../records/index.js';
import type { Dialect, Row } from '../driver.js';
import { readFlag, readJson, readNumber, readText, readTextOrNull, readTime } from '../rows.js';
import { FIND_ANY_EXPIRED } from './claims.js';

/** Leases on jobs that one process at a time does for all processes sharing the store, such as deleting old data. */
export interface JobLeases {
  /** Leases the jobs that no other process holds, and returns their names. Calling again in time renews them. */
  leaseJobs(hold: JobLeaseRequest): Promise<readonly string[]>;
  /** Releases all of a process's jobs, so another process can lease them immediately. */
  releaseJobs(owner: string): Promise<void>;
}

/** The jobs that a process requests. Times are milliseconds since 1970. */
export interface JobLeaseRequest {
  readonly names: readonly string[];
  /** Identifies the process. */
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** Tracks the workers and the schedules that share a store. */
export interface Fleet {
  /**
   * Records what a tick of a schedule did. Only a queued tick changes afterwards. Of each schedule, the last hundred are
   * kept, and the last one that was not skipped, which can still be queued.
   */
  recordTick(tick: ScheduleTick): Promise<void>;
  /** Lists the ticks of all schedules, newest first, at most 10,000; of each schedule, the last are among them. */
  listTicks(): Promise<readonly ScheduleTick[]>;
  /** Pauses a schedule for all processes; the last pause counts. */
  pauseSchedule(pause: SchedulePause): Promise<void>;
  /** Ends the pause of a schedule; does nothing if it is not paused. */
  resumeSchedule(schedule: string): Promise<void>;
  /** Lists the paused schedules by name. */
  listPauses(): Promise<readonly SchedulePause[]>;
  /**
   * Records that a worker is alive until `aliveUntil`, and deletes workers that have been gone for a day. Returns
   * whether any run's lease on the worker's host has expired, so workers need no separate query for that.
   */
  reportWorker(report: WorkerReport): Promise<{ readonly hasExpiredRuns: boolean }>;
  /** Removes a worker that has stopped. */
  removeWorker(id: string): Promise<void>;
  /** Lists workers that reported within the last day, at most 1,000, most recent report first. */
  listWorkers(now: number): Promise<readonly WorkerRecord[]>;
}

/** A worker's report about itself. Times are milliseconds since 1970. */
export interface WorkerReport extends Omit<WorkerRecord, 'seen_at' | 'state' | 'runs'> {
  readonly isStopping: boolean;
  readonly now: number;
  readonly aliveUntil: number;
}

/** How long a worker stays listed after it is gone. */
const GONE_WORKER_TTL_MS = 24 * 60 * 60 * 1000;
const MAX_WORKERS = 1000;
const MAX_CLAIMS = 1000;
const MAX_LISTED_RUNS = 20;
const MAX_TICKS = 10_000;
const KEPT_TICKS = 100;

/** Creates the store's methods for workers, and for jobs that one process at a time does for all. */
export function createFleet(dialect: Dialect): Fleet & JobLeases {
  const { database } = dialect;
  return {
    async reportWorker({ id, host, version, engines, capacity, busy, isStopping, now, aliveUntil }) {
      await database.run(DELETE_GONE, [now - GONE_WORKER_TTL_MS, id]);
      const stopping = isStopping ? 1 : 0;
      const values = [id, host, version, JSON.stringify(engines), capacity, busy, stopping, now, aliveUntil];
      await database.run(REPORT, values);
      // A running worker stays in sync.
      await dialect.synchronizeClock();
      return { hasExpiredRuns: (await database.get(FIND_ANY_EXPIRED, [now, host])) !== undefined };
    },
    async removeWorker(id) {
      await database.run('DELETE FROM workers WHERE id = $1', [id]);
    },
    async listWorkers(now) {
      const rows = await database.all(
        'SELECT * FROM workers WHERE alive_until > $1 ORDER BY seen_at DESC, id LIMIT $2',
        [now - GONE_WORKER_TTL_MS, MAX_WORKERS],
      );
      const claims = await database.all(FIND_CLAIMS, [MAX_CLAIMS]);
      return rows.map((row) => readWorker(row, claims, now));
    },

    async recordTick({ schedule, at, action, why, run_id }) {
      await database.run(RECORD_TICK, [schedule, Date.parse(at), action, JSON.stringify(why), run_id]);
      await database.run(DELETE_OLD_TICKS, [schedule, KEPT_TICKS]);
    },
    async listTicks() {
      const rows = await database.all(LIST_TICKS, [MAX_TICKS]);
      return rows.map((row) => ({
        schedule: readText(row, 'schedule'),
        at: readTime(row, 'at'),
        action: readText(row, 'action') as ScheduleTick['action'],
        why: String(readJson(row, 'why')),
        run_id: readTextOrNull(row, 'run_id'),
      }));
    },
    async pauseSchedule({ schedule, who, why, at }) {
      await database.run(PAUSE_SCHEDULE, [schedule, JSON.stringify(who), JSON.stringify(why), Date.parse(at)]);
    },
    async resumeSchedule(schedule) {
      await database.run('DELETE FROM schedule_pauses WHERE schedule = $1', [schedule]);
    },
    async listPauses() {
      const rows = await database.all('SELECT * FROM schedule_pauses ORDER BY schedule', []);
      return rows.map((row) => ({
        schedule: readText(row, 'schedule'),
        who: String(readJson(row, 'who')),
        why: String(readJson(row, 'why')),
        at: readTime(row, 'at'),
      }));
    },

    async leaseJobs({ names, owner, now, until }) {
      // Most processes find no free job: they lock and write nothing.
      const free = await database.all(FIND_FREE_JOBS, [JSON.stringify(names), owner, now]);
      if (free.length === 0) return [];
      const freeNames = JSON.stringify(free.map((row) => readText(row, 'name')));
      return (await database.all(LEASE_JOBS, [freeNames, owner, now, until])).map((row) => readText(row, 'name'));
    },
    async releaseJobs(owner) {
      await database.run('UPDATE job_leases SET held_until = 0 WHERE owner = $1', [owner]);
    },
  };
}

/** Skips rows that another worker is deleting, so worker reports never wait for each other. */
const DELETE_GONE = `
  DELETE FROM workers WHERE id = ANY (ARRAY(
    SELECT id FROM workers WHERE alive_until <= $1 AND id <> $2 FOR UPDATE SKIP LOCKED))`;

const REPORT = `
  INSERT INTO workers (id, host, version, engines, capacity, busy, stopping, seen_at, alive_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (id) DO UPDATE SET
    host = excluded.host, version = excluded.version, engines = excluded.engines, capacity = excluded.capacity,
    busy = excluded.busy, stopping = excluded.stopping, seen_at = excluded.seen_at, alive_until = excluded.alive_until`;

const FIND_CLAIMS = `
  SELECT id, worker_id FROM runs WHERE state IN ('running', 'waiting') AND worker_id IS NOT NULL ORDER BY seq LIMIT $1`;

const FIND_FREE_JOBS = `
  SELECT wanted.value AS name FROM each($1) AS wanted
  WHERE NOT EXISTS (
    SELECT 1 FROM job_leases WHERE job_leases.name = wanted.value AND owner <> $2 AND held_until > $3)`;

/** Sorted by name, so two processes do not deadlock. */
const LEASE_JOBS = `
  INSERT INTO job_leases (name, owner, held_until)
  SELECT wanted.value, $2, $4::bigint FROM each($1) AS wanted WHERE true ORDER BY wanted.value
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, held_until = excluded.held_until
    WHERE job_leases.owner = $2 OR job_leases.held_until <= $3
  RETURNING name`;

const RECORD_TICK = `
  INSERT INTO schedule_ticks (schedule, at, action, why, run_id) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (schedule, at) DO UPDATE SET action = excluded.action, why = excluded.why, run_id = excluded.run_id
    WHERE schedule_ticks.action = 'queued'`;

const PAUSE_SCHEDULE = `
  INSERT INTO schedule_pauses (schedule, who, why, at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (schedule) DO UPDATE SET who = excluded.who, why = excluded.why, at = excluded.at`;

const DELETE_OLD_TICKS = `
  DELETE FROM schedule_ticks WHERE schedule = $1 AND at <= (
    SELECT at FROM schedule_ticks WHERE schedule = $1 ORDER BY at DESC LIMIT 1 OFFSET $2)
  AND at NOT IN (
    SELECT at FROM schedule_ticks WHERE schedule = $1 AND action <> 'skipped' ORDER BY at DESC LIMIT 1)`;

/** The last ones of each schedule come first, so that one that is due rarely is not left out. */
const LIST_TICKS = `
  SELECT * FROM (
    SELECT schedule_ticks.*,
      row_number() OVER (PARTITION BY schedule, action = 'skipped' ORDER BY at DESC) AS place
    FROM schedule_ticks ORDER BY place LIMIT $1) AS ticks
  ORDER BY at DESC, schedule`;

function readWorker(row: Row, claims: readonly Row[], now: number): WorkerRecord {
  // The name of a claim begins with that of its worker.
  const prefix = `${readText(row, 'id')}/`;
  const runs = claims.filter((claim) => readText(claim, 'worker_id').startsWith(prefix));
  return {
    id: readText(row, 'id'),
    host: readText(row, 'host'),
    version: readText(row, 'version'),
    engines: readJson(row, 'engines') as string[],
    capacity: readNumber(row, 'capacity'),
    busy: readNumber(row, 'busy'),
    seen_at: readTime(row, 'seen_at'),
    state: readNumber(row, 'alive_until') <= now ? 'gone' : readFlag(row, 'stopping') ? 'stopping' : 'alive',
    runs: runs.slice(0, MAX_LISTED_RUNS).map((claim) => readText(claim, 'id')),
  };
}
