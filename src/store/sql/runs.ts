import type { RefusedAnswer, RunRecord, StoredRunSpec } from '../records/index.js';
import type { RunStore } from '../ports/index.js';
import type { Dialect, GuardedChange, Value } from '../driver.js';
import {
  CANCELED_IN_QUEUE,
  checkSameRun,
  isPlacedByServer,
  PLACED,
  formatKind,
  resolveFolder,
  storeSpec,
  type NamedOrder,
} from '../queue-rules.js';
import { readJsonOrNull, readRun } from '../rows.js';
import { buildSearchText, buildDigestStatements, listEndValues, type EndParameters } from '../run-digest.js';
import { createClaims } from './claims.js';
import { countSearch, equal, findOne, listRows, readRunSearch, searchRuns } from './lists.js';

/** Creates the store's run queue methods. */
export function createRuns(dialect: Dialect, searchWindow: number): RunStore {
  const { database, announce, watchRequests, findWord } = dialect;
  const findRun = async (id: string): Promise<RunRecord | undefined> =>
    findOne(database, 'SELECT * FROM run_records WHERE id = $1', [id], readRun);
  return {
    ...createClaims(dialect),

    async createRun({ id, spec, state, requestId, workerId, leaseMs, now }) {
      const stored = storeSpec(spec, state);
      const started =
        state === 'queued'
          ? undefined
          : { workerId: workerId ?? null, leaseUntil: leaseMs === undefined ? null : now + leaseMs };
      const values = listRunValues({ id, spec: stored, requestId, now, started });
      const added = await database.change(ADD_RUN, [...values, started?.leaseUntil ?? null]);
      // Of two concurrent requests, the second waits until the first is committed.
      const isKnown = added.length === 0 && requestId !== undefined;
      const known = isKnown ? await findOne(database, FIND_REQUEST, [requestId], readRun) : undefined;
      if (known !== undefined && requestId !== undefined) checkSameRun(known, requestId, stored);
      await announce({ queue: true });
      return { id: known?.id ?? id, repeated: added.length === 0 };
    },

    async requestCancel(id, now) {
      await database.change(CANCEL, [id, now, ...listEndValues(CANCELED_IN_QUEUE)]);
      await announce({ queue: true, runs: [id], requests: [id] });
      return findRun(id);
    },

    async postReply(id, text) {
      if ((await database.run(POST_REPLY, [id, JSON.stringify(text)])) > 0) {
        await announce({ requests: [id] });
        return 'posted';
      }
      const found = await database.get('SELECT 1 AS found FROM runs WHERE id = $1', [id]);
      return found === undefined ? 'not_found' : 'not_waiting';
    },

    async keepRefusedAnswer(id, answer) {
      await database.transaction(async (session) => {
        const row = await session.get('SELECT refused_answers FROM runs WHERE id = $1 FOR UPDATE', [id]);
        if (row === undefined) return;
        const earlier = (readJsonOrNull(row, 'refused_answers') ?? []) as readonly RefusedAnswer[];
        const answers = JSON.stringify([...earlier, answer].slice(-MAX_REFUSED_ANSWERS));
        await session.run('UPDATE runs SET refused_answers = $2 WHERE id = $1', [id, answers]);
      });
    },

    watchRequests,
    findRun,

    async countRuns(filter) {
      // A search for nothing finds all runs.
      const search = readRunSearch({ search: '', ...filter });
      return search === undefined ? 0 : countSearch(database, search, { window: searchWindow, findWord });
    },

    async listRuns(filter) {
      const search = readRunSearch(filter);
      if (search !== undefined) return searchRuns(database, search, { window: searchWindow, findWord });
      const { state, engine, ...page } = filter;
      const conditions = equal({ state, engine });
      return listRows(database, page, { table: 'run_records', order: 'newest', conditions }, readRun);
    },
  };
}

/** The maximum number of refused answers kept with a run. */
const MAX_REFUSED_ANSWERS = 20;

interface AddedRun {
  readonly id: string;
  readonly spec: StoredRunSpec;
  readonly now: number;
  /** The order that it executes, which has its instructions. */
  readonly order?: NamedOrder;
  readonly requestId?: string | undefined;
  /** For a run that its creator has already started. */
  readonly started?: { readonly workerId: string | null; readonly leaseUntil: number | null } | undefined;
}

