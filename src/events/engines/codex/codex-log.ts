import type { TextFrame } from '../../framing/frame.js';
import type { Report } from '../report.js';

const HEADER = /^OpenAI Codex v(\S{1,40})/u;
const SESSION = /^session id: ([0-9a-f-]{8,64})$/u;
/** A command that needed an approval that could not be given. */
const DENIED = /\bapproval policy is \w+; reject command\b/u;
const ERROR = /^ERROR: (.+)$/u;

/** Confidence in the meaning of a log line. */
const CONFIDENCE = 0.7;

/**
 * Reads the stderr of Codex: irrelevant messages with `--json`; without it the header with version and session, and
 * everything that happens, up to a copy of the answer.
 */
export class CodexLog {
  readonly #report: Report;
  #hasHeader = false;
  #hasSession = false;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Whether the header of the text mode was printed: then stdout is the answer, in plain text. */
  get hasHeader(): boolean {
    return this.#hasHeader;
  }

  read({ text }: TextFrame): void {
    const version = HEADER.exec(text)?.[1];
    if (version !== undefined) {
      this.#hasHeader = true;
      this.#report.parser('generic_text');
      this.#report.engineVersion(version);
      return this.#report.status({ status: 'header' });
    }
    // The log also contains the words of the agent and its tools: only the text mode's own lines count, and only once.
    const session = this.#hasHeader ? SESSION.exec(text)?.[1] : undefined;
    const error = this.#hasHeader ? ERROR.exec(text)?.[1] : undefined;
    if (session !== undefined && !this.#hasSession) return this.#readSession(session);
    if (DENIED.test(text)) {
      this.#report.confidence(CONFIDENCE);
      return this.#report.engineError({ message: text, severity: 'warning', code: 'TOOL_CALL_DENIED' });
    }
    if (error === undefined) return this.#report.noise();
    this.#report.confidence(CONFIDENCE);
    readErrorMessage(error, this.#report);
  }

  #readSession(session: string): void {
    this.#hasSession = true;
    this.#report.confidence(CONFIDENCE);
    this.#report.status({ status: 'session', session_id: session });
  }
}

/** `Reconnecting... 2/5 (…)`: the only mark of a retry that Codex prints. */
const RETRY = /^Reconnecting\.\.\.(?: (\d{1,6})\/(\d{1,6}))?/u;

/** Reports an error Codex prints. Not terminal by itself: either Codex recovers, or its turn fails. */
export function readErrorMessage(message: string, report: Report): void {
  const retry = RETRY.exec(message);
  if (retry === null) return report.engineError({ message });
  const [, attempt, maxAttempts] = retry;
  report.engineError({
    message,
    retrying: true,
    attempt: attempt === undefined ? null : Number(attempt),
    maxAttempts: maxAttempts === undefined ? null : Number(maxAttempts),
  });
}
