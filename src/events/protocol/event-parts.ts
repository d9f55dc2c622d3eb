import { anything, confidence, flag, listKeys, name, object, oneOf, text, count, ordinal } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { ERROR_CATEGORIES, FAILURE_CODES } from './completion.js';
import { DIAGNOSTIC_CODES } from './diagnostic-codes.js';

/*
 * The parts of `data` that RASP and FCMP share. A sub-agent's events have `parent_tool_call_id`, the call that started
 * it, so its messages are never mistaken for the agent's own answer.
 */

export const diagnosticCode = oneOf(listKeys(DIAGNOSTIC_CODES));

/** A chunk of a message that is still being streamed. */
export const messageDelta = object({ message_id: name, text }, { parent_tool_call_id: name });

/** A complete message. `structured_payload` is the JSON value in its text, if any. */
export const messageFinal = object(
  { message_id: name, text },
  { structured_payload: anything, parent_tool_call_id: name },
);

/** A thought that the engine prints. `partial`: a chunk; the full text follows under the same id. */
export const reasoning = object({ text }, { reasoning_id: name, partial: flag, parent_tool_call_id: name });

/**
 * The agent has ended its turn and waits for the user. `answerable: false`: in mode `auto` no one can answer, and the
 * event that ends the attempt follows.
 */
export const inputRequired = object(
  { interaction_id: name, kind: { const: 'open_text' }, prompt: text },
  { options: { type: 'array', items: text }, answerable: flag },
);

/** The user's answer, which opens the next attempt. */
export const inputReplied = object({ interaction_id: name, text });

/**
 * Why the engine stopped, if it reported a cause. `model`: the model refused the request; `server`: its service failed;
 * `context`: the request was too long for the model.
 */
export const failureCause = oneOf([
  'auth',
  'rate_limit',
  'quota',
  'model',
  'server',
  'context',
  'network',
  'permission',
  'unknown',
]);

/** See {@link failureCause}. */
export type FailureCause = FromSchema<typeof failureCause>;

/**
 * Why the place of a process failed, with `PLACEMENT_FAILED`. `image`: it cannot be started from its image; `oom`: it
 * exceeded its memory limit; `evicted`: it was removed while it was running; `quota`: its place has no capacity left.
 */
export const placementCause = oneOf(['evicted', 'oom', 'image', 'quota', 'preempted', 'node_lost', 'unknown']);

/** See {@link placementCause}. */
export type PlacementCause = FromSchema<typeof placementCause>;

/** The cause of a failed run: reported by the engine, or by the place of its process. */
export const runFailureCause = oneOf([...new Set([...failureCause.enum, ...placementCause.enum])]);

/** See {@link runFailureCause}. */
export type RunFailureCause = FromSchema<typeof runFailureCause>;

/** Why a run failed. */
export const failure = object(
  {
    category: oneOf(ERROR_CATEGORIES),
    code: oneOf(listKeys(FAILURE_CODES)),
    message: text,
  },
  { cause: runFailureCause },
);

/** See {@link failure}. */
export type Failure = FromSchema<typeof failure>;

/** A file change, if the engine prints it: a unified patch, or the old and the new content (null: no file). */
const fileDiff = object({ path: name }, { patch: text, old_text: { type: ['string', 'null'] }, new_text: text });

/** The change made by a tool call. */
export const diffSchema = { type: 'array', items: fileDiff } as const;

/** See {@link diffSchema}. */
export type FileDiff = FromSchema<typeof fileDiff>;

/** The files of a tool call, with the line if it is known. */
export const locationsSchema = { type: 'array', items: object({ path: name }, { line: ordinal }) } as const;

/** The agent's complete plan, which replaces the previous one. */
export const planSchema = object(
  {
    entries: {
      type: 'array',
      items: object(
        { content: text, status: oneOf(['pending', 'in_progress', 'completed']) },
        { priority: oneOf(['high', 'medium', 'low']) },
      ),
    },
  },
  { tool_call_id: name, parent_tool_call_id: name },
);

export type PlanEntry = FromSchema<typeof planSchema>['entries'][number];

/** A tool call that waits for permission. */
export const permissionRequired = object(
  {
    interaction_id: name,
    tool_call_id: name,
    tool: name,
    input: anything,
    options: {
      type: 'array',
      items: object({
        id: name,
        label: text,
        kind: oneOf(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
      }),
    },
  },
  { diff: diffSchema, locations: locationsSchema },
);

/** The answer to a permission request, by a configured rule or by a user. */
export const permissionReplied = object(
  { interaction_id: name, decision: oneOf(['allow', 'deny']), option_id: name, by: oneOf(['rule', 'person']) },
  { who: text, why: text },
);

/** A file in the working folder. `made_by` is the tool call that created or changed it, null if unknown. */
export const artifact = object({
  path: name,
  made_by: { anyOf: [object({ tool_call_id: name, name }), { type: 'null' }] },
});

/** Bytes that are not an event, as text. `shortened` means that the text is truncated. */
export const raw = object({ text }, { shortened: flag });

/** A diagnostic about the output. `subject` is the type, field or id that it refers to. */
export const diagnostic = object({ code: diagnosticCode, message: text }, { confidence, subject: text });

/** The ids of the session, message, tool call and interaction that an event belongs to. Unknown ids are absent. */
export const correlationSchema = object(
  {},
  {
    session_id: name,
    tool_call_id: name,
    message_id: name,
    interaction_id: name,
  },
);

/** See {@link correlationSchema}. */
export type Correlation = FromSchema<typeof correlationSchema>;

/** An agent's output streams, in the order they are read if there is no timing. */
export const STREAMS = ['stdout', 'stderr', 'pty'] as const;

/** One of `STREAMS`. */
export type StreamName = (typeof STREAMS)[number];

/** `binary`: the bytes are not valid UTF-8, and the text has replacement characters. */
export const RAW_ENCODINGS = ['utf-8', 'binary'] as const;

/** The streams that events can refer to, including the agent's input. */
export const RAW_STREAMS = [...STREAMS, 'stdin'] as const;

/** One of `RAW_STREAMS`: an output stream of the agent, or its input. */
export type CapturedStream = (typeof RAW_STREAMS)[number];

export function perStream<Value>(create: (stream: CapturedStream) => Value): Record<CapturedStream, Value> {
  return { stdout: create('stdout'), stderr: create('stderr'), pty: create('pty'), stdin: create('stdin') };
}

/** The bytes of an event's frame: stream, `byte_from`, and `byte_to` (exclusive). */
export const rawRefSchema = object({
  attempt_number: ordinal,
  stream: oneOf(RAW_STREAMS),
  byte_from: count,
  byte_to: count,
  encoding: oneOf(RAW_ENCODINGS),
});

/** The bytes an event was derived from: stream, start and end. */
export type RawRef = FromSchema<typeof rawRefSchema>;

/**
 * Tokens and cost. `scope` is one `turn`, or the `total` so far, for the session if the engine reports it, otherwise
 * for the attempt. `input_tokens` includes cached tokens; `cost` is in US dollars, as reported by the engine.
 */
export const usageSchema = object(
  {
    scope: oneOf(['turn', 'total']),
    input_tokens: count,
    output_tokens: count,
  },
  {
    cached_input_tokens: count,
    cache_write_tokens: count,
    reasoning_tokens: count,
    total_tokens: count,
    cost: { type: 'number', minimum: 0 },
    model: name,
  },
);

/** Tokens and cost of a turn, or the total so far. */
export type Usage = FromSchema<typeof usageSchema>;
