import { get, VERDICTS, isRecord, runFailureCause } from '../../../events/index.js';
import type { PermissionAnswer, RunFailureCause, Verdict } from '../../../events/index.js';

/** An answer that arrived after its attempt had ended. */
export type LateAnswer = PermissionAnswer & { readonly at: string };

/** The content of `meta.N.json`. Files written by older versions or other tools can lack any field. */
export interface AttemptMeta {
  readonly run_id?: string;
  readonly engine?: string;
  /** The engine whose output format is used, if that is not `engine` itself. */
  readonly reads?: string;
  readonly version?: string;
  readonly command?: readonly string[];
  readonly mode?: 'auto' | 'interactive';
  readonly started_at?: string;
  /** Present once the attempt has ended. */
  readonly finished_at?: string;
  readonly exit_code?: number | null;
  readonly signal?: string | null;
  readonly verdict?: Verdict;
  /** Details of the verdict: the exceeded limit, the missing executable, the rejected value. */
  readonly reason?: string;
  /** Why its placement or its engine failed, if Sluice ended it. */
  readonly cause?: RunFailureCause;
  /** The reason code of the attempt's completion state. */
  readonly reason_code?: string;
  readonly pid?: number;
  /** The session that this attempt resumes; null if it started a new one. */
  readonly session_id?: string | null;
  /** The user's answer, if the attempt resumes after a question. */
  readonly reply?: string;
  /** Answers to its permission requests that arrived after the attempt had ended. */
  readonly answers?: readonly LateAnswer[];
  /** Whether the attempt ran in a terminal, so it has a terminal stream instead of stdout and stderr. */
  readonly terminal?: boolean;
  /** Whether the process was sandboxed, and what it could reach. */
  readonly sandbox?: Readonly<Record<string, unknown>>;
  /** The run whose cached result this attempt repeats; no process was started. */
  readonly cached_from?: string;
}

/** Reads the valid fields of a `meta.N.json`, and lists the invalid ones. */
export function readAttemptMeta(value: unknown): { readonly meta: AttemptMeta; readonly ignored: readonly string[] } {
  if (!isRecord(value)) return { meta: {}, ignored: ['the whole file'] };
  const ignored: string[] = [];
  const meta: Record<string, unknown> = {};
  for (const [key, isValid] of Object.entries(SHAPES)) {
    const field: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    if (field === undefined) continue;
    if (isValid(field)) meta[key] = field;
    else if (field !== null) ignored.push(key);
  }
  return { meta, ignored };
}

export function hasEnded(meta: AttemptMeta): boolean {
  return meta.finished_at !== undefined || typeof meta.exit_code === 'number' || typeof meta.signal === 'string';
}

const isText = (field: unknown): boolean => typeof field === 'string' && field !== '';
const isTime = (field: unknown): boolean => typeof field === 'string' && !Number.isNaN(Date.parse(field));

/** Whether a value is an answer; an agent can write to the file. */
function isLateAnswer(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { at, decision, by, who = '', why = '' } = value as Readonly<Record<string, unknown>>;
  return (
    isTime(at) &&
    get.name(value, 'interaction_id') !== null &&
    get.name(value, 'option_id') !== null &&
    (decision === 'allow' || decision === 'deny') &&
    (by === 'rule' || by === 'person') &&
    typeof who === 'string' &&
    typeof why === 'string'
  );
}

const SHAPES: Readonly<Record<keyof AttemptMeta, (field: unknown) => boolean>> = {
  run_id: isText,
  engine: isText,
  reads: isText,
  version: isText,
  command: (field) => Array.isArray(field) && field.every((argument) => typeof argument === 'string'),
  mode: (field) => field === 'auto' || field === 'interactive',
  started_at: isTime,
  finished_at: isTime,
  exit_code: (field) => field === null || Number.isInteger(field),
  signal: (field) => field === null || isText(field),
  verdict: (field) => VERDICTS.some((verdict) => verdict === field),
  reason: (field) => typeof field === 'string',
  cause: (field) => runFailureCause.enum.some((cause) => cause === field),
  reason_code: isText,
  pid: (field) => Number.isSafeInteger(field),
  session_id: (field) => field === null || isText(field),
  reply: (field) => typeof field === 'string',
  answers: (field) => Array.isArray(field) && field.every(isLateAnswer),
  sandbox: isRecord,
  cached_from: isText,
  terminal: (field) => typeof field === 'boolean',
};
