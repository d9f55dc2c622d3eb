import type { TextFrame } from '../../framing/frame.js';
import type { CapturedStream } from '../../protocol/event-parts.js';
import { ErrorDump } from '../../reading/error-dump.js';
import type { Emit } from '../fact.js';

const API_ERROR = /^(?:Error when talking to Gemini API|\W{0,8}\[API Error: )/u;
/** A failed request, as Gemini's libraries report it on stdout or stderr. */
const REQUEST_ERROR =
  /^\W{0,8}(?:\w*Error: )?(?:Request failed\b|Attempt \d{1,6} failed\b.*\bMax attempts reached\b)/iu;
/** The words that a logger prints before a failure: its time, the process, an icon or its level. */
const LOG_PREFIX = String.raw`^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,15}(?:Z|[+-]\d\d:?\d\d)?\]?\s)?(?:\(node:\d{1,9}\)\s)?\W{0,8}(?:(?:error|warn(?:ing)?|fatal)\W{1,3})?`;
/**
 * A failure as libraries, proxies and servers print it: how the line starts, and the cause it names. Only both together
 * count, because an answer can start with "Error" or mention a quota.
 */
const FAILURE_START = new RegExp(
  `${LOG_PREFIX}(?:${String.raw`\w*(?:Error|Exception)\s?[:({[]|(?:API )?Error:? \d{3}\b|Error authenticating|Please set an Auth method|API key (?:is )?(?:not valid|invalid|expired)|(?:PERMISSION_DENIED|UNAUTHENTICATED|UNAVAILABLE|DEADLINE_EXCEEDED)\b|(?:The )?Model (?:is )?overloaded|Internal server error|Network error|错误|请求失败|请求超时|配额|限流|HTTP(?:\/[\d.]+)?[ :]|(?:Got |Received )?(?:failure|status)(?: code)?[:=]|(?:Failed|Unable) to\b|Request\b|Response\b|Stream\b|Connection\b|Socket\b|fetch failed\b|(?:read|write|connect|getaddrinfo) E[A-Z]|timeout of \d|[45]\d\d[ :]|Quota\b|Rate.?limit|Too many requests|RESOURCE_EXHAUSTED|Retry|Max(?:imum)? (?:retries|attempts)|terminated\b|You (?:have )?exceeded`})`,
  'iu',
);
const FAILURE_CAUSE =
  /\b(?:[45]\d\d|quota|rate.?limit\w*|too many requests|no capacity|RESOURCE_EXHAUSTED|UNAVAILABLE|overloaded|unauthori[sz]ed|forbidden|PERMISSION_DENIED|UNAUTHENTICATED|api.?key|credentials?|timed out|timeout|aborted|(?:retries|attempts) (?:reached|exceeded)|deadline\w*|E(?:CONN|HOST|TIME|NOT|PIPE|AI_)\w*|UND_ERR_\w+|socket hang up|fetch failed|network|terminated|server error|bad gateway|service unavailable|certificate|auth\w*)\b|配额|限流|超时|网络|[45]\d\d$/iu;
const TOOL_ERROR = /^Error executing tool /u;
/** The last line of a failed run in text mode; the text after the colon is often just `[object Object]`. */
const FATAL_ERROR = /^An unexpected critical error occurred:/u;
const RATE_LIMIT = /\b(?:429|RESOURCE_EXHAUSTED|rateLimitExceeded)\b/u;

const IRRELEVANT =
  /^(?:Warning: |YOLO mode is enabled|Ripgrep is not available|\[STARTUP\] |Loaded cached credentials|Data collection is |Approval mode |Skill |Hook registry |Loading extension|Using cached credentials|Keychain )/u;

/** Whether only Gemini prints this line. */
export function isGeminiLogLine(line: string): boolean {
  return /^(?:YOLO mode is enabled\. All tool calls|Ripgrep is not available\. Falling back|\[STARTUP\] )/u.test(line);
}

/** Reads the log lines among Gemini's records, on any stream: retries, errors, irrelevant messages. */
export class GeminiLog {
  readonly #emit: Emit;
  readonly #dump = new ErrorDump();
  #lastApiError: string | null = null;
  isGemini = false;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  isDumping(stream: CapturedStream): boolean {
    return this.#dump.isOpen(stream);
  }

  endDump(stream: CapturedStream): void {
    this.#dump.end(stream);
  }

  /** Reads a line; returns false if it is not a log line of Gemini. `isInAnswer`: the line might continue the answer. */
  read({ stream, text, problem }: TextFrame, isInAnswer: boolean): boolean {
    if (this.#dump.continues(stream, text)) {
      this.#emit({ fact: 'noise' });
      return true;
    }
    if (problem !== null) return false;
    if (this.#readError(stream, text, isInAnswer)) {
      this.isGemini = true;
      return true;
    }
    if (!IRRELEVANT.test(text)) return false;
    this.isGemini ||= isGeminiLogLine(text);
    this.#emit({ fact: 'noise' });
    return true;
  }

  #readError(stream: CapturedStream, text: string, isInAnswer: boolean): boolean {
    const retry = readRetryLine(text);
    if (retry !== null) {
      this.#emit({ fact: 'error', message: text, retrying: true, ...retry });
    } else if (API_ERROR.test(text) || REQUEST_ERROR.test(text)) {
      this.#lastApiError = text;
      this.#emit({ fact: 'error', message: text });
    } else if (FATAL_ERROR.test(text)) {
      this.#emit({ fact: 'error', message: text });
      this.#emit({ fact: 'failure', message: this.#lastApiError ?? text });
      return true;
    } else if (!isInAnswer && FAILURE_START.test(text) && FAILURE_CAUSE.test(text)) {
      this.#lastApiError = text;
      this.#emit({ fact: 'error', message: text });
    } else if (TOOL_ERROR.test(text) || (stream === 'stderr' && RATE_LIMIT.test(text))) {
      this.#emit({ fact: 'error', message: text, severity: 'warning' });
    } else return false;
    this.#dump.start(stream);
    return true;
  }
}

/** `Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {…}`, then a dump of many lines. */
const RETRY = /^Attempt (\d{1,6}) failed(?: with status (\d{3}))?[.:].*\bRetrying (?:with backoff|after)\b/u;

export interface Retry {
  readonly attempt: number;
  readonly httpStatus: number | null;
}

/**
 * Reads the first line of a retry; null for any other line.
 *
 * @example
 * readRetryLine('Attempt 2 failed with status 429. Retrying with backoff...') // { attempt: 2, httpStatus: 429 }
 */
export function readRetryLine(line: string): Retry | null {
  const retry = RETRY.exec(line);
  if (retry === null) return null;
  const [, attempt, status] = retry;
  return { attempt: Number(attempt), httpStatus: status === undefined ? null : Number(status) };
}
