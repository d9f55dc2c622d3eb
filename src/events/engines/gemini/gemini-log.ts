import type { TextFrame } from '../../framing/frame.js';
import type { CapturedStream } from '../../protocol/event-parts.js';
import { ErrorDump } from '../../reading/error-dump.js';
import type { Report } from '../report.js';

const API_ERROR = /^(?:Error when talking to Gemini API|\[API Error: )/u;
/** A failed request, as Gemini's libraries report it on stdout or stderr. */
const REQUEST_ERROR =
  /^\W{0,8}(?:\w*Error: )?(?:Request failed\b|Attempt \d{1,6} failed\b.*\bMax attempts reached\b)/iu;
const TOOL_ERROR = /^Error executing tool /u;
/** The last line of a text-mode run that failed; what follows the colon is often just `[object Object]`. */
const FATAL_ERROR = /^An unexpected critical error occurred:/u;
const RATE_LIMIT = /\b(?:429|RESOURCE_EXHAUSTED|rateLimitExceeded)\b/u;

/** Messages of Gemini about itself, in every format. */
const CHATTER =
  /^(?:Warning: |YOLO mode is enabled|Ripgrep is not available|\[STARTUP\] |Loaded cached credentials|Data collection is |Approval mode |Skill |Hook registry |Loading extension|Using cached credentials|Keychain )/u;

/** Whether only Gemini writes this line. */
export function isGeminiLogLine(line: string): boolean {
  return /^(?:YOLO mode is enabled\. All tool calls|Ripgrep is not available\. Falling back|\[STARTUP\] )/u.test(line);
}

/** Reads what Gemini logs between its records: retries, errors, chatter. On stderr, or wherever the streams went. */
export class GeminiLog {
  readonly #report: Report;
  readonly #dump = new ErrorDump();
  #lastApiError: string | null = null;
  #isGemini = false;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Whether a line was met that shows who is speaking. */
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

  /** Reports what a line means; false if Gemini does not log such a line. */
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
    if (!CHATTER.test(text)) return false;
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
    this.#dump.begin(stream);
    return true;
  }
}

/** `Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {…}`, then a dump of many lines. */
const RETRY = /^Attempt (\d{1,6}) failed(?: with status (\d{3}))?[.:].*\bRetrying (?:with backoff|after)\b/u;

/** A retry as the log of the Gemini CLI reports it, and that of programs made from it. */
export interface Retry {
  readonly attempt: number;
  readonly httpStatus: number | null;
}

/**
 * Reads the first line of a retry; null if it is not one.
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