/** Lists the values of a new run, which `buildRunInsert` and `DIGEST_STATEMENTS` use. */
export function listRunValues({ id, spec, now, order, requestId, started }: AddedRun): Value[] {
  const request = order?.request;
  const workerType = order?.workerType ?? null;
  // Two runs share a folder only if neither needs it exclusively, because each has its own git worktree.
  const isExclusive = (request?.isolation ?? order?.isolation) !== 'worktree';
  return [
    id,
    requestId ?? null,
    JSON.stringify(spec),
    spec.engine,
    started === undefined ? 'queued' : 'running',
    request?.issue_ref ?? null,
    order?.runId ?? null,
    workerType,
    formatKind(spec.labels, workerType),
    request?.priority ?? 0,
    resolveFolder(id, spec),
    isExclusive ? 1 : 0,
    started?.workerId ?? null,
    now,
    started === undefined ? null : now,
    isPlacedByServer(spec) ? PLACED : 0,
    buildSearchText(id, spec, request?.instructions ?? spec.prompt ?? '', request?.issue_ref),
  ];
}

/** The statements that add what belongs to a new run, whose number the guard finds. */
export const DIGEST_STATEMENTS = [
  'INSERT INTO run_digests (seq, engine, created_at) SELECT seq, $4::text, $14::bigint FROM guard',
  'INSERT INTO run_words (number, words) SELECT seq * 2, $17::text FROM guard',
] as const;

export const FIND_REQUEST = 'SELECT * FROM run_records WHERE request_id = $1';

/** Selects a turn of runs with the priority of a new run. SQLite needs the names of the indexes. */
const selectTurn = (bound: 'min' | 'max', index: string, state: string): string =>
  `SELECT ${bound}(turn) FROM runs INDEXED BY ${index} WHERE priority = $10 AND state = '${state}'`;

/**
 * Callers take turns: a run's number is one higher than that of its caller's last queued run with its priority, and at least
 * that of the run whose turn it is. So a caller's first run is claimed next, however many runs of others wait. Whose turn it
 * is depends on the kind as long as such runs wait: those that few workers can claim advance more slowly than others.
 */
export const buildRunInsert = (seq: '' | 'seq, ', source: '' | ', guard'): string => `
  INSERT INTO runs (${seq}id, request_id, spec, engine, state, order_issue_ref, order_run_id, worker_type, kind, priority, folder,
    exclusive, worker_id, created_at, started_at, not_before, caller, turn)
  SELECT ${seq}$1, $2, $3, $4::text, $5, $6::text, $7::text, $8::text, $9, $10::double precision, $11, $12::integer, $13,
    $14::bigint, $15::bigint, $16::bigint, requested.caller, greatest(
      1 + coalesce((${selectTurn('max', 'runs_of_caller', 'queued')} AND caller = requested.caller), 0),
      coalesce(
        (${selectTurn('min', 'runs_ready', 'queued')} AND kind = $9 AND parked_on = '' AND parked_on <> '*' AND not_before = 0),
        greatest(
          1 + coalesce((${selectTurn('max', 'runs_turns', 'running')} AND state <> 'ended'), 0),
          coalesce((${selectTurn('min', 'runs_turns', 'queued')} AND state <> 'ended'), 0))))
  FROM (SELECT coalesce((SELECT caller FROM budget_entries WHERE run = $1), '') AS caller) AS requested${source}`;

/** Adds nothing if a run with that id or request id exists. */
const ADD_RUN: GuardedChange = {
  guard: `${buildRunInsert('', '')} WHERE true ON CONFLICT DO NOTHING RETURNING seq`,
  statements: [
    ...DIGEST_STATEMENTS,
    'INSERT INTO leases (seq, lease_until) SELECT seq, $18::bigint FROM guard WHERE $18::text IS NOT NULL',
  ],
};

/** Builds the statements that request the cancellation of runs; those that are selected as `ending` end at once. */
export function buildCancelStatements(ending: string, parameters: EndParameters): readonly string[] {
  const { now, result } = parameters;
  const endsNow = `state <> 'ended' AND id IN (${ending})`;
  return [
    ...buildDigestStatements(ending, parameters),
    `UPDATE runs SET
       cancel_requested = CASE WHEN state = 'ended' THEN cancel_requested ELSE 1 END,
       ended_at = CASE WHEN ${endsNow} THEN $${now}::bigint ELSE ended_at END,
       result = CASE WHEN ${endsNow} THEN $${result}::text ELSE result END,
       repository_start = CASE WHEN ${endsNow} THEN NULL ELSE repository_start END,
       state = CASE WHEN ${endsNow} THEN 'ended' ELSE state END
     WHERE id IN (SELECT id FROM guard)`,
  ];
}

const CANCEL = {
  guard: 'SELECT id, state, order_run_id FROM runs WHERE id = $1 FOR UPDATE',
  statements: buildCancelStatements(`SELECT id FROM guard WHERE state = 'queued' AND order_run_id IS NULL`, {
    now: 2,
    result: 3,
  }),
} as const;

/** A started run in the queue waits for an answer too: its worker is gone, and another one resumes it. */
const POST_REPLY = `
  UPDATE runs SET reply = $2
  WHERE id = $1 AND reply IS NULL AND (state = 'waiting' OR (state = 'queued' AND started_at IS NOT NULL))`;
