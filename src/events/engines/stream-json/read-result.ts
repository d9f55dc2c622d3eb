import { get, omitMissing, toNames, toUsage } from '../../reading/record-fields.js';
import type { Usage } from '../../protocol/event-parts.js';
import type { Conversation } from './conversation.js';

/** Reasons that mean failure, even if the CLI reports success. */
const FAILED_REASONS = toNames(
  'aborted_streaming aborted_tools api_error blocking_limit budget_exhausted image_error ' +
    'malformed_tool_use_exhausted max_turns model_error prompt_too_long rapid_refill_breaker ' +
    'structured_output_retry_exhausted tool_deferred_unavailable turn_setup_failed',
);

/** Reads a `result`: the end of a turn, and the only record whose session id can be resumed. */
export function readResult(record: object, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  emit({ fact: 'session', id: get.name(record, 'session_id') });
  const failure = findFailure(record, conversation);
  const text = get.string(record, 'result');
  // The result contains the rest of the open message.
  if (failure === null && text !== null && conversation.agent.isContinuedBy(text))
    conversation.agent.addBlock('text', text, null);
  conversation.endTurn();
  for (const denial of get.records(record, 'permission_denials')) readDenial(denial, conversation);
  if (failure === null) reportAnswer(record, conversation);
  else conversation.reportFailure({ message: failure, httpStatus: get.count(record, 'api_error_status') });
  emit({ fact: 'record', record, isWhole: true });
  const usage = get.object(record, 'usage');
  if (usage !== null) emit({ fact: 'record', record: usage, shape: 'message.usage' });
  emit({
    fact: 'status',
    status: 'result',
    isLast: true,
    reason: get.string(record, 'terminal_reason') ?? get.string(record, 'subtype'),
    usage: dialect.readTotalUsage(record),
    detail: readDetail(record),
  });
  if (failure === null) emit({ fact: 'end_signal', signal: dialect.endSignal });
  else emit({ fact: 'failure', message: failure });
}

/** Returns why the turn failed, or null if it did not. */
function findFailure(record: object, conversation: Conversation): string | null {
  const subtype = get.string(record, 'subtype') ?? 'success';
  const reason = get.string(record, 'terminal_reason') ?? '';
  const text = get.string(record, 'result');
  const isFailure = subtype !== 'success' || get.boolean(record, 'is_error') === true || FAILED_REASONS.has(reason);
  if (isFailure) return readErrorMessage(record) ?? (reason === '' || reason === 'completed' ? subtype : reason);
  if (text === null) return null;
  // Some failures are reported as a success with the error message as the answer.
  const error = conversation.dialect.readErrorText(text, record, get.object(record, 'usage'));
  return error !== null || conversation.isLastError(text) ? text : null;
}

function readErrorMessage(record: object): string | null {
  const message = get.name(record, 'result') ?? get.name(get.object(record, 'error'), 'message');
  if (message !== null) return message;
  const errors = get.array(record, 'errors').filter((error) => typeof error === 'string');
  return errors.length === 0 ? null : errors.join('; ');
}

/** Reports the answer if it was not printed before: if the output is one document, only the result contains it. */
function reportAnswer(record: object, conversation: Conversation): void {
  const text = get.string(record, 'result') ?? '';
  const payload = readStructured(record);
  // The CLI has validated it against a schema, so it is the answer even if other text was printed.
  const structured = payload === undefined ? text : JSON.stringify(payload);
  if (text !== structured) reportUnlessPrinted(text, undefined, conversation);
  reportUnlessPrinted(structured, payload, conversation);
}

function reportUnlessPrinted(text: string, payload: unknown, { agent, emit }: Conversation): void {
  if (text.trim() === '' || agent.hasReported(text)) return;
  emit({ fact: 'message', text, ...(payload === undefined ? {} : { payload }) });
  agent.expectRepeat(text);
}

/** Reports a denied tool call as a warning: the agent can continue without it, so the run has not failed. */
function readDenial(denial: object, { emit }: Conversation): void {
  const tool = get.name(denial, 'tool_name') ?? 'unknown';
  const message = `The tool ${JSON.stringify(tool)} was denied.`;
  emit({ fact: 'error', message, severity: 'warning', code: 'TOOL_CALL_DENIED', detail: denial });
}

function readStructured(record: object): unknown {
  return get.field(record, 'structured_output') ?? get.field(record, 'structured_result') ?? undefined;
}

function readDetail(record: object): object {
  return omitMissing({
    subtype: get.string(record, 'subtype'),
    stop_reason: get.string(record, 'stop_reason'),
    num_turns: get.count(record, 'num_turns'),
    duration_ms: get.count(record, 'duration_ms'),
    duration_api_ms: get.count(record, 'duration_api_ms'),
    usage: get.object(record, 'usage'),
    model_usage: get.object(record, 'modelUsage'),
    stats: get.object(record, 'stats'),
    permission_denials: get.array(record, 'permission_denials'),
    structured_output: readStructured(record),
  });
}

interface UsageOptions {
  readonly scope: Usage['scope'];
  readonly inputIncludesCache: boolean;
  readonly cost?: number | null;
}

/** Reads a `usage` object; null if it has no token counts. */
export function readUsage(usage: object | null, { scope, inputIncludesCache, cost }: UsageOptions): Usage | null {
  const input = get.count(usage, 'input_tokens');
  const output = get.count(usage, 'output_tokens');
  if (input === null && output === null) return null;
  const cacheRead = get.count(usage, 'cache_read_input_tokens');
  const cacheWrite = get.count(usage, 'cache_creation_input_tokens');
  return toUsage(scope, {
    input_tokens: (input ?? 0) + (inputIncludesCache ? 0 : (cacheRead ?? 0) + (cacheWrite ?? 0)),
    output_tokens: output,
    cached_input_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    reasoning_tokens: get.count(get.object(usage, 'output_tokens_details'), 'thinking_tokens'),
    total_tokens: get.count(usage, 'total_tokens'),
    cost,
  });
}
