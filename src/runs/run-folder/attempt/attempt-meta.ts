import { count, flag, listKeys, name, object, oneOf, orNull, text, type FromSchema } from '../../../base/index.js';
import { fromRecordSchema } from '../../../json/schema/index.js';
import { VERDICTS, isRecord, runFailureCause } from '../../../events/index.js';

/** A permission request's answer that arrived after its attempt had ended. Fields of other tools are ignored. */
const lateAnswer = {
  ...object(
    {
      at: { type: 'string', format: 'date-time' },
      interaction_id: name,
      decision: oneOf(['allow', 'deny']),
      option_id: name,
      by: oneOf(['rule', 'person']),
    },
    { who: text, why: text },
  ),
  additionalProperties: true,
} as const;

/** The content of `meta.N.json`. Files written by older versions or other tools can lack any field. */
const metaSchema = object(
  {},
  {
    run_id: name,
    engine: name,
    /** The engine whose output format is used, if that is not `engine` itself. */
    reads: name,
    version: name,
    command: { type: 'array', items: text },
    mode: oneOf(['auto', 'interactive']),
    started_at: name,
    /** Present once the attempt has ended. */
    finished_at: name,
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    verdict: oneOf(VERDICTS),
    /** Details of the verdict: the exceeded limit, the missing executable, the rejected value. */
    reason: text,
    /** Why its placement or its engine failed, if Sluice ended it. */
    cause: runFailureCause,
    /** The reason code of the attempt's completion state. */
    reason_code: name,
    pid: count,
    /** The session that this attempt resumes; null if it started a new one. */
    session_id: orNull(name),
    /** The user's answer, if the attempt resumes after a question. */
    reply: text,
    answers: { type: 'array', items: lateAnswer },
    /** Whether the attempt ran in a terminal, so it has a terminal stream instead of stdout and stderr. */
    terminal: flag,
    /** Whether the process was sandboxed, and what it could reach. */
    sandbox: { type: 'object' },
    /** The run whose cached result this attempt repeats; no process was started. */
    cached_from: name,
  },
);

/** See {@link metaSchema}. */
export type AttemptMeta = FromSchema<typeof metaSchema>;

const FIELDS = listKeys(metaSchema.properties).map((key) => {
  const { validate } = fromRecordSchema(metaSchema.properties[key])['~standard'];
  // Other tools write times in any form.
  const isTime = (field: unknown): boolean => !key.endsWith('_at') || !Number.isNaN(Date.parse(String(field)));
  return { key, isValid: (field: unknown) => !('issues' in validate(field)) && isTime(field) };
});

/** Reads the valid fields of a `meta.N.json`, and lists the invalid ones. */
export function readAttemptMeta(value: unknown): { readonly meta: AttemptMeta; readonly ignored: readonly string[] } {
  if (!isRecord(value)) return { meta: {}, ignored: ['the whole file'] };
  const ignored: string[] = [];
  const meta: Record<string, unknown> = {};
  for (const { key, isValid } of FIELDS) {
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
