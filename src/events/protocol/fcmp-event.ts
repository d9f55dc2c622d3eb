import {
  anything,
  confidence,
  count,
  flag,
  listKeys,
  name,
  object,
  oneOf,
  ordinal,
  text,
  timestamp,
} from '../../base/index.js';
import type { FromSchema, ObjectSchema, Schema } from '../../base/index.js';
import { COMPLETED_REASONS } from './completion.js';
import {
  correlationSchema,
  artifact,
  diagnosticCode,
  diffSchema,
  failure,
  failureCause,
  inputReplied,
  inputRequired,
  locationsSchema,
  messageDelta,
  messageFinal,
  permissionReplied,
  permissionRequired,
  planSchema,
  raw,
  reasoning,
  rawRefSchema,
  usageSchema,
} from './event-parts.js';
import { engineName } from './engine-names.js';

/** Adds the usage so far, for events that can be the last of an attempt. */
function withUsage<R extends Readonly<Record<string, Schema>>, O extends Readonly<Record<string, Schema>>>(
  schema: ObjectSchema<R, O>,
): ObjectSchema<R, O & { readonly usage: typeof usageSchema }> {
  return { ...schema, properties: { ...schema.properties, usage: usageSchema } };
}

/** Adds the fields of an event's step. */
function withStep<R extends Readonly<Record<string, Schema>>, O extends Readonly<Record<string, Schema>>>(
  schema: ObjectSchema<R, O>,
): ObjectSchema<R, O & { readonly model: typeof name; readonly usage: typeof usageSchema }> {
  return { ...schema, properties: { ...schema.properties, model: name, usage: usageSchema } };
}

/** The data of each type of FCMP event. */
const FCMP_DATA = {
  /** `session_id` is null if the engine has not printed one. */
  'conversation.started': object({ session_id: { anyOf: [name, { type: 'null' }] } }, { model: name }),
  'assistant.message.delta': messageDelta,
  /** `model` and `usage` belong to the message's step, if the engine reports them with the message. */
  'assistant.message.final': withStep(messageFinal),
  'assistant.reasoning': reasoning,
  'assistant.tool_call': object(
    { tool_call_id: name, name, status: oneOf(['started', 'completed', 'failed']) },
    {
      input: anything,
      output: anything,
      error: text,
      exit_code: { type: ['integer', 'null'] },
      diff: diffSchema,
      locations: locationsSchema,
      model: name,
      usage: usageSchema,
      parent_tool_call_id: name,
    },
  ),
  'assistant.plan': planSchema,
  'user.input.required': withUsage(inputRequired),
  'user.input.replied': inputReplied,
  'permission.required': permissionRequired,
  'permission.replied': permissionReplied,
  'conversation.completed': withUsage(
    object({
      state: { const: 'completed' },
      reason_code: oneOf(listKeys(COMPLETED_REASONS)),
    }),
  ),
  'conversation.failed': withUsage(object({ error: failure })),
  'artifact.created': artifact,
  'artifact.modified': artifact,
  'artifact.deleted': artifact,
  /** `severity`, `retrying` and the following fields are set if the engine itself reported the problem. */
  'diagnostic.warning': withUsage(
    object(
      { code: diagnosticCode, message: text },
      {
        confidence,
        subject: text,
        severity: oneOf(['warning', 'error']),
        retrying: flag,
        cause: failureCause,
        http_status: count,
        attempt: count,
        max_attempts: count,
      },
    ),
  ),
  'raw.stdout': raw,
  'raw.stderr': raw,
} as const;

/** The version of new events. */
export const FCMP_VERSION = 'fcmp/1.1';

const envelope = object({
  /** 1.1 only adds types and fields to 1.0, so a reader of 1.1 can read both. */
  protocol_version: oneOf(['fcmp/1.0', FCMP_VERSION]),
  run_id: name,
  seq: ordinal,
  ts: timestamp,
  engine: engineName,
  type: name,
  data: { type: 'object' },
  /** `cached_from` is the run whose cached result this one repeats. */
  meta: object({ attempt: ordinal }, { confidence, cached_from: name }),
  correlation: correlationSchema,
  raw_ref: { anyOf: [rawRefSchema, { type: 'null' }] },
});

/** A type of FCMP event. */
export type FcmpType = keyof typeof FCMP_DATA;

/** The data of an event type: `FcmpData<'assistant.message.final'>['text']`. */
export type FcmpData<Type extends FcmpType> = FromSchema<(typeof FCMP_DATA)[Type]>;

/**
 * A conversation event, as shown to users. `type` narrows `data`.
 *
 * @example
 * if (event.type === 'assistant.message.final') console.log(event.data.text)
 */
export type FcmpEvent<Type extends FcmpType = FcmpType> = Type extends FcmpType
  ? Omit<FromSchema<typeof envelope>, 'type' | 'data'> & { readonly type: Type; readonly data: FcmpData<Type> }
  : never;

/** All types, in documentation order. */
export const FCMP_TYPES = listKeys(FCMP_DATA);

/** The JSON Schema (draft 2020-12) of FCMP events, published as `sluice/schemas/fcmp.json`. */
export const fcmpSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:fcmp:1.1',
  title: 'FCMP 1.1 event',
  ...envelope,
  properties: { ...envelope.properties, type: oneOf(FCMP_TYPES) },
  // One condition per type, so invalid `data` is reported for the event's type, not for all types.
  allOf: FCMP_TYPES.map((type) => ({
    if: { properties: { type: { const: type } } },
    then: { properties: { data: FCMP_DATA[type] } },
  })),
};
