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
import { COMPLETION_STATES, endSignalName, REASON_CODES, VERDICTS } from './completion.js';
import * as parts from './event-parts.js';
import { engineName } from './engine-names.js';

const exitCode = { type: ['integer', 'null'] } as const;
const signal = { type: ['string', 'null'] } as const;
const reasonCode = oneOf(listKeys(REASON_CODES));
const toolCall = {
  input: anything,
  parent_tool_call_id: name,
  diff: parts.diffSchema,
  locations: parts.locationsSchema,
} as const;
/** Adds `detail`: other fields of the engine's record, unchanged, at most 4 KiB; the rest is in the raw bytes. */
const withDetail = <R extends Readonly<Record<string, Schema>>, O extends Readonly<Record<string, Schema>>>(
  schema: ObjectSchema<R, O>,
): ObjectSchema<R, O & { readonly detail: typeof anything }> => ({
  ...schema,
  properties: { ...schema.properties, detail: anything },
});

const RASP_DATA = {
  /** `cached_from` is the run whose cached result this one repeats. */
  'lifecycle.run.started': object({ mode: oneOf(['auto', 'interactive']), resumed: flag }, { cached_from: name }),
  /** `status` is the engine's name for the event (`thread.started`, `step_finish`, `init`). */
  'lifecycle.run.status': object(
    { status: name },
    { session_id: name, model: name, engine_version: name, usage: parts.usageSchema, reason: text, detail: anything },
  ),
  'lifecycle.run.completed': object(
    { reason_code: reasonCode, exit_code: exitCode, signal },
    { usage: parts.usageSchema },
  ),
  'lifecycle.run.failed': object({ error: parts.failure, exit_code: exitCode, signal }, { usage: parts.usageSchema }),
  'lifecycle.run.canceled': object({ error: parts.failure, exit_code: exitCode, signal }, { usage: parts.usageSchema }),
  'lifecycle.completion.state': object({
    state: oneOf(COMPLETION_STATES),
    reason_code: reasonCode,
    confidence,
    evidence: object({
      done_marker: flag,
      end_signal: { anyOf: [endSignalName, { type: 'null' }] },
      runtime_error: { type: ['string', 'null'] },
      exit_code: exitCode,
      signal,
      verdict: { anyOf: [oneOf(VERDICTS), { type: 'null' }] },
    }),
  }),
  'agent.message.delta': withDetail(parts.messageDelta),
  'agent.message.final': withDetail(parts.messageFinal),
  'agent.reasoning.summary': withDetail(parts.reasoning),
  'agent.plan': withDetail(parts.planSchema),
  'interaction.user_input.required': parts.inputRequired,
  'interaction.user_input.replied': parts.inputReplied,
  'interaction.permission.required': withDetail(parts.permissionRequired),
  'interaction.permission.replied': withDetail(parts.permissionReplied),
  'tool.call.started': withDetail(object({ tool_call_id: name, name }, toolCall)),
  'tool.call.completed': withDetail(
    object({ tool_call_id: name, name }, { ...toolCall, output: anything, exit_code: exitCode }),
  ),
  'tool.call.failed': withDetail(
    object({ tool_call_id: name, name, error: text }, { ...toolCall, output: anything, exit_code: exitCode }),
  ),
  'artifact.created': parts.artifact,
  'artifact.modified': parts.artifact,
  'artifact.deleted': parts.artifact,
  'diagnostic.parser.warning': parts.diagnostic,
  /** Part of the protocol, but never emitted by Sluice: its readers continue after any input. */
  'diagnostic.parser.error': parts.diagnostic,
  /** `retrying` distinguishes a retry from a failure; `cause`, `http_status` and `attempt` are set if the engine reports them. */
  'diagnostic.engine.error': object(
    { code: parts.diagnosticCode, message: text, severity: oneOf(['warning', 'error']), retrying: flag },
    { cause: parts.failureCause, http_status: count, attempt: count, max_attempts: count, detail: anything },
  ),
  'raw.stdout': parts.raw,
  'raw.stderr': parts.raw,
  'raw.pty': parts.raw,
} as const;

/** The parser that read an event, and its confidence. */
const sourceSchema = object({ engine: engineName, parser: engineName, parser_version: name, confidence });

/** The version of new events. */
export const RASP_VERSION = 'rasp/1.1';

const envelope = object({
  /** 1.1 only adds types and fields to 1.0, so a reader of 1.1 can read both. */
  protocol_version: oneOf(['rasp/1.0', RASP_VERSION]),
  run_id: name,
  attempt_number: ordinal,
  seq: ordinal,
  ts: timestamp,
  source: sourceSchema,
  event: object({ category: name, type: name }),
  data: { type: 'object' },
  correlation: parts.correlationSchema,
  raw_ref: { anyOf: [parts.rawRefSchema, { type: 'null' }] },
});

/** A type of RASP event. */
export type RaspType = keyof typeof RASP_DATA;

type Category<Type> = Type extends `${infer First}.${string}` ? First : never;

/** The data of an event type: `RaspData<'agent.message.final'>['text']`. */
export type RaspData<Type extends RaspType> = FromSchema<(typeof RASP_DATA)[Type]>;

/** The parser that read an event, and its confidence. */
export type RaspSource = FromSchema<typeof sourceSchema>;

/** A run event, with its bytes. Its nested type does not narrow it: use {@link isRasp}. */
export type RaspEvent<Type extends RaspType = RaspType> = Type extends RaspType
  ? Omit<FromSchema<typeof envelope>, 'event' | 'data'> & {
      readonly event: { readonly category: Category<Type>; readonly type: Type };
      readonly data: RaspData<Type>;
    }
  : never;

/** All types, in documentation order. */
export const RASP_TYPES = listKeys(RASP_DATA);

/**
 * Narrows an event by its type.
 *
 * @example
 * if (isRasp(event, 'agent.message.final')) console.log(event.data.text)
 */
export function isRasp<Type extends RaspType>(event: RaspEvent, type: Type): event is RaspEvent<Type> {
  return event.event.type === type;
}

/** Returns the category of a type: the part before the first dot. */
export function getCategory<Type extends RaspType>(type: Type): Category<Type> {
  return type.slice(0, type.indexOf('.')) as Category<Type>;
}

/** The JSON Schema (draft 2020-12) of RASP events, published as `sluice/schemas/rasp.json`. */
export const raspSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:rasp:1.1',
  title: 'RASP 1.1 event',
  ...envelope,
  properties: {
    ...envelope.properties,
    event: object({ category: oneOf([...new Set(RASP_TYPES.map(getCategory))]), type: oneOf(RASP_TYPES) }),
  },
  // One condition per type, so invalid `data` is reported for the event's type, not for all types.
  allOf: RASP_TYPES.map((type) => ({
    if: { properties: { event: { type: 'object', properties: { type: { const: type } } } } },
    then: {
      properties: {
        event: { type: 'object', properties: { category: { const: getCategory(type) } } },
        data: RASP_DATA[type],
      },
    },
  })),
};
