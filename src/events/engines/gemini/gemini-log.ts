import type { TextFrame } from '../../framing/frame.js';
import type { CapturedStream } from '../../protocol/event-parts.js';
import { ErrorDump } from '../../reading/error-dump.js';
import type { Report } from '../report.js';

const API_ERROR = /^(?:Error when talking to Gemini API|\[API Error: )/u;
/** A failed request, as Gemini's libraries report it on stdout or stderr. */
const REQUEST_ERROR =
  /^\W{0,8}(?:\w*Error: )?(?:Request failed\b|Attempt \d{1,6} failed\b.*\bMax attempts reached\b)/iu;
const TOOL_ERROR = /^Error executing tool /u;
/** The last line of a failed run in text mode; the text after the colon is often just `[object Object]`. */
const FATAL_ERROR = /^An unexpected critical error occurred:/u;
const RATE_LIMIT = /\b(?:429|RESOURCE_EXHAUSTED|rateLimitExceeded)\b/u;

/** Irrelevant log messages of Gemini. */
const IRRELEVANT =
  /^(?:Warning: |YOLO mode is enabled|Ripgrep is not available|\[STARTUP\] |Loaded cached credentials|Data collection is |Approval mode |Skill |Hook registry |Loading extension|Using cached credentials|Keychain )/u;

/** Whether only Gemini prints this line. */
export function isGeminiLogLine(line: string): boolean {
  return /^(?:YOLO mode is enabled\. All tool calls|Ripgrep is not available\. Falling back|\[STARTUP\] )/u.test(line);
}

/** Reads the log lines among Gemini's records, on any stream: retries, errors, irrelevant messages. */
export class GeminiLog {
  readonly #report: Report;
  readonly #dump = new ErrorDump();
  #lastApiError: string | null = null;
  #isGemini = false;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Whether a line identified the agent as Gemini. */
  get isGemini(): boolean {
    return this.#isGemini;
  }

  /** Whether the lines of the stream are part of an error dump. */
  isDumping(stream: CapturedStream): boolean {
    return this.#dump.isOpen(stream);
  }

  endDump(stream: CapturedStream): void {
    this.#dump.end(stream);
  }

  /** Reads a line; returns false if it is not a log line of Gemini. */
  read({ stream, text, problem }: TextFrame): boolean {
    if (this.#dump.continues(stream, text)) {
      this.#report.noise();
      return true;
    }
    if (problem !== null) return false;
    if (this.#readError(stream, text)) {
      this.#isGemini = true;
      return true;
    }
    if (!IRRELEVANT.test(text)) return false;
    this.#isGemini ||= isGeminiLogLine(text);
    this.#report.noise();
    return true;
  }

  #readError(stream: CapturedStream, text: string): boolean {
    const retry = readRetryLine(text);
    if (retry !== null) {
      this.#report.engineError({ message: text, retrying: true, ...retry });
    } else if (API_ERROR.test(text) || REQUEST_ERROR.test(text)) {
      this.#lastApiError = text;
      this.#report.engineError({ message: text });
    } else if (FATAL_ERROR.test(text)) {
      this.#report.engineError({ message: text });
      this.#report.runtimeError(this.#lastApiError ?? text);
      return true;
    } else if (TOOL_ERROR.test(text) || (stream === 'stderr' && RATE_LIMIT.test(text))) {
      this.#report.engineError({ message: text, severity: 'warning' });
    } else return false;
    this.#dump.start(stream);
    return true;
  }
}

/** `Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {…}`, then a dump of many lines. */
const RETRY = /^Attempt (\d{1,6}) failed(?: with status (\d{3}))?[.:].*\bRetrying (?:with backoff|after)\b/u;

/** A retry in the log of the Gemini CLI or one of its forks. */
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
