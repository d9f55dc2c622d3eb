import {
  flag,
  name,
  object,
  oneOf,
  orNull,
  timestamp,
  text,
  type FromSchema,
  arrayOf,
  count,
} from '../../base/index.js';
import { runResultSchema } from './run-result.js';
import { storedRunSpec } from './run-spec.js';

/**
 * Why a queued run cannot start. `folder`: its folder is in use by another run, since `started_at`, or (null) by a
 * process outside the store. `budget`: the budget is used up. `placement`: no server
 * has placed it yet.
 */
const waitingForSchema = {
  anyOf: [
    object({ reason: { const: 'folder' }, run: orNull(name) }, { started_at: timestamp }),
    object({
      reason: { const: 'budget' },
      budget: { ...name, description: 'The budget that is used up: `day`, or `caller` and a token name.' },
      opens_at: {
        ...timestamp,
        description: 'When the budget is reset. The run starts earlier if active runs release enough of it.',
      },
    }),
    object({ reason: { const: 'placement' }, placement: name }),
  ],
} as const;

export type WaitingFor = FromSchema<typeof waitingForSchema>;

/**
 * Describes what a queued run is waiting for.
 *
 * @example
 * describeWaitingFor({ reason: 'budget', budget: 'day', opens_at: '2026-11-16T00:00:00.000Z' }) // 'the daily budget, …'
 */
export function describeWaitingFor(waiting: WaitingFor): string {
  if (waiting.reason === 'folder') {
    const since = waiting.started_at === undefined ? '' : ` (started ${waiting.started_at})`;
    return `its folder, in use by ${waiting.run === null ? 'another process' : `run ${waiting.run}${since}`}`;
  }
  if (waiting.reason === 'placement') return `a server with the placement "${waiting.placement}"`;
  const caller = /^caller (?<name>.*)$/su.exec(waiting.budget)?.groups?.['name'];
  const budget = caller === undefined ? 'the daily budget' : `the budget of token "${caller}"`;
  return `${budget}, which resets at ${waiting.opens_at}`;
}

/** The state of a run. `waiting`: the agent has asked a question that has not been answered yet. */
export const runState = oneOf(['queued', 'running', 'waiting', 'ended']);

const workerIdentitySchema = object({
  /** Unique per claim: one process can have multiple claims. */
  worker_id: name,
  host: name,
  pid: { type: 'integer' },
  /** The process's start time, as reported by the operating system, because process ids are reused. */
  pid_started: orNull({ type: 'string' }),
});

/** The answer to a permission request, as sent to the API: one of the options. */
export const permissionChoiceSchema = object(
  { interaction_id: name, option_id: name },
  { why: { ...text, maxLength: 2000 } },
);

/** An answer to a permission request that came too late. */
const refusedAnswerSchema = object(
  { interaction_id: name, option_id: name, at: timestamp },
  { who: text, why: permissionChoiceSchema.properties.why },
);

/** One run. If it executes an order, the order is settled when the run ends. */
export const runRecordSchema = object(
  {
    id: name,
    /** Without a prompt for an order, which has the instructions; for a queued order, only the engine and the folder. */
    spec: storedRunSpec,
    state: runState,
    /** The order that this run executes. */
    order: orNull(object({ issue_ref: name, run_id: name })),
    /** The worker that has claimed it; null while it is queued. */
    owner: orNull(workerIdentitySchema),
    /** When the claim expires, in milliseconds since 1970. */
    lease_until: orNull({ type: 'integer' }),
    cancel_requested: flag,
    /** Why a queued run cannot start; null if it only waits for a worker. */
    waiting_for: orNull(waitingForSchema),
    created_at: timestamp,
    /** Recorded just before its process starts; null until then, even if the run is claimed. */
    started_at: orNull(timestamp),
    ended_at: orNull(timestamp),
    result: orNull(runResultSchema),
  },
  {
    /** Answers that arrived when the run had ended or someone else had answered: the newest, at most 20. */
    refused_answers: arrayOf(refusedAnswerSchema),
  },
);

export type RunState = FromSchema<typeof runState>;

/** The worker that made a claim, with enough detail to check after a crash whether its process is still alive. */
export type WorkerIdentity = FromSchema<typeof workerIdentitySchema>;

