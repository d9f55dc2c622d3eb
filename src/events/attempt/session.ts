import type { Status } from '../engines/fact.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { boundDetail } from '../mapping/bound-detail.js';
import type { FcmpContent } from '../mapping/fcmp-mapping.js';
import type { RaspData } from '../protocol/rasp-event.js';
import { omitMissing } from '../reading/record-fields.js';

/** Longer values are not accepted as session ids, because every event would repeat them. */
const MAX_ID = 512;

/** Tracks the session of an attempt: starts the conversation once, and warns when the session changes. */
export class Session {
  readonly #writer: EventWriter;
  /** Whether the conversation has started: the engine has named its session, or the attempt has ended. */
  isStarted = false;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  /** Reports a status; the session it names starts the conversation. */
  status(status: Status, engineVersion: string | null, isAnnounced = false): void {
    const id = dropInvalidId(status.session_id ?? null);
    const previousId = this.#writer.sessionId;
    if (id !== null && id !== previousId) this.#writer.sessionId = id;
    this.#writer.write('lifecycle.run.status', toStatusData(status, id, engineVersion));
    if (id !== null) {
      this.start(id, status.model, !isAnnounced);
      if (previousId !== null && previousId !== id) this.#warnChanged(previousId, id);
    }
    if (!isAnnounced && status.isChunk !== true) this.#writer.writeStatus(toFcmpStatus(status));
  }

  announce(id: string): void {
    if (dropInvalidId(id) !== null) this.status({ status: 'session', session_id: id }, null, true);
  }

  start(id: string | null, model?: string | null, isStatus = false): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.#writer.startConversation(id, model === '' ? null : (model ?? null), isStatus);
  }

  #warnChanged(previousId: string, id: string): void {
    const message = `The session id changed from ${JSON.stringify(previousId)} to ${JSON.stringify(id)}; the latest id is used.`;
    this.#writer.warn('SESSION_ID_CHANGED', message, { subject: id });
  }
}

/** Copies field by field: some engines print little but statuses, and spreading costs more than parsing. */
function toStatusData(status: Status, id: string | null, engineVersion: string | null) {
  const data: { -readonly [Key in keyof RaspData<'lifecycle.run.status'>]: RaspData<'lifecycle.run.status'>[Key] } = {
    status: status.status,
  };
  const { model = null, usage = null, reason = null, detail } = status;
  if (id !== null) data.session_id = id;
  if (model !== null && model !== '') data.model = model;
  if (engineVersion !== null) data.engine_version = engineVersion;
  if (usage !== null) data.usage = usage;
  if (reason !== null) data.reason = reason;
  if (detail !== undefined) data.detail = boundDetail(detail);
  return data;
}

/** Converts a status to its FCMP event; the other fields are those of the engine's record. */
function toFcmpStatus({ status, reason, usage, message, parent }: Status): FcmpContent {
  if (message === undefined)
    return { type: 'conversation.status', data: { status, ...omitMissing({ reason, usage }) } };
  return { type: 'user.message', data: { text: message, ...omitMissing({ reason, parent_tool_call_id: parent }) } };
}

function dropInvalidId(id: string | null): string | null {
  return id === null || id === '' || id.length > MAX_ID ? null : id;
}
