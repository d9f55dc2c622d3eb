import { get, VERDICTS, isRecord, runFailureCause, type PermissionAnswer } from '../../../events/index.js';

/** An answer that arrived after its attempt had ended. */
type LateAnswer = PermissionAnswer & { readonly at: string };

type Check<Value> = (field: unknown) => field is Value;

const isText: Check<string> = (field) => typeof field === 'string';
const isName = (field: unknown): field is string => isText(field) && field !== '';
const isTime = (field: unknown): field is string => isText(field) && !Number.isNaN(Date.parse(field));
const isInteger = (field: unknown): field is number => Number.isSafeInteger(field);
const isFlag: Check<boolean> = (field) => typeof field === 'boolean';
const isOneOf =
  <Word extends string>(words: readonly Word[]): Check<Word> =>
  (field): field is Word =>
    words.some((word) => word === field);
const isListOf =
  <Item>(isItem: Check<Item>): Check<readonly Item[]> =>
  (field): field is readonly Item[] =>
    Array.isArray(field) && field.every(isItem);
const orNull =
  <Value>(isValue: Check<Value>): Check<Value | null> =>
  (field): field is Value | null =>
    field === null || isValue(field);

/** Whether a value is an answer; an agent can write to the file. */
const isLateAnswer: Check<LateAnswer> = (value): value is LateAnswer => {
  if (!isRecord(value)) return false;
  const { at, decision, by, who = '', why = '' } = value as Readonly<Record<string, unknown>>;
  const isNamed = get.name(value, 'interaction_id') !== null && get.name(value, 'option_id') !== null;
  const isDecided = (decision === 'allow' || decision === 'deny') && (by === 'rule' || by === 'person');
  return isTime(at) && isNamed && isDecided && isText(who) && isText(why);
};

/** The fields of `meta.N.json`. Files written by older versions or other tools can lack any field. */
const FIELDS = {
  run_id: isName,
  engine: isName,
  /** The engine whose output format is used, if that is not `engine` itself. */
  reads: isName,
  version: isName,
  command: isListOf(isText),
  mode: isOneOf(['auto', 'interactive']),
  started_at: isTime,
  /** Present once the attempt has ended. */
  finished_at: isTime,
  exit_code: orNull(isInteger),
  signal: orNull(isName),
  verdict: isOneOf(VERDICTS),
  /** Details of the verdict: the exceeded limit, the missing executable, the rejected value. */
  reason: isText,
  /** Why its placement or its engine failed, if Sluice ended it. */
  cause: isOneOf(runFailureCause.enum),
  /** The reason code of the attempt's completion state. */
  reason_code: isName,
  pid: isInteger,
  /** The session that this attempt resumes; null if it started a new one. */
  session_id: orNull(isName),
  /** The user's answer, if the attempt resumes after a question. */
  reply: isText,
  answers: isListOf(isLateAnswer),
  /** Whether the attempt ran in a terminal, so it has a terminal stream instead of stdout and stderr. */
  terminal: isFlag,
  /** Whether the process was sandboxed, and what it could reach. */
  sandbox: (field: unknown): field is Readonly<Record<string, unknown>> => isRecord(field),
  /** The run whose cached result this attempt repeats; no process was started. */
  cached_from: isName,
};

/** The content of `meta.N.json`. */
export type AttemptMeta = {
  readonly [Key in keyof typeof FIELDS]?: (typeof FIELDS)[Key] extends Check<infer Value> ? Value : never;
};

/** Reads the valid fields of a `meta.N.json`, and lists the invalid ones. */
export function readAttemptMeta(value: unknown): { readonly meta: AttemptMeta; readonly ignored: readonly string[] } {
  if (!isRecord(value)) return { meta: {}, ignored: ['the whole file'] };
  const ignored: string[] = [];
  const meta: Record<string, unknown> = {};
  for (const [key, isValid] of Object.entries(FIELDS)) {
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
