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
  createFieldTable,
} from '../../reading/record-fields.js';
import type { Report, ToolEndReport } from '../report.js';
import type { FieldTable } from '../../reading/record-fields.js';

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['write', 'edit', 'multiedit', 'patch']);

/** Step end reasons that also end the run, as a failure. */
const FAILED_REASONS: Readonly<Record<string, string>> = {
  length: 'The model reached its output limit.',
  'content-filter': 'The content filter stopped the model.',
  error: 'The model ended with an error.',
};

/** Reads the end of a step: `stop` ends the invocation, `tool-calls` continues with the next step. */
export function readStepFinish(part: object, sessionId: string | null, report: Report): void {
  const reason = getName(part, 'reason');
  const usage = readTokens(part, report);
  report.status({ status: 'step_finish', session_id: sessionId, reason, usage });
  if (usage !== null) report.stepEnded(usage);
  if (reason === 'stop') return report.endSignal('OPENCODE_STEP_FINISH_STOP');
  const failure = reason !== null && Object.hasOwn(FAILED_REASONS, reason) ? FAILED_REASONS[reason] : undefined;
  if (failure === undefined) return;
  report.engineError({ message: failure });
  report.runtimeError(failure);
}

/**
 * Reads a text part, which is printed once it is complete. It is reported as a delta first, because the final message
 * waits for the end of the step.
 */
export function readText(part: object, report: Report): void {
  const text = getString(part, 'text');
  if (text === null) return report.unparsed('MALFORMED_RECORD', 'A text part has no text.');
  // Inserted by OpenCode itself, so it is not the agent's message.
  const isInserted = getBoolean(part, 'synthetic') === true || getBoolean(part, 'ignored') === true;
  if (isInserted) report.noise();
  else {
    report.messageDelta(text);
    report.message(text);
  }
}

export function readReasoning(part: object, report: Report): void {
  const text = getString(part, 'text');
  if (text === null) return report.unparsed('MALFORMED_RECORD', 'A reasoning part has no text.');
  const id = getName(part, 'id');
  report.reasoning(text, id === null ? {} : { id });
}

/** Reads a tool call, which is printed once, when it has ended; its start is derived from the same record. */
export function readTool(part: object, report: Report): void {
  const id = getName(part, 'callID');
  const name = getName(part, 'tool');
  const state = getObject(part, 'state');
  if (id === null || name === null || state === null)
    return report.unparsed('MALFORMED_RECORD', 'A tool part has no callID, tool or state.');
  report.checkFields(state, STATE_FIELDS, 'tool_use.part.state');
  report.keepUnusedFields(state, USED_STATE_FIELDS, 'part.state');
  const path = WRITING_TOOLS.has(name) ? getName(getObject(state, 'input') ?? {}, 'filePath') : null;
  const call: ToolEndReport = {
    id,
    name,
    input: getField(state, 'input'),
    output: getField(state, 'output'),
    exitCode: getInteger(getObject(state, 'metadata') ?? {}, 'exit'),
    paths: path === null ? [] : [path],
    diff: readDiff(getObject(state, 'metadata') ?? {}, path),
    startDerived: true,
  };
  if (name === 'todowrite') report.plan(readPlan(getArray(getObject(state, 'input') ?? {}, 'todos')), { call: id });
  switch (getString(state, 'status') ?? '') {
    case 'completed':
      return report.toolCompleted(call);
    case 'error':
      return report.toolFailed({ ...call, error: getString(state, 'error') ?? 'The tool failed without a reason.' });
    case 'pending':
    case 'running':
      return report.toolStarted(call);
    default:
      return report.unparsed('MALFORMED_RECORD', 'A tool part has an unknown status.');
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

function readTokens(part: object, report: Report): Usage | null {
  const tokens = getObject(part, 'tokens');
  if (tokens === null) return null;
  report.checkFields(tokens, TOKEN_FIELDS, 'step_finish.part.tokens');
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

/*
 * The records of `opencode run --format json` and their parts. Everything else is drift.
 */

/** Fields of each type of record. */
export const RECORD_FIELDS: FieldTable = createFieldTable(['type', 'timestamp', 'sessionID'], {
  step_start: ['part'],
  step_finish: ['part'],
  text: ['part'],
  reasoning: ['part'],
  tool_use: ['part'],
  error: ['error'],
});

/** Fields of each record type's `part`. */
export const PART_FIELDS: FieldTable = createFieldTable(['id', 'sessionID', 'messageID', 'type'], {
  step_start: ['snapshot'],
  step_finish: ['reason', 'snapshot', 'cost', 'tokens'],
  text: ['text', 'synthetic', 'ignored', 'time', 'metadata'],
  reasoning: ['text', 'time', 'metadata'],
  tool_use: ['callID', 'tool', 'state', 'metadata'],
});

/** Fields of a tool call's state. Its `metadata` depends on the tool. */
const STATE_FIELDS: ReadonlySet<string> = new Set([
  'status',
  'input',
  'output',
  'title',
  'metadata',
  'time',
  'attachments',
  'error',
  'raw',
]);

/** Fields of a step's tokens: `input` does not include cached tokens. */
const TOKEN_FIELDS: ReadonlySet<string> = new Set(['total', 'input', 'output', 'reasoning', 'cache']);

/** Fields of an error; its `data` depends on its name. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set(['name', 'data']);

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
