import { cutText } from '../../base/index.js';
import type { EngineError } from '../engines/fact.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { RaspData } from '../protocol/rasp-event.js';
import { boundDetail } from '../mapping/bound-detail.js';
import { omitMissing } from '../reading/record-fields.js';

/** The maximum length of a message in an event; some engines print whole HTTP responses as a message. */
const MAX_MESSAGE = 4096;

const HTTP_STATUS = /(?:\b(?:status(?:[ _]code)?["']?:?|HTTP(?:\/[\d.]+)?)|"code":)\s*([45]\d\d)\b/iu;

/** Converts an engine's error to event data. Missing fields are guessed from the message. */
export function toEngineErrorData(error: EngineError): RaspData<'diagnostic.engine.error'> {
  const message = boundMessage(error.message);
  const status = error.httpStatus ?? findStatus(message);
  const retrying = error.retrying ?? false;
  return {
    code: error.code ?? chooseCode(message, status, retrying, error.severity),
    message,
    severity: error.severity ?? (retrying ? 'warning' : 'error'),
    retrying,
    ...omitMissing({
      http_status: status,
      attempt: error.attempt,
      max_attempts: error.maxAttempts,
      detail: error.detail === undefined ? null : boundDetail(error.detail),
    }),
  };
}

/** Truncates a message to a length that can be displayed. */
export function boundMessage(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${copyStart(message, MAX_MESSAGE)}…`;
}

function findStatus(message: string): number | null {
  const match = HTTP_STATUS.exec(message)?.[1];
  return match === undefined ? null : Number(match);
}

function chooseCode(
  message: string,
  status: number | null,
  retrying: boolean,
  severity: 'warning' | 'error' | undefined,
): DiagnosticCode {
  if (status === 429 || /rate.?limit|too many requests|RESOURCE_EXHAUSTED/iu.test(message))
    return 'ENGINE_RATE_LIMIT_HINT';
  if (status === 401 || status === 403 || /unauthori[sz]ed|authentication|api key/iu.test(message))
    return 'ENGINE_AUTH_HINT';
  if (retrying) return 'ENGINE_RETRYING';
  if (/\bdeprecat/iu.test(message)) return 'ENGINE_DEPRECATION_WARNING';
  return severity === 'warning' ? 'ENGINE_WARNING' : 'ENGINE_ERROR';
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Returns the first characters of a string as a copy: a slice would keep the whole string in memory.
 *
 * @example
 * copyStart('abc', 2) // 'ab'
 */
export function copyStart(text: string, length: number): string {
  return text.length <= length ? text : decoder.decode(encoder.encode(cutText(text, length)));
}
