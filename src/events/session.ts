import type { EventWriter } from './event-writer.js';
import { omitMissing } from './omit-missing.js';
import type { StatusReport } from './report.js';

/** A longer one is no session id; it would be repeated in every event. */
const MAX_ID = 512;

/** Knows the session of an attempt: starts the conversation once, and says so when the session changes. */
export class Session {
  readonly #writer: EventWriter;
  #isStarted = false;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  /** Whether the conversation has started: the engine has named its session, or the attempt has ended. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Tells a status; the session it names starts the conversation. */
  status(status: StatusReport, engineVersion: string | null): void {
    const id = usableId(status.session_id ?? null);
    const before = this.#writer.sessionId;
    if (id !== null && id !== before) this.#writer.sessionId = id;
    this.#writer.write('lifecycle.run.status', {
      status: status.status,
      ...omitMissing({
        session_id: id,
        model: status.model === '' ? null : status.model,
        engine_version: engineVersion,
        usage: status.usage,
        reason: status.reason,
        detail: status.detail,
      }),
    });
    if (id === null) return;
    this.start(id);
    if (before !== null && before !== id) this.#warnChanged(before, id);
  }

  /** The session stands in a record that is no status. */
  reveal(id: string): void {
    if (usableId(id) !== null) this.status({ status: 'session', session_id: id }, null);
  }

  /** Tells that the conversation has started, once an attempt. */
  start(id: string | null): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#writer.writeFcmp('conversation.started', { session_id: id });
  }

  #warnChanged(before: string, id: string): void {
    this.#writer.write('diagnostic.parser.warning', {
      code: 'SESSION_ID_CHANGED',
      message: `The session was ${before} and is ${id} now; the latest counts.`,
      subject: id,
    });
  }
}

function usableId(id: string | null): string | null {
  return id === null || id === '' || id.length > MAX_ID ? null : id;
}
