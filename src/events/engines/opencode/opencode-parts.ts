import type { FileDiff, Usage } from '../../protocol/event-parts.js';
import { readPlan } from '../../reading/read-plan.js';
import {
  getArray,
  getBoolean,
  getCount,
  getField,
  getInteger,
  getName,
  getNumber,
  getObject,
  getString,
} from '../../reading/record-fields.js';
import type { Emit, ToolEnd } from '../fact.js';

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['write', 'edit', 'multiedit', 'patch']);

/** Step end reasons that also end the run, as a failure. */
const FAILED_REASONS: Readonly<Record<string, string>> = {
  length: 'The model reached its output limit.',
  'content-filter': 'The content filter stopped the model.',
  error: 'The model ended with an error.',
};

/** Reads the end of a step: `stop` ends the invocation, `tool-calls` continues with the next step. */
export function readStepFinish(part: object, sessionId: string | null, emit: Emit): void {
  const reason = getName(part, 'reason');
  const usage = readTokens(part, emit);
  // The status is an event too, so the last message or call must have its usage before.
  if (usage !== null) emit({ fact: 'step_ended', usage });
  emit({ fact: 'status', status: 'step_finish', session_id: sessionId, reason, usage });
  if (reason === 'stop') return emit({ fact: 'end_signal', signal: 'OPENCODE_STEP_FINISH_STOP' });
  const failure = reason !== null && Object.hasOwn(FAILED_REASONS, reason) ? FAILED_REASONS[reason] : undefined;
  if (failure === undefined) return;
  emit({ fact: 'error', message: failure, isFatal: true });
}

/**
 * Reads a text part, which is printed once it is complete. It is reported as a delta first, because the final message
 * waits for the end of the step.
 */
export function readText(part: object, emit: Emit): void {
  const text = getString(part, 'text');
  if (text === null) return emit({ fact: 'malformed', why: 'A text part has no text.' });
  // Inserted by OpenCode itself, so it is not the agent's message.
  const isInserted = getBoolean(part, 'synthetic') === true || getBoolean(part, 'ignored') === true;
  if (isInserted) emit({ fact: 'noise' });
  else {
    emit({ fact: 'delta', text });
    emit({ fact: 'message', text });
  }
}

export function readReasoning(part: object, emit: Emit): void {
  const text = getString(part, 'text');
  if (text === null) return emit({ fact: 'malformed', why: 'A reasoning part has no text.' });
  const id = getName(part, 'id');
  emit({ fact: 'reasoning', text, id });
}

/** Reads a tool call, which is printed once, when it has ended; its start is derived from the same record. */
export function readTool(part: object, emit: Emit): void {
  const id = getName(part, 'callID');
  const name = getName(part, 'tool');
  const state = getObject(part, 'state');
  if (id === null || name === null || state === null)
    return emit({ fact: 'malformed', why: 'A tool part has no callID, tool or state.' });
  emit({ fact: 'record', record: state, shape: 'tool_use.part.state', used: USED_STATE_FIELDS, path: 'part.state' });
  const path = WRITING_TOOLS.has(name) ? getName(getObject(state, 'input') ?? {}, 'filePath') : null;
  const call: ToolEnd = {
    id,
    name,
    input: getField(state, 'input'),
    output: getField(state, 'output'),
    exitCode: getInteger(getObject(state, 'metadata') ?? {}, 'exit'),
    paths: path === null ? [] : [path],
    diff: readDiff(getObject(state, 'metadata') ?? {}, path),
    startDerived: true,
  };
  if (name === 'todowrite')
    emit({ fact: 'plan', entries: readPlan(getArray(getObject(state, 'input') ?? {}, 'todos')), call: id });
  switch (getString(state, 'status') ?? '') {
    case 'completed':
      return emit({ fact: 'tool_completed', ...call });
    case 'error':
      return emit({
        fact: 'tool_failed',
        ...call,
        error: getString(state, 'error') ?? 'The tool failed without a reason.',
      });
    case 'pending':
      // A call is announced before its input is known; the start with the input follows as `running`.
      if (Object.keys(getObject(state, 'input') ?? {}).length === 0)
        return emit({ fact: 'status', status: 'tool_use', reason: 'pending', detail: { callID: id, tool: name } });
      return emit({ fact: 'tool_started', ...call });
    case 'running':
      return emit({ fact: 'tool_started', ...call });
    default:
      return emit({ fact: 'malformed', why: 'A tool part has an unknown status.' });
  }
}

/** Reads the patch of a file that OpenCode wrote; the file is named in another field. */
function readDiff(metadata: object, path: string | null): readonly FileDiff[] {
  const fileDiff = getObject(metadata, 'filediff') ?? {};
  const patch = getName(metadata, 'diff') ?? getName(fileDiff, 'patch');
  const file = getName(fileDiff, 'file') ?? path;
  if (file === null || patch === null || patch.length > MAX_PATCH) return [];
  return [{ path: file, patch }];
}

/** Longer patches are omitted; the change can be read from the file itself. */
const MAX_PATCH = 64 * 1024;

const USED_STATE_FIELDS: ReadonlySet<string> = new Set(['status', 'input', 'output', 'error']);

function readTokens(part: object, emit: Emit): Usage | null {
  const tokens = getObject(part, 'tokens');
  if (tokens === null) return null;
  emit({ fact: 'record', record: tokens, shape: 'step_finish.part.tokens' });
  const cache = getObject(tokens, 'cache') ?? {};
  const cached = getCount(cache, 'read') ?? 0;
  const cacheWrite = getCount(cache, 'write') ?? 0;
  const total = getCount(tokens, 'total');
  const cost = getNumber(part, 'cost');
  return {
    scope: 'turn',
    input_tokens: (getCount(tokens, 'input') ?? 0) + cached + cacheWrite,
    output_tokens: getCount(tokens, 'output') ?? 0,
    cached_input_tokens: cached,
    cache_write_tokens: cacheWrite,
    reasoning_tokens: getCount(tokens, 'reasoning') ?? 0,
    ...(total === null ? undefined : { total_tokens: total }),
    ...(cost === null || cost < 0 ? undefined : { cost }),
  };
}

/** Names of OpenCode's errors. */
export const ERROR_NAMES: ReadonlySet<string> = new Set([
  'ProviderAuthError',
  'UnknownError',
  'MessageOutputLengthError',
  'MessageAbortedError',
  'StructuredOutputError',
  'ContextOverflowError',
  'ContentFilterError',
  'APIError',
]);
