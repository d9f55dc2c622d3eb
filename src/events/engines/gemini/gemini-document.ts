import type { Usage } from '../../protocol/event-parts.js';
import {
  arrayField,
  countField,
  field,
  isRecord,
  nameField,
  objectField,
  stringField,
} from '../../reading/record-fields.js';
import type { Report } from '../report.js';
import { DOCUMENT_FIELDS, DOCUMENT_STATS_FIELDS, ERROR_FIELDS, MODEL_FIELDS, TOKEN_FIELDS } from './records.js';

/** Whether a value is the one document that `--output-format json` prints: an answer, or an error. */
export function isDocument(value: object): boolean {
  if (field(value, 'type') !== undefined) return false;
  if (nameField(value, 'session_id') !== null) {
    return DOCUMENT_KEYS.some((key) => field(value, key) !== undefined);
  }
  if (stringField(value, 'response') !== null) return objectField(value, 'stats') !== null;
  const error = objectField(value, 'error');
  return error !== null && nameField(error, 'type') !== null && stringField(error, 'message') !== null;
}

const DOCUMENT_KEYS = ['response', 'error', 'stats'];

/** Reads the document; what it says last decides: an error in it ended the work, whatever was answered before. */
export function readDocument(document: object, report: Report): void {
  const response = stringField(document, 'response');
  const error = objectField(document, 'error');
  report.checkFields(document, DOCUMENT_FIELDS, '');
  report.keepRest(document, DOCUMENT_FIELDS);
  const stats = objectField(document, 'stats');
  const usage = stats === null ? null : readStats(stats, report);
  report.status({
    status: error === null ? 'response' : 'error',
    session_id: nameField(document, 'session_id'),
    model: usage?.model ?? null,
    usage,
    ...(stats === null ? undefined : { detail: { stats } }),
  });
  for (const warning of arrayField(document, 'warnings')) {
    report.engineError({ message: joinText(warning), severity: 'warning' });
  }
  if (response !== null && response !== '') report.message(response);
  else if (response === null && error === null) {
    report.warning('MALFORMED_RECORD', 'The document has neither a response nor an error.');
  }
  if (error === null) report.endSignal('GEMINI_RESPONSE_OBJECT_FINISHED');
  else readFatalError(error, report);
}

/** An error that ended the work. Its code is an HTTP status or, for Gemini's own errors, an exit code. */
export function readFatalError(error: object, report: Report): void {
  report.checkFields(error, ERROR_FIELDS, 'error');
  report.keepRest(error, ERROR_FIELDS, 'error');
  const message = stringField(error, 'message') ?? 'Gemini reported an error without a message.';
  const code = countField(error, 'code');
  const httpStatus = code !== null && code >= 400 && code <= 599 ? code : null;
  report.engineError({ message, httpStatus, detail: { type: field(error, 'type'), code: field(error, 'code') } });
  report.runtimeError(message);
}

/** The tokens of all models of this invocation. */
function readStats(stats: object, report: Report): Usage | null {
  report.checkFields(stats, DOCUMENT_STATS_FIELDS, 'stats');
  const models = Object.entries(objectField(stats, 'models') ?? {});
  const sum = { input: 0, output: 0, cached: 0, thoughts: 0, total: 0 };
  for (const [, model] of models) {
    if (!isRecord(model)) continue;
    report.checkFields(model, MODEL_FIELDS, 'stats.models.*');
    const tokens = objectField(model, 'tokens') ?? {};
    report.checkFields(tokens, TOKEN_FIELDS, 'stats.models.*.tokens');
    sum.input += countField(tokens, 'prompt') ?? countField(tokens, 'input') ?? 0;
    sum.output += countField(tokens, 'candidates') ?? 0;
    sum.cached += countField(tokens, 'cached') ?? 0;
    sum.thoughts += countField(tokens, 'thoughts') ?? 0;
    sum.total += countField(tokens, 'total') ?? 0;
  }
  const [only] = models;
  if (only === undefined) return null;
  return {
    scope: 'turn',
    input_tokens: sum.input,
    output_tokens: sum.output,
    cached_input_tokens: sum.cached,
    reasoning_tokens: sum.thoughts,
    total_tokens: sum.total,
    ...(models.length === 1 && only[0] !== '' ? { model: only[0] } : undefined),
  };
}

function joinText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
