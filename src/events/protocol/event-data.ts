import { ERROR_CATEGORIES, FAILURE_CODES } from './completion.js';
import { DIAGNOSTIC_CODES } from './diagnostic-codes.js';
import { anything, confidence, flag, keysOf, name, object, oneOf, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/*
 * The parts of `data` that RASP and FCMP share. A sub-agent's events carry `parent_tool_call_id`, the call that
 * started it, so that its words are never taken for the agent's own answer.
 */

export const diagnosticCode = oneOf(keysOf(DIAGNOSTIC_CODES));

/** A piece of a message that is still being written. */
export const messageDelta = object({ message_id: name, text }, { parent_tool_call_id: name });

/** A whole message. `structured_payload` is the JSON value its text holds, if it holds one. */
export const messageFinal = object(
  { message_id: name, text },
  { structured_payload: anything, parent_tool_call_id: name },
);

/** A thought the engine shows. `partial` marks a piece of a longer one: the whole follows under the same id. */
export const reasoning = object({ text }, { reasoning_id: name, partial: flag, parent_tool_call_id: name });

/** The agent has ended its turn and waits for a person. */
export const inputRequired = object(
  { interaction_id: name, kind: { const: 'open_text' }, prompt: text },
  { options: { type: 'array', items: text } },
);

/** What the person answered: it opens the next attempt. */
export const inputReplied = object({ interaction_id: name, text });

/** Why a run failed. */
export const failure = object({
  category: oneOf(ERROR_CATEGORIES),
  code: oneOf(keysOf(FAILURE_CODES)),
  message: text,
});

/** See {@link failure}. */
export type Failure = FromSchema<typeof failure>;

/** A file of the working folder. `made_by` is the tool call that did it, null if none can be named. */
export const artifact = object({
  path: name,
  made_by: { anyOf: [object({ tool_call_id: name, name }), { type: 'null' }] },
});

/** Bytes that are no event, as text. `shortened` says that only their beginning is shown. */
export const raw = object({ text }, { shortened: flag });

/** What the reading has to say. `subject` is the type, field or id it is about. */
export const diagnostic = object({ code: diagnosticCode, message: text }, { confidence, subject: text });
