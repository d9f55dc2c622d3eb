import type { Usage } from '../../protocol/event-parts.js';
import {
  getArray,
  getCount,
  getField,
  isRecord,
  getName,
  getObject,
  getString,
  toUsage,
} from '../../reading/record-fields.js';
import type { Emit } from '../fact.js';

/** Whether a value is the single document that `--output-format json` prints: an answer, or an error. */
export function isDocument(value: object): boolean {
  if (getField(value, 'type') !== undefined) return false;
  if (getName(value, 'session_id') !== null) {
    return DOCUMENT_KEYS.some((key) => getField(value, key) !== undefined);
  }
  if (getString(value, 'response') !== null) return getObject(value, 'stats') !== null;
  const error = getObject(value, 'error');
  return error !== null && getName(error, 'type') !== null && getString(error, 'message') !== null;
}

const DOCUMENT_KEYS = ['response', 'error', 'stats'];

/** Reads the document. An error in it means that the run failed, even if it contains a response. */
export function readDocument(document: object, emit: Emit): void {
  const response = getString(document, 'response');
  const error = getObject(document, 'error');
  emit({ fact: 'record', record: document, shape: '(document)', isWhole: true });
  const stats = getObject(document, 'stats');
  const usage = stats === null ? null : readStats(stats, emit);
  emit({
    fact: 'status',
    status: error === null ? 'response' : 'error',
    session_id: getName(document, 'session_id'),
    model: usage?.model ?? null,
    usage,
    ...(stats === null ? undefined : { detail: { stats } }),
    isLast: true,
  });
  for (const warning of getArray(document, 'warnings')) {
    emit({ fact: 'error', message: toText(warning), severity: 'warning' });
  }
  if (response !== null && response !== '') emit({ fact: 'message', text: response });
  else if (response === null && error === null) {
    emit({ fact: 'warning', code: 'MALFORMED_RECORD', message: 'The document has neither a response nor an error.' });
  }
  if (error === null) emit({ fact: 'end_signal', signal: 'GEMINI_RESPONSE_OBJECT_FINISHED' });
  else readFatalError(error, emit);
}

/** Reads an error that ended the run. Its code is an HTTP status or, for Gemini's own errors, an exit code. */
export function readFatalError(error: object, emit: Emit): void {
  emit({ fact: 'record', record: error, shape: 'result.error' });
  const message = getString(error, 'message') ?? 'Gemini reported an error without a message.';
  const code = getCount(error, 'code');
  const httpStatus = code !== null && code >= 400 && code <= 599 ? code : null;
  emit({
    fact: 'error',
    isFatal: true,
    message,
    httpStatus,
    detail: { type: getField(error, 'type'), code: getField(error, 'code') },
  });
}

/** Adds up the tokens of all models of this invocation. */
function readStats(stats: object, emit: Emit): Usage | null {
  emit({ fact: 'record', record: stats, shape: '(document).stats' });
  const models = Object.entries(getObject(stats, 'models') ?? {});
  const sum = { input: 0, output: 0, cached: 0, thoughts: 0, total: 0 };
  for (const [, model] of models) {
    if (!isRecord(model)) continue;
    emit({ fact: 'record', record: model, shape: '(document).stats.models.*' });
    const tokens = getObject(model, 'tokens') ?? {};
    emit({ fact: 'record', record: tokens, shape: '(document).stats.models.*.tokens' });
    sum.input += getCount(tokens, 'prompt') ?? getCount(tokens, 'input') ?? 0;
    sum.output += getCount(tokens, 'candidates') ?? 0;
    sum.cached += getCount(tokens, 'cached') ?? 0;
    sum.thoughts += getCount(tokens, 'thoughts') ?? 0;
    sum.total += getCount(tokens, 'total') ?? 0;
  }
  const [only] = models;
  if (only === undefined) return null;
  return toUsage('turn', {
    input_tokens: sum.input,
    output_tokens: sum.output,
    cached_input_tokens: sum.cached,
    reasoning_tokens: sum.thoughts,
    total_tokens: sum.total,
    model: models.length === 1 ? only[0] : null,
  });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
