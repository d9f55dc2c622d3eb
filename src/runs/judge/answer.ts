import { isUtf8 } from 'node:buffer';
import type { CapturedStream, Emitted } from '../../events/index.js';

/** One byte more than `parse` accepts, so `parse` reports the limit. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024 + 1;

/** The maximum length of `text` in a result; only the end of longer output is kept. */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;

/**
 * The source of an attempt's answer: the agent's messages, or all of stdout for a plain command. `stdout` is validated
 * against a contract; `tail` is for users, who need the end of long output.
 */
type AnswerSource = 'messages' | 'stdout' | 'tail';

/** Chooses the source of an attempt's answer, whether the attempt is running or recorded. */
export function chooseAnswerSource(
  { engine, reads, terminal }: { readonly engine?: string; readonly reads?: unknown; readonly terminal?: unknown },
  contract: unknown,
): AnswerSource {
  if (engine !== 'command' || reads !== undefined || terminal === true) return 'messages';
  return contract === undefined ? 'tail' : 'stdout';
}

/** Collects an attempt's answer: the agent's own last complete message, or a plain command's entire stdout. */
export class AnswerCollector {
  readonly #source: AnswerSource;
  #message: string | undefined;
  /** The messages before the last one. */
  #earlier = '';
  #isMessageUtf8 = true;
  /** A plain command with long output has more than one message; its answer is taken from its bytes. */
  #messages = 0;
  readonly #printed: ByteBlocks;

  constructor(source: AnswerSource) {
    this.#source = source;
    this.#printed =
      source === 'tail' ? new ByteBlocks(MAX_TEXT_LENGTH, 'end') : new ByteBlocks(MAX_ANSWER_BYTES, 'beginning');
  }

  addBytes(stream: CapturedStream, bytes: Uint8Array): void {
    if (this.#source !== 'messages' && stream === 'stdout') this.#printed.add(bytes);
  }

  addEvents(events: readonly Emitted[]): void {
    for (const { protocol, event } of events) {
      if (protocol !== 'fcmp' || event.type !== 'assistant.message.final') continue;
      if (event.data.parent_tool_call_id !== undefined) continue;
      const isRoom = this.#source === 'messages' && this.#earlier.length < MAX_TEXT_LENGTH;
      if (this.#message !== undefined && isRoom) this.#earlier += `${this.#message}\n\n`;
      this.#message = event.data.text;
      this.#isMessageUtf8 = event.raw_ref?.encoding !== 'binary';
      this.#messages += 1;
    }
  }

  /** The text to validate against the contract; empty if the agent printed nothing. */
  get text(): string {
    return this.#source === 'messages' ? (this.#message ?? '') : this.#printed.text();
  }

  /** The whole output, for a comment: all of the agent's messages, or everything a command printed. */
  get comment(): string {
    return this.#source === 'messages' ? this.#earlier + this.text : this.text;
  }

  /** Whether the answer is valid UTF-8; otherwise it contains replacement characters. */
  get isUtf8(): boolean {
    return this.#source === 'messages' ? this.#isMessageUtf8 : isUtf8(this.#printed.bytes());
  }

  /** The text for the result, and the number of bytes or characters omitted before it. */
  get lastText(): { readonly text: string | undefined; readonly omitted: number } {
    const isInMessage = this.#source === 'messages' || this.#messages < 2;
    const full = isInMessage ? this.#message : trimBlankLines(this.#printed.text());
    const text = full?.slice(-MAX_TEXT_LENGTH);
    const omitted = (full?.length ?? 0) - (text?.length ?? 0);
    return { text, omitted: omitted + (isInMessage ? 0 : this.#printed.omitted) };
  }
}

/** Removes blank lines, like the plain command reader. */
function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

const BLOCK_BYTES = 64 * 1024;

/** The first or last bytes of a stream. In blocks, because a process can print byte by byte. */
class ByteBlocks {
  readonly #max: number;
  readonly #keeps: 'beginning' | 'end';
  #blocks: Buffer[] = [];
  /** Used bytes of the last block. */
  #used = BLOCK_BYTES;
  #length = 0;
  #total = 0;

  constructor(max: number, keeps: 'beginning' | 'end') {
    this.#max = max;
    this.#keeps = keeps;
  }

  get omitted(): number {
    return this.#total - Math.min(this.#length, this.#max);
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    let rest = this.#keeps === 'end' ? bytes : bytes.subarray(0, this.#max - this.#length);
    while (rest.length > 0) {
      if (this.#used === BLOCK_BYTES) {
        this.#blocks.push(Buffer.allocUnsafe(BLOCK_BYTES));
        this.#used = 0;
        if (this.#length - BLOCK_BYTES >= this.#max) {
          this.#blocks.shift();
          this.#length -= BLOCK_BYTES;
        }
      }
      const part = rest.subarray(0, BLOCK_BYTES - this.#used);
      this.#blocks.at(-1)?.set(part, this.#used);
      this.#used += part.length;
      this.#length += part.length;
      rest = rest.subarray(part.length);
    }
  }

  bytes(): Buffer {
    const all = Buffer.concat(this.#blocks, this.#length);
    if (this.#length <= this.#max) return all;
    let from = this.#length - this.#max;
    // Skips to the start of a character.
    while (((all[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return all.subarray(from);
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }
}
