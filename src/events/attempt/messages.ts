import type { MessageOptions } from '../engines/report.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { MAX_MESSAGE_LENGTH } from '../reading/line-message.js';
import { parse } from '../../json/index.js';

interface OpenMessage {
  readonly id: string;
  readonly parent: string | null;
  text: string;
}

/** Messages that may be open at once; a program that opens more loses the oldest to its final. */
const MAX_OPEN = 256;

/** Text of all open messages together; then the one being written ends, and what follows is another. */
const MAX_OPEN_LENGTH = 2 * MAX_MESSAGE_LENGTH;

/** Gives every message an id, ends each exactly once, and listens for the done marker in the agent's own words. */
export class Messages {
  readonly #writer: EventWriter;
  readonly #open = new Map<string, OpenMessage>();
  #openLength = 0;
  #count = 0;
  /** The agent's last whole message: what it asks, if it asks. */
  last = '';
  #doneMarkers = 0;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  /** Whether the agent has printed a message. */
  get any(): boolean {
    return this.#count > 0;
  }

  /** How many messages carried the done marker. */
  get doneMarkers(): number {
    return this.#doneMarkers;
  }

  delta(text: string, options: MessageOptions | undefined): void {
    const message = this.#opened(options);
    message.text += text;
    this.#openLength += text.length;
    this.#writer.write(
      'agent.message.delta',
      { message_id: message.id, text, ...withParent(message) },
      { message_id: message.id },
    );
    if (this.#openLength > MAX_OPEN_LENGTH) this.close(options);
  }

  final(text: string, options: MessageOptions | undefined): void {
    const open = this.#take(options);
    const id = open?.id ?? this.#nextId();
    this.#finish(id, text, open?.parent ?? options?.parent ?? null, options?.payload);
  }

  close(options: MessageOptions | undefined): void {
    const open = this.#take(options);
    if (open === undefined) return;
    this.#finish(open.id, open.text, open.parent);
  }

  /** Ends what the engine left open, in the order in which it was opened. */
  closeAll(): void {
    for (const key of this.#open.keys()) this.close({ key });
  }

  /** Removes and returns the open message. */
  #take(options: MessageOptions | undefined): OpenMessage | undefined {
    const key = options?.key ?? '';
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#open.delete(key);
    this.#openLength -= open.text.length;
    return open;
  }

  #opened(options: MessageOptions | undefined): OpenMessage {
    const key = options?.key ?? '';
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    if (this.#open.size >= MAX_OPEN) this.close({ key: this.#open.keys().next().value ?? '' });
    const message = { id: this.#nextId(), parent: options?.parent ?? null, text: '' };
    this.#open.set(key, message);
    return message;
  }

  #finish(id: string, text: string, parent: string | null, known?: unknown): void {
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
    if (hasDoneMarker(text)) this.#doneMarkers += 1;
  }

  #nextId(): string {
    this.#count += 1;
    return `m_${this.#writer.attempt}_${this.#count}`;
  }
}

function withParent({ parent }: { readonly parent: string | null }): { parent_tool_call_id: string } | undefined {
  return parent === null || parent === '' ? undefined : { parent_tool_call_id: parent };
}

/** A fenced block that begins like JSON. */
const FENCED_JSON = /```(?:json|jsonc|json5)?[ \t]*\r?\n\s*[{[]/iu;

/** Longer messages are not searched: readers who want their value have the text. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * The JSON object or array a message holds: the whole text, a `<json>` block or a fenced one; undefined if there is
 * none. Every message passes here and most are plain text, so only those that show one are read.
 *
 * @example
 * readStructuredPayload('Done.\n```json\n{"ok":true}\n```') // { ok: true }
 */
export function readStructuredPayload(text: string): unknown {
  return mayHoldPayload(text) ? findPayload(text) : undefined;
}

/** The same for a text that may have its JSON anywhere, also glued to the words before it. */
export function findPayload(text: string): unknown {
  if (text.length > MAX_LENGTH || !/[{[]/u.test(text)) return undefined;
  // Strictly: a payload is shown next to the text, and a wrong one is worse than none.
  const result = parse(text, undefined, { profile: text.includes('<json>') ? 'tagged' : 'generic' });
  return result.ok && typeof result.value === 'object' && result.value !== null ? result.value : undefined;
}

function mayHoldPayload(text: string): boolean {
  const first = text.trimStart().charAt(0);
  if (first === '{' || first === '[') return true;
  return text.includes('<json>') || (text.includes('```') && FENCED_JSON.test(text));
}

/** The marker as JSON, and as JSON inside of a JSON string. Old agents print it in lower case. */
const MARKER = /\\?"__(?:SKILL_DONE|skill_done)__\\?"\s*:\s*true\b/u;

/** An agent that shows the skill it follows quotes the marker without meaning it; an unclosed quote reaches to the end. */
const QUOTED_SKILL = /<skill_content\b[^]*?(?:<\/skill_content>|$)/gu;

/**
 * Whether the agent says in this text that it has finished. Give it only the agent's own words.
 *
 * @example
 * hasDoneMarker('{"__SKILL_DONE__": true}') // true
 */
export function hasDoneMarker(text: string): boolean {
  if (!text.includes('__SKILL_DONE__') && !text.includes('__skill_done__')) return false;
  return MARKER.test(text.replaceAll(QUOTED_SKILL, ''));
}