export type RunRecord = FromSchema<typeof runRecordSchema>;

export type RefusedAnswer = FromSchema<typeof refusedAnswerSchema>;

/** The answer to a permission request, and its author. */
export type PermissionReply = FromSchema<typeof permissionChoiceSchema> & { readonly who?: string };

/** A user's reply: text for `user.input.required`, a choice for `permission.required`. */
export type RunReply = string | PermissionReply;

/** Prefix of an encoded choice: a character that users do not type, stripped from the start of text replies. */
const CHOICE_PREFIX = '\u0001';

/**
 * Encodes a reply as the string that is stored until the run's worker reads it.
 *
 * @example
 * decodeReply(encodeReply('yes')) // 'yes'
 */
export function encodeReply(reply: RunReply): string {
  if (typeof reply !== 'string') return `${CHOICE_PREFIX}${JSON.stringify(reply)}`;
  let start = 0;
  // Otherwise text could be decoded as a choice by any author.
  while (reply[start] === CHOICE_PREFIX) start += 1;
  return reply.slice(start);
}

export function decodeReply(stored: string): RunReply {
  return stored.startsWith(CHOICE_PREFIX) ? (JSON.parse(stored.slice(1)) as PermissionReply) : stored;
}

/** `alive`: reports regularly. `stopping`: finishes its runs and claims no more. `gone`: stopped reporting. */
export const workerState = oneOf(['alive', 'stopping', 'gone']);

/** A worker's last report. */
export const workerSchema = object({
  id: name,
  host: name,
  /** The worker's Sluice version. */
  version: name,
  /** The engines it can run. */
  engines: arrayOf(name),
  /** How many runs it executes concurrently. */
  capacity: count,
  /** How many runs it was executing when it reported. */
  busy: count,
  seen_at: timestamp,
  state: workerState,
  /** The runs that it has claimed, at most 20. Those of a worker that is gone are taken over or ended. */
  runs: arrayOf(name),
});

export type WorkerRecord = FromSchema<typeof workerSchema>;

/** A minute in which a schedule was due: what it did, and why. */
export const scheduleTickSchema = object({
  schedule: name,
  at: timestamp,
  /** `queued`: submits its order when the issue is free. */
  action: oneOf(['submitted', 'repeated', 'skipped', 'queued', 'failed']),
  why: text,
  /** The order's run id, if it submitted one. */
  run_id: orNull(name),
});

export type ScheduleTick = FromSchema<typeof scheduleTickSchema>;

/** Who paused a schedule, why and when. */
export const schedulePauseSchema = object({ schedule: name, who: name, why: text, at: timestamp });

export type SchedulePause = FromSchema<typeof schedulePauseSchema>;

/** A configured schedule: when it is due next, and what its last tick did. */
export const scheduleSchema = object({
  name,
  /** Five fields, UTC. */
  cron: name,
  overlap: oneOf(['skip', 'queue', 'replace']),
  issue_ref: text,
  /** Null while it is paused, or if it is never due. */
  next_at: orNull(timestamp),
  paused: orNull(schedulePauseSchema),
  last: orNull(scheduleTickSchema),
});

export type ScheduleView = FromSchema<typeof scheduleSchema>;

const amount = { type: 'number', minimum: 0 } as const;

const budgetSchema = object({
  /** `day`: all of today's runs. `issue`: all runs for an issue. `caller`: today's runs requested with a token. */
  scope: oneOf(['day', 'issue', 'caller']),
  /** The issue reference or the token name. Empty for `day` and unused `issue`; `*` if no unlisted token has any. */
  name: text,
  /** Null for no limit. `held`: the used amount plus the amount reserved for active runs. */
  tokens: orNull(object({ limit: amount, used: amount, held: amount })),
  cost: orNull(object({ limit: amount, used: amount, held: amount })),
});

/** All budgets, and the runs waiting for them. */
export const budgetsSchema = object({
  items: arrayOf(budgetSchema),
  /** `opens_at`: when the budget is reset. The run starts earlier if active runs release enough of it. */
  waiting: arrayOf(object({ run: name, budget: name, opens_at: timestamp })),
});

export type Budget = FromSchema<typeof budgetSchema>;

export type BudgetReport = FromSchema<typeof budgetsSchema>;
