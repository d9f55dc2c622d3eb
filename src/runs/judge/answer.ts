import { isUtf8 } from 'node:buffer';
import type { CapturedStream, Emitted } from '../../events/index.js';

/** One byte more than `parse` accepts, so that it reports the limit. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024 + 1;

/** The longest `text` of a result; of more, the end is kept. */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;

/**
 * Where the answer of an attempt is: in the agent's messages, or, of a plain program, in all of stdout. `stdout` holds
 * it for a contract, `tail` only for people, who want the end of what is too long.
 */
export type AnswerSource = 'messages' | 'stdout' | 'tail';

/**
 * Collects the answer of an attempt: the last whole message of the agent itself, not of a sub-agent. A plain program's
 * answer is all it prints on stdout.
 *
 * @example
 * const answer = new AnswerCollector('messages')
 * answer.addEvents(translator.push('stdout', bytes))
 * answer.text // 'Done: {"ok":true}'
 */
export class AnswerCollector {
  readonly #source: AnswerSource;
  #message: string | undefined;
  #isMessageUtf8 = true;
  /** A plain program that prints a lot has several: the whole is then in its bytes. */
  #messages = 0;
  readonly #printed: ByteBlocks;

  constructor(source: AnswerSource) {
    this.#source = source;
    this.#printed =
      source === 'tail' ? new ByteBlocks(MAX_TEXT_LENGTH, 'end') : new ByteBlocks(MAX_ANSWER_BYTES, 'beginning');
  }

  /** Adds captured bytes. */
  addBytes(stream: CapturedStream, bytes: Uint8Array): void {
    if (this.#source !== 'messages' && stream === 'stdout') this.#printed.add(bytes);
  }

  /** Adds the events read from the bytes. */
  addEvents(events: readonly Emitted[]): void {
    for (const { protocol, event } of events) {
      if (protocol !== 'fcmp' || event.type !== 'assistant.message.final') continue;
      if (event.data.parent_tool_call_id !== undefined) continue;
      this.#message = event.data.text;
      this.#isMessageUtf8 = event.raw_ref?.encoding !== 'binary';
      this.#messages += 1;
    }
  }

  /** The text validated against the contract; empty if the agent printed nothing. */
  get text(): string {
    return this.#source === 'messages' ? (this.#message ?? '') : this.#printed.text();
  }

  /** Whether the answer is as the agent printed it: bytes that are not UTF-8 are shown as substitutes. */
  get isUtf8(): boolean {
    return this.#source === 'messages' ? this.#isMessageUtf8 : isUtf8(this.#printed.bytes());
  }

  /** The agent's last words for the result, and how many bytes or characters before them were left out. */
  get lastWords(): { readonly text: string | undefined; readonly leftOut: number } {
    const isWhole = this.#source === 'messages' || this.#messages < 2;
    const whole = isWhole ? this.#message : trimBlankLines(this.#printed.text());
    const text = whole?.slice(-MAX_TEXT_LENGTH);
    const leftOut = (whole?.length ?? 0) - (text?.length ?? 0);
    return { text, leftOut: leftOut + (isWhole ? 0 : this.#printed.leftOut) };
  }
}

/** As the reader of plain programs does with a message. */
function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

const BLOCK = 64 * 1024;

/** Bytes up to a limit, from the beginning or the end of a stream. In blocks: a program may print byte by byte. */
class ByteBlocks {
  readonly #max: number;
  readonly #keeps: 'beginning' | 'end';
  #blocks: Buffer[] = [];
  /** Used bytes of the last block. */
  #used = BLOCK;
  #length = 0;
  #total = 0;

  constructor(max: number, keeps: 'beginning' | 'end') {
    this.#max = max;
    this.#keeps = keeps;
  }

  get leftOut(): number {
    return this.#total - Math.min(this.#length, this.#max);
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    let rest = this.#keeps === 'end' ? bytes : bytes.subarray(0, this.#max - this.#length);
    while (rest.length > 0) {
      if (this.#used === BLOCK) {
        this.#blocks.push(Buffer.allocUnsafe(BLOCK));
        this.#used = 0;
        if (this.#length - BLOCK >= this.#max) {
          this.#blocks.shift();
          this.#length -= BLOCK;
        }
      }
      const taken = rest.subarray(0, BLOCK - this.#used);
      this.#blocks.at(-1)?.set(taken, this.#used);
      this.#used += taken.length;
      this.#length += taken.length;
      rest = rest.subarray(taken.length);
    }
  }

  bytes(): Buffer {
    const all = Buffer.concat(this.#blocks, this.#length);
    if (this.#length <= this.#max) return all;
    let from = this.#length - this.#max;
    // Cut where a character begins.
    while (((all[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return all.subarray(from);
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }
}
