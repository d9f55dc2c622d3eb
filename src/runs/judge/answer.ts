import type { Emitted, StreamName } from '../../events/index.js';

/** What `parse` would refuse anyway; the one byte more lets it say so. */
const MOST_BYTES = 64 * 1024 * 1024 + 1;

/**
 * Listens for the answer of an attempt: the last whole message of the agent itself, not of a sub-agent. A plain
 * program's answer is all it prints on stdout.
 *
 * @example
 * const answer = new Answer('messages')
 * answer.hear(translator.push('stdout', bytes))
 * answer.text // 'Done: {"ok":true}'
 */
export class AnswerCollector {
  readonly #source: 'messages' | 'stdout';
  #message: string | undefined;
  readonly #printed: Uint8Array[] = [];
  #length = 0;

  constructor(source: 'messages' | 'stdout') {
    this.#source = source;
  }

  /** Takes bytes as they were captured. */
  read(stream: StreamName, bytes: Uint8Array): void {
    if (this.#source !== 'stdout' || stream !== 'stdout' || this.#length >= MOST_BYTES) return;
    const taken = bytes.subarray(0, MOST_BYTES - this.#length);
    this.#printed.push(taken);
    this.#length += taken.length;
  }

  /** Takes what the bytes were found to mean. */
  hear(events: readonly Emitted[]): void {
    for (const { protocol, event } of events) {
      if (protocol !== 'fcmp' || event.type !== 'assistant.message.final') continue;
      if (event.data.parent_tool_call_id === undefined) this.#message = event.data.text;
    }
  }

  /** What is held against the contract; empty if nothing was said. */
  get text(): string {
    if (this.#source === 'messages') return this.#message ?? '';
    return new TextDecoder().decode(Buffer.concat(this.#printed, this.#length));
  }

  /** The last words of the agent, for people. */
  get message(): string | undefined {
    return this.#message;
  }
}
