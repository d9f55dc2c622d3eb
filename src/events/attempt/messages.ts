import type { MessageId } from '../engines/fact.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { MAX_MESSAGE_LENGTH } from '../reading/text-answer.js';
import { parse } from '../../json/index.js';

interface OpenMessage {
  readonly id: string;
  readonly parent: string | null;
  text: string;
}

/** Limit on open messages; beyond it, the oldest is closed. */
const MAX_OPEN = 256;

/** Limit on the total text in open messages; beyond it, the current message is closed. */
const MAX_OPEN_LENGTH = 2 * MAX_MESSAGE_LENGTH;

/** Assigns message ids, ends each message exactly once, and looks for the done marker in the agent's own messages. */
export class Messages {
  readonly #writer: EventWriter;
  readonly #open = new Map<string, OpenMessage>();
  #openLength = 0;
  #count = 0;
  /** The agent's last complete message, which might be a question. */
  last = '';
  doneMarkers = 0;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  get hasAny(): boolean {
    return this.#count > 0;
  }

  delta(text: string, options: MessageId): void {
    const message = this.#getOrOpen(options);
    message.text += text;
    this.#openLength += text.length;
    this.#writer.write(
      'agent.message.delta',
      { message_id: message.id, text, ...withParent(message) },
      { message_id: message.id },
    );
    if (this.#openLength > MAX_OPEN_LENGTH) this.close(options);
  }

  final(text: string, options: MessageId, payload: unknown): void {
    this.#finish(this.#take(options) ?? { id: this.#nextId(), parent: options.parent ?? null }, text, payload);
  }

  close(options: MessageId): void {
    const open = this.#take(options);
    if (open !== undefined) this.#finish(open, open.text);
  }

  /** Ends the messages that the engine left open, oldest first. */
  closeAll(): void {
    for (const key of this.#open.keys()) this.close({ key });
  }

  #take(options: MessageId): OpenMessage | undefined {
    const key = options.key ?? '';
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#open.delete(key);
    this.#openLength -= open.text.length;
    return open;
  }

  #getOrOpen(options: MessageId): OpenMessage {
    const key = options.key ?? '';
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    if (this.#open.size >= MAX_OPEN) this.close({ key: this.#open.keys().next().value ?? '' });
    const message = { id: this.#nextId(), parent: options.parent ?? null, text: '' };
    this.#open.set(key, message);
    return message;
  }

  #finish({ id, parent }: Pick<OpenMessage, 'id' | 'parent'>, text: string, known?: unknown): void {
    const payload = known ?? readStructuredPayload(text);
    const data = {
      message_id: id,
      text,
      ...(payload === undefined ? undefined : { structured_payload: payload }),
      ...withParent({ parent }),
    };
    this.#writer.write('agent.message.final', data, { message_id: id });
    if (parent !== null) return;
    this.last = text;
    if (hasDoneMarker(text)) this.doneMarkers += 1;
  }

  #nextId(): string {
    this.#count += 1;
    return `m_${this.#writer.attempt}_${this.#count}`;
  }
}

function withParent({ parent }: { readonly parent: string | null }): { parent_tool_call_id: string } | undefined {
  return parent === null || parent === '' ? undefined : { parent_tool_call_id: parent };
}

const FENCED_JSON = /```(?:json|jsonc|json5)?\s*[{[]/iu;

/** Longer messages are not searched; their text is still in the event. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * Returns the JSON object or array in a message (the whole message, a `<json>` block or a fenced block), or undefined.
 * This runs for every message and most are plain text, so only those that look like JSON are parsed.
 */
export function readStructuredPayload(text: string): unknown {
  return mayContainPayload(text) ? findPayload(text) : undefined;
}

/** Returns the first JSON value in a string; it can be anywhere, even directly after a word. */
export function findPayload(text: string): unknown {
  if (text.length > MAX_LENGTH || !/[{[]/u.test(text)) return undefined;
  // Parsed strictly: the payload is shown next to the text, and a wrong payload is worse than none.
  const result = parse(text, undefined, { profile: text.includes('<json>') ? 'tagged' : 'generic' });
  return result.ok && typeof result.value === 'object' && result.value !== null ? result.value : undefined;
}

function mayContainPayload(text: string): boolean {
  const first = text.trimStart().charAt(0);
  if (first === '{' || first === '[') return true;
  return text.includes('<json>') || (text.includes('```') && FENCED_JSON.test(text));
}

/** The marker as JSON, and as JSON inside a JSON string. Old agents print it in lower case. */
const MARKER = /\\?"__(?:SKILL_DONE|skill_done)__\\?"\s*:\s*true\b/u;

/** Skill instructions can quote the marker. An unclosed block extends to the end. */
const QUOTED_SKILL = /<skill_content\b[^]*?(?:<\/skill_content>|$)/gu;

/** Whether a message from the agent says that it has finished. Pass only the agent's own messages. */
export function hasDoneMarker(text: string): boolean {
  if (!text.includes('__SKILL_DONE__') && !text.includes('__skill_done__')) return false;
  return MARKER.test(text.replaceAll(QUOTED_SKILL, ''));
}
