import { cutText } from '../../base/index.js';
import type { EngineError } from '../engines/fact.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { FailureCause } from '../protocol/event-parts.js';
import type { RaspData } from '../protocol/rasp-event.js';
import { boundDetail } from '../mapping/bound-detail.js';
import { omitMissing } from '../reading/record-fields.js';

/** The maximum length of a message in an event; some engines print whole HTTP responses as a message. */
const MAX_MESSAGE = 4096;

const HTTP_STATUS = /(?:\b(?:status(?:[ _]code)?["']?:?|HTTP(?:\/[\d.]+)?)|\\?"code\\?":)\s*([45]\d\d)\b/iu;
/** A status that nothing names: `503 UNAVAILABLE`, `[API Error: 429]`, `请求失败：429`, but not a number of things. */
const BARE_STATUS = /(?:^\W{0,8}|\b[Ee]rror:? |失败[:：] ?|\b(?:after|failed:) |\()([45]\d\d)(?=$|[\]):,]| [A-Z])/u;

/** Converts an engine's error to event data. Missing fields are guessed from the message. */
export function toEngineErrorData(error: EngineError): RaspData<'diagnostic.engine.error'> {
  const message = boundMessage(error.message);
  const status = error.httpStatus ?? findStatus(message);
  const retrying = error.retrying ?? false;
  const code = error.code ?? chooseCode(message, status, retrying, error.severity);
  return {
    code,
    message,
    severity: error.severity ?? (retrying ? 'warning' : 'error'),
    retrying,
    ...omitMissing({
      cause: findKnownCause(message, code, status),
      http_status: status,
      attempt: error.attempt,
      max_attempts: error.maxAttempts,
      detail: error.detail === undefined ? null : boundDetail(error.detail),
    }),
  };
}

export function findKnownCause(
  message: string,
  code: DiagnosticCode = 'ENGINE_ERROR',
  status = findStatus(message),
): FailureCause | null {
  const cause = findCause({ code, message, ...(status === null ? {} : { http_status: status }) });
  return cause === 'unknown' ? null : cause;
}

export function boundMessage(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${copyStart(message, MAX_MESSAGE)}…`;
}

function findStatus(message: string): number | null {
  const match = (HTTP_STATUS.exec(message) ?? BARE_STATUS.exec(message))?.[1];
  return match === undefined ? null : Number(match);
}

function chooseCode(
  message: string,
  status: number | null,
  retrying: boolean,
  severity: 'warning' | 'error' | undefined,
): DiagnosticCode {
  if (status === 429 || /rate.?limit|too many requests|RESOURCE_EXHAUSTED|exhausted your capacity|限流/iu.test(message))
    return 'ENGINE_RATE_LIMIT_HINT';
  if (
    status === 401 ||
    status === 403 ||
    /unauthori[sz]ed|authenticat(?:ion|ing|ed)|auth method|api key/iu.test(message)
  )
    return 'ENGINE_AUTH_HINT';
  if (retrying) return 'ENGINE_RETRYING';
  if (/\bdeprecat/iu.test(message)) return 'ENGINE_DEPRECATION_WARNING';
  return severity === 'warning' ? 'ENGINE_WARNING' : 'ENGINE_ERROR';
}

/** Determines the cause of an engine error from the HTTP status or, without a status, from the message. */
export function findCause({
  code,
  message,
  http_status: status,
}: Pick<RaspData<'diagnostic.engine.error'>, 'code' | 'message' | 'http_status'>): FailureCause {
  if (CONTEXT_PATTERN.test(message)) return 'context';
  if (status === 402 || QUOTA_PATTERN.test(message)) return 'quota';
  if (status === 429 || code === 'ENGINE_RATE_LIMIT_HINT') return 'rate_limit';
  if (status === 403 || message.includes('PERMISSION_DENIED')) return 'permission';
  if (status === 401 || code === 'ENGINE_AUTH_HINT') return 'auth';
  if (status === 407 || status === 408) return 'network';
  if (status !== undefined && status >= 500) return 'server';
  if (status !== undefined && status >= 400) return 'model';
  if (NETWORK_PATTERN.test(message)) return 'network';
  if (SERVER_PATTERN.test(message)) return 'server';
  return MODEL_PATTERN.test(message) ? 'model' : 'unknown';
}

const QUOTA_PATTERN =
  /quota\b(?! increase| limitations)|insufficient (?:funds|credit|balance)|credit balance|billing|usage limit|配额/i;
const NETWORK_PATTERN =
  /ECONN\w+|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|fetch failed|connection (?:was )?(?:failed|refused|error|reset|closed)|cannot connect|network|could not be reached|getaddrinfo|\bTLS\b|certificate|UND_ERR_\w+|socket hang up|other side closed|\bterminated\b|from connection|unexpected EOF|(?:request|API|gateway|deadline)[^.]{0,40}tim(?:ed ?out|eout)|timeout of \d|超时|网络/i;
const CONTEXT_PATTERN =
  /context[ _-]?(?:length|window|overflow)|maximum context|(?:prompt|input|request|conversation) is too long|too many (?:input )?tokens|token count[^.]{0,40} exceeds/i;
const SERVER_PATTERN = /high demand|overloaded|no capacity|server.?error|bad gateway|service unavailable/i;
const MODEL_PATTERN = /invalid_request|model/i;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the first characters of a string as a copy: a slice would keep the whole string in memory. */
export function copyStart(text: string, length: number): string {
  return text.length <= length ? text : copyText(cutText(text, length));
}

/** Returns a string that shares no memory with another one. */
export function copyText(text: string): string {
  return decoder.decode(encoder.encode(text));
}
