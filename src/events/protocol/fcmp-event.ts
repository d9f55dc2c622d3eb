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
import { withEngineFields } from './engine-fields.js';
import * as parts from './event-parts.js';
import { engineName } from './engine-names.js';

/** Adds the usage of an event's step or, for the last event of an attempt, the usage so far; and the engine's fields. */
function withUsage<R extends Readonly<Record<string, Schema>>, O extends Readonly<Record<string, Schema>>>(
  schema: ObjectSchema<R, O>,
) {
  const properties = { ...schema.properties, usage: parts.usageSchema };
  const withUsageField: ObjectSchema<R, O & { readonly usage: typeof parts.usageSchema }> = { ...schema, properties };
  return withEngineFields(withUsageField);
}

const FCMP_DATA = {
  /** `session_id` is null if the engine has not printed one. */
  'conversation.started': withEngineFields(object({ session_id: { anyOf: [name, { type: 'null' }] } })),
  /** A status that is no other event, such as a request to the model or the end of a step, under the engine's name. */
  'conversation.status': withUsage(object({ status: name }, { reason: text })),
  'assistant.message.delta': parts.messageDelta,
  /** `model` and `usage` belong to the message's step, if the engine reports them with the message. */
  'assistant.message.final': withUsage(parts.messageFinal),
  'assistant.reasoning': withEngineFields(parts.reasoning),
  'assistant.tool_call': withUsage(
    object(
      { tool_call_id: name, name, status: oneOf(['started', 'completed', 'failed']) },
      {
        input: anything,
        output: anything,
        error: text,
        diff: parts.diffSchema,
        locations: parts.locationsSchema,
        parent_tool_call_id: name,
      },
    ),
  ),
  'assistant.plan': withEngineFields(parts.planSchema),
  /** A prompt as the engine received it: from the user, or from the agent to a sub-agent. */
  'user.message': withEngineFields(object({ text }, { reason: text, parent_tool_call_id: name })),
  'user.input.required': withUsage(parts.inputRequired),
  'user.input.replied': parts.inputReplied,
  'permission.required': withEngineFields(parts.permissionRequired),
  'permission.replied': withEngineFields(parts.permissionReplied),
  'conversation.completed': withUsage(
    object({ state: { const: 'completed' }, reason_code: oneOf(listKeys(COMPLETED_REASONS)) }),
  ),
  'conversation.failed': withUsage(object({ error: parts.failure })),
  'artifact.created': parts.artifact,
  'artifact.modified': parts.artifact,
  'artifact.deleted': parts.artifact,
  /** `severity`, `retrying` and the following fields are set if the engine itself reported the problem. */
  'diagnostic.warning': withUsage(
    object(
      { code: parts.diagnosticCode, message: text },
      {
        confidence,
        subject: text,
        severity: oneOf(['warning', 'error']),
        retrying: flag,
        cause: parts.failureCause,
        http_status: count,
        attempt: count,
        max_attempts: count,
      },
    ),
  ),
  'raw.stdout': parts.raw,
  'raw.stderr': parts.raw,
} as const;

/** The version of new events. */
export const FCMP_VERSION = 'fcmp/1.2';

const envelope = object(
  {
    /** 1.1 and 1.2 only add types and fields, so a reader of 1.2 can read all three. */
    protocol_version: oneOf(['fcmp/1.0', 'fcmp/1.1', FCMP_VERSION]),
    run_id: name,
    seq: ordinal,
    ts: timestamp,
    engine: engineName,
    type: name,
    data: { type: 'object' },
    /** `cached_from` is the run whose cached result this one repeats. */
    meta: object({ attempt: ordinal }, { confidence, cached_from: name }),
    correlation: parts.correlationSchema,
    raw_ref: { anyOf: [parts.rawRefSchema, { type: 'null' }] },
  },
  /** When the event happened by the engine's own clock; `ts` is when Sluice read it. */
  { engine_at: timestamp },
);

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
  $id: 'urn:sluice:schema:fcmp:1.2',
  title: 'FCMP 1.2 event',
  ...envelope,
  properties: { ...envelope.properties, type: oneOf(FCMP_TYPES) },
  // One condition per type, so invalid `data` is reported for the event's type, not for all types.
  allOf: FCMP_TYPES.map((type) => ({
    if: { properties: { type: { const: type } } },
    then: { properties: { data: FCMP_DATA[type] } },
  })),
};
