import {
  omitMissing,
  arrayField,
  booleanField,
  countField,
  field,
  isRecord,
  nameField,
  objectField,
  stringField,
} from '../../reading/record-fields.js';
import type { Usage } from '../../protocol/event-parts.js';
import type { Conversation } from './conversation.js';

/** Endings that are no success, even where the program calls them one. */
const FAILED_REASONS: ReadonlySet<string> = new Set([
  'aborted_streaming',
  'aborted_tools',
  'api_error',
  'blocking_limit',
  'budget_exhausted',
  'image_error',
  'malformed_tool_use_exhausted',
  'max_turns',
  'model_error',
  'prompt_too_long',
  'rapid_refill_breaker',
  'structured_output_retry_exhausted',
  'tool_deferred_unavailable',
  'turn_setup_failed',
]);

/** Reads a `result`: the end of a turn, and the one record whose session id can be resumed. */
export function readResult(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  report.session(nameField(record, 'session_id'));
  const failure = findFailure(record, conversation);
  const text = stringField(record, 'result');
  // The rest of what was being said stands here.
  if (failure === null && text !== null && conversation.agent.isSaying(text))
    conversation.agent.whole('text', text, null);
  conversation.ends();
  for (const denial of arrayField(record, 'permission_denials').filter(isRecord)) readDenial(denial, conversation);
  if (failure === null) reportAnswer(record, conversation);
  else conversation.fails({ message: failure, httpStatus: countField(record, 'api_error_status') });
  report.status({
    status: 'result',
    reason: stringField(record, 'terminal_reason') ?? stringField(record, 'subtype'),
    usage: dialect.totalUsage(record, report),
    detail: readDetail(record),
  });
  if (failure === null) report.endSignal(dialect.endSignal);
  else report.runtimeError(failure);
}

/** Why the turn failed; null if it did not. */
function findFailure(record: object, conversation: Conversation): string | null {
  const subtype = stringField(record, 'subtype') ?? 'success';
  const reason = stringField(record, 'terminal_reason') ?? '';
  const text = stringField(record, 'result');
  const isFailure = subtype !== 'success' || booleanField(record, 'is_error') === true || FAILED_REASONS.has(reason);
  if (isFailure) return readErrorMessage(record) ?? (reason === '' || reason === 'completed' ? subtype : reason);
  if (text === null) return null;
  // Called a success, with the text of an error as its answer.
  const error = conversation.dialect.spokenError(text, record, objectField(record, 'usage'));
  return error !== null || conversation.isLastError(text) ? text : null;
}

/** What the program says about its failure. */
function readErrorMessage(record: object): string | null {
  const message = nameField(record, 'result') ?? nameField(objectField(record, 'error') ?? {}, 'message');
  if (message !== null) return message;
  const errors = arrayField(record, 'errors').filter((error) => typeof error === 'string');
  return errors.length === 0 ? null : errors.join('; ');
}

/** The answer, if it was not said before: with one document at the end it stands here alone. */
function reportAnswer(record: object, conversation: Conversation): void {
  const text = stringField(record, 'result') ?? '';
  const payload = readStructured(record);
  // The program has checked it against a schema: this is the answer, whatever else was said.
  const structured = payload === undefined ? text : JSON.stringify(payload);
  if (text !== structured) reportUnlessSaid(text, undefined, conversation);
  reportUnlessSaid(structured, payload, conversation);
}

function reportUnlessSaid(text: string, payload: unknown, { agent, report }: Conversation): void {
  if (text.trim() === '' || agent.hasSaid(text)) return;
  report.message(text, payload === undefined ? {} : { payload });
  agent.confirmLater(text);
}

/** A tool call that was refused: the agent may continue without it, so it is not a failure of the run. */
function readDenial(denial: object, { report }: Conversation): void {
  const tool = nameField(denial, 'tool_name') ?? 'unknown';
  const message = `The tool ${tool} was denied.`;
  report.engineError({ message, severity: 'warning', code: 'TOOL_CALL_DENIED', detail: denial });
}

function readStructured(record: object): unknown {
  return field(record, 'structured_output') ?? field(record, 'structured_result') ?? undefined;
}

function readDetail(record: object): object {
  return omitMissing({
    subtype: stringField(record, 'subtype'),
    stop_reason: stringField(record, 'stop_reason'),
    num_turns: countField(record, 'num_turns'),
    duration_ms: countField(record, 'duration_ms'),
    duration_api_ms: countField(record, 'duration_api_ms'),
    usage: objectField(record, 'usage'),
    model_usage: objectField(record, 'modelUsage'),
    stats: objectField(record, 'stats'),
    permission_denials: arrayField(record, 'permission_denials'),
    structured_output: readStructured(record),
  });
}

interface UsageReading {
  readonly scope: Usage['scope'];
  readonly inputIncludesCache: boolean;
  readonly cost?: number | null;
  readonly model?: string | null;
}

/** Reads a `usage` object; null if it counts nothing. */
export function readUsage(
  usage: object | null,
  { scope, inputIncludesCache, cost, model }: UsageReading,
): Usage | null {
  if (usage === null) return null;
  const input = countField(usage, 'input_tokens');
  const output = countField(usage, 'output_tokens');
  if (input === null && output === null) return null;
  const cached = countField(usage, 'cache_read_input_tokens');
  const written = countField(usage, 'cache_creation_input_tokens');
  return {
    scope,
    input_tokens: (input ?? 0) + (inputIncludesCache ? 0 : (cached ?? 0) + (written ?? 0)),
    output_tokens: output ?? 0,
    ...omitMissing({
      cached_input_tokens: cached,
      cache_write_tokens: written,
      reasoning_tokens: countField(objectField(usage, 'output_tokens_details') ?? {}, 'thinking_tokens'),
      total_tokens: countField(usage, 'total_tokens'),
      cost: cost === undefined || cost === null || cost < 0 ? null : cost,
      model: model === '' ? null : model,
    }),
  };
}
