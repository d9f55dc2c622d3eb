import { anything, arrayOf, count, flag, name, object, oneOf, orNull, text, type Schema } from '../../../base/index.js';
import {
  evidenceSchema,
  labelsSchema,
  readingSchema,
  runResultSchema,
  storedRunSpec,
} from '../../../store/records/index.js';
import { json, post } from '../endpoint.js';

/**
 * The version of the protocol between workers and servers, sent in the header `sluice-protocol`. Both sides work
 * together if the first number is the same and the second differs by at most one.
 */
export const WORKER_PROTOCOL = '1.0';

/** Typed as any schema: the declarations would otherwise repeat these records, which are large, for every call. */
const [spec, result, reading, evidence]: readonly [Schema, Schema, Schema, Schema] = [
  storedRunSpec,
  runResultSchema,
  readingSchema,
  evidenceSchema,
];
const milliseconds = { type: 'integer', minimum: 0 } as const;
const amount = { type: 'number', minimum: 0 } as const;
const kinds = { type: 'array', items: oneOf(['orders', 'runs']) } as const;
const names = { type: 'array', items: name, maxItems: 1000 } as const;

type Fields = Parameters<typeof object>[0];

/** An object whose unknown fields are ignored: a worker may be one version newer than the server. */
function open<const Required extends Fields, const Optional extends Fields = Record<never, never>>(
  required: Required,
  optional?: Optional,
) {
  const { additionalProperties: _, ...schema } = object(required, optional);
  return schema;
}

/** Every call names the claim it belongs to; without that claim, nothing is read or written. */
function call<const Call extends string, const More extends Fields = Record<never, never>>(which: Call, fields?: More) {
  return open({ call: { const: which }, worker_id: name, ...(fields ?? ({} as More)) });
}

/** How an order's agent ended, without the files that only its host has. */
export const workerEndSchema = open(
  { exit_code: orNull({ type: 'integer' }), signal: orNull(name) },
  {
    /** The end of its output, with secrets masked. */
    last_output: { ...text, maxLength: 65_536 },
    has_ended: flag,
    run_error: text,
    start_error: text,
    unresolved: names,
    canceled: flag,
    command: arrayOf(text),
    worker_version: orNull(text),
    note: text,
    run_result: result,
    reading,
    evidence: arrayOf(evidence),
    changed_lines: count,
  },
);

const packSchema = open({
  protocol: oneOf(['rasp', 'fcmp']),
  attempt: count,
  first_seq: count,
  last_seq: count,
  /** Consecutive events as log lines, each with its newline. */
  lines: text,
});

/** The calls of a worker about a run that it holds. */
export const workerCallSchema = {
  anyOf: [
    open({ call: { const: 'start' }, worker_id: name }, { spec, base_commit: name, repository_start: text }),
    /** Takes over a started run from another worker with this token, whose lease has expired. */
    call('adopt', { from: name, host: name, pid: { type: 'integer' }, pid_started: orNull(text) }),
    /** Reports that a worker of this token on this host and the container of its run are gone; its lease has expired. */
    call('lost', { from: name, host: name }),
    open({ call: { const: 'release' }, worker_id: name, retry_at: milliseconds }, { is_waiting: flag }),
    call('renew'),
    call('wait', { is_waiting: flag }),
    call('end', { result }),
    call('settle', { end: workerEndSchema }),
    call('events', { packs: arrayOf(packSchema) }),
    open(
      { call: { const: 'read' }, worker_id: name, protocol: oneOf(['rasp', 'fcmp']), limit: count },
      { after: name, to: name },
    ),
    /** Appends base64 bytes to files of the run folder. An offset of 0 replaces the file. */
    call('bytes', { files: arrayOf(open({ path: name, offset: count, data: text })) }),
    /** Writes, describes, reads and removes the session of a run that waits for an answer; see `saved-sessions.ts`. */
    call('write_session', { part: count, data: text }),
    call('describe_session', { manifest: anything }),
    call('find_session'),
    call('read_session', { part: count }),
    call('remove_session'),
    call('order'),
    call('repository_start'),
    /** Returns a run that this token has executed, or the run that the order continues. */
    call('run', { run: name }),
    /** Records a run that checks the result. */
    call('check', { run: { ...name, pattern: '^[A-Za-z0-9-]{1,64}$' }, check_worker_id: name, spec }),
    call('request_budget'),
    call('spend_budget', { tokens: amount, cost: amount }),
    call('find_result', { key: name }),
    call('cache_result', { key: name, entry: open({ result, cached_at: name }) }),
    call('find_pull_request', { name }),
    call('has_commit', { commit: name }),
  ],
} as const;

/** A claimed run, and what its worker needs to execute it. Credentials are those of the order's repository only. */
const claimedSchema = object({
  record: anything,
  order: anything,
  unresolved: arrayOf(name),
  wrapper: anything,
  checks: anything,
  repo: anything,
});

const refused = ['PROTOCOL_UNSUPPORTED', 'RUN_NOT_FOUND'] as const;

export const workerEndpoints = {
  reportWorker: post('/v1/worker/report', 'worker', {
    summary: "Reports that a worker is alive, and returns the server's time and settings.",
    body: open({
      id: name,
      host: name,
      version: name,
      engines: names,
      capacity: count,
      busy: count,
      /** A worker that is starting or has stopped is not listed. */
      state: oneOf(['starting', 'alive', 'stopping', 'stopped']),
    }),
    response: json(
      object({
        /** The start of the worker ids that this token may use. */
        prefix: name,
        now: milliseconds,
        lease_ms: milliseconds,
        agents: anything,
        approvals: anything,
        secret_patterns: arrayOf(text),
        /** Whether runs have to request a share of a budget. */
        has_budgets: flag,
        /** Whether sessions of waiting runs can be saved. */
        keeps_sessions: flag,
        /** Runs of this token on the worker's host whose lease has expired. */
        expired: arrayOf(anything),
      }),
    ),
    problems: refused,
  }),
  claimRun: post('/v1/worker/claim', 'worker', {
    summary: 'Claims the next run, or the run that this token was created for.',
    body: open(
      { worker_id: name, host: name, pid: { type: 'integer' }, pid_started: orNull(text) },
      { run: name, kinds, worker_types: names, labels: labelsSchema, watcher: name, is_last: flag },
    ),
    response: json(
      object({
        now: milliseconds,
        claimed: orNull(claimedSchema),
        /** Whether this server claims the next run for the worker, and sends it through the worker's stream. */
        is_waiting: flag,
      }),
    ),
    problems: refused,
  }),
  placeRun: post('/v1/worker/place', 'worker', {
    summary: 'Claims the next run for another process, and returns the token that `sluice worker --run` needs.',
    body: open({}, { kinds, worker_types: names, labels: labelsSchema, host: name }),
    response: json(object({ placed: orNull(object({ run: name, token: name })) })),
    problems: refused,
  }),
  watchWork: post('/v1/worker/watch', 'worker', {
    summary: 'Streams runs that were claimed for a waiting worker, and replies and cancellations for held runs.',
    body: open(
      { runs: arrayOf(open({ id: name, worker_id: name })) },
      /** The name that the worker's claims pass as `watcher`; without it, nothing is claimed for the worker. */
      { id: name, kinds, worker_types: names, labels: labelsSchema },
    ),
    response: { status: 200, media: 'text/event-stream' },
    problems: refused,
  }),
  callAsWorker: post('/v1/worker/runs/{id}', 'worker', {
    summary: 'Starts, renews, publishes, settles or ends a run that the worker holds.',
    body: workerCallSchema,
    response: json(object({ value: anything })),
    problems: refused,
  }),
};
