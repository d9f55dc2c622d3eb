import type { TextFrame } from '../../framing/frame.js';
import type { Emit } from '../fact.js';

const HEADER = /^OpenAI Codex v(\S{1,40})/u;
const SESSION = /^session id: ([0-9a-f-]{8,64})$/u;
/** A command that was rejected because no one was there to approve it. */
const DENIED = /\bapproval policy is \w+; reject command\b/u;
const ERROR = /^ERROR: (.+)$/u;

/** Confidence that a log line was interpreted correctly. */
const CONFIDENCE = 0.7;

/**
 * Reads the stderr of Codex: with `--json`, irrelevant messages; without it, the header with version and session, then
 * a log of the whole run, including a copy of the answer.
 */
export class CodexLog {
  readonly #emit: Emit;
  #hasHeader = false;
  #hasSession = false;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Whether the text mode header was printed; stdout is then the plain text answer. */
  get hasHeader(): boolean {
    return this.#hasHeader;
  }

  read({ text }: TextFrame): void {
    const version = HEADER.exec(text)?.[1];
    if (version !== undefined) {
      this.#hasHeader = true;
      this.#emit({ fact: 'parser', name: 'generic_text' });
      this.#emit({ fact: 'version', version });
      return this.#emit({ fact: 'status', status: 'header' });
    }
    // The log also contains output of the agent and its tools, so these lines count only after the header, and the
    // session only once.
    const session = this.#hasHeader ? SESSION.exec(text)?.[1] : undefined;
    const error = this.#hasHeader ? ERROR.exec(text)?.[1] : undefined;
    if (session !== undefined && !this.#hasSession) return this.#readSession(session);
    if (DENIED.test(text)) {
      this.#emit({ fact: 'confidence', value: CONFIDENCE });
      return this.#emit({ fact: 'error', message: text, severity: 'warning', code: 'TOOL_CALL_DENIED' });
    }
    if (error === undefined) return this.#emit({ fact: 'noise' });
    this.#emit({ fact: 'confidence', value: CONFIDENCE });
    readErrorMessage(error, this.#emit);
  }

  #readSession(session: string): void {
    this.#hasSession = true;
    this.#emit({ fact: 'confidence', value: CONFIDENCE });
    this.#emit({ fact: 'status', status: 'session', session_id: session });
  }
}

/** `Reconnecting... 2/5 (…)`: the only sign of a retry in Codex's output. */
const RETRY = /^Reconnecting\.\.\.(?: (\d{1,6})\/(\d{1,6}))?/u;

/** Reports an error that Codex printed. The error alone does not end the run: either Codex recovers, or its turn fails. */
export function readErrorMessage(message: string, emit: Emit): void {
  const retry = RETRY.exec(message);
  if (retry === null) return emit({ fact: 'error', message });
  const [, attempt, maxAttempts] = retry;
  emit({
    fact: 'error',
    message,
    retrying: true,
    attempt: attempt === undefined ? null : Number(attempt),
    maxAttempts: maxAttempts === undefined ? null : Number(maxAttempts),
  });
}
