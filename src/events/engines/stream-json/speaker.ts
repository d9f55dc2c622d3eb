import { MAX_MESSAGE_LENGTH } from '../../reading/line-message.js';
import type { Emit } from '../fact.js';

/** The kinds of text: messages and thoughts. */
type TextKind = 'text' | 'thinking';

interface OpenBlock {
  readonly kind: TextKind;
  readonly id: string | null;
  text: string;
}

/**
 * The agent, or one of its sub-agents. With partial messages a block is printed twice, in chunks and in full. Some CLIs
 * print the full block before its end event, others after it. Either way it is reported once.
 */
export class Speaker {
  readonly #emit: Emit;
  readonly #parent: string | null;
  readonly #options: { readonly key: string; readonly parent: string | null };
  readonly #nextThought: () => string;
  readonly #reported = new ReportedBlocks();
  #open: OpenBlock | null = null;
  #lastMessageId: string | null = null;

  constructor(emit: Emit, parent: string | null, nextThought: () => string) {
    this.#emit = emit;
    this.#parent = parent;
    this.#options = { key: parent ?? '', parent };
    this.#nextThought = nextThought;
  }

  /** Whether chunks of a message were reported, but not yet the full message. */
  get hasOpenText(): boolean {
    return this.#open?.kind === 'text';
  }

  /** Whether this text starts with the reported part of the open message. */
  isContinuedBy(text: string): boolean {
    return this.#open?.kind === 'text' && this.#open.text !== '' && text.startsWith(this.#open.text);
  }

  /** Whether this is the text of the last message: its last block, or all blocks. */
  hasReported(text: string): boolean {
    return this.#reported.isLastMessage(text);
  }

  /**
   * Sets the current message. Returns true for its first record: fields that later records repeat are read only from
   * the first.
   */
  setMessage(messageId: string | null): boolean {
    const isFirst = messageId === null || messageId !== this.#lastMessageId;
    this.#lastMessageId = messageId;
    return isFirst;
  }

  /** Starts a new message. */
  startMessage(id: string | null): void {
    this.endBlock();
    this.#reported.dropUnconfirmed();
    this.#reported.enterMessage(id);
  }

  addDelta(kind: TextKind, text: string): void {
    if (text === '') return;
    if (this.#open?.kind !== kind || this.#open.text.length > MAX_MESSAGE_LENGTH) {
      this.endBlock();
      this.#open = { kind, id: kind === 'thinking' ? this.#nextThought() : null, text: '' };
    }
    this.#open.text += text;
    if (kind === 'text') return this.#emit({ fact: 'delta', text, ...this.#options });
    this.#emit({ fact: 'reasoning', text, ...withId(this.#open.id), partial: true, parent: this.#parent });
  }

  /** Adds a complete block of a message; its chunks might already have been streamed. */
  addBlock(kind: TextKind, text: string, messageId: string | null): void {
    this.#reported.enterMessage(messageId);
    if (this.#open?.kind === kind) return this.#complete(kind, text);
    this.endBlock();
    if (!this.#reported.takeExpectedRepeat(text)) return this.#complete(kind, text);
    this.#emit({
      fact: 'warning',
      code: 'DUPLICATE_MESSAGE_SUPPRESSED',
      message: 'A message was printed again after it had been reported.',
    });
  }

  /** Ends the open block with the text that was streamed, unless the complete block was printed. */
  endBlock(): void {
    if (this.#open === null || this.#open.text === '') return;
    const { kind, text } = this.#open;
    this.#complete(kind, text);
    this.expectRepeat(text);
  }

  /** Discards the open block, because the CLI starts over. */
  discard(): void {
    if (this.#open !== null) this.#open.text = '';
  }

  /** Records that text was reported and might be printed again as a block. */
  expectRepeat(text: string): void {
    this.#reported.expectRepeat(text);
  }

  #complete(kind: TextKind, text: string): void {
    const id = this.#open?.kind === kind ? this.#open.id : null;
    this.#open = null;
    if (kind === 'thinking') return this.#emit({ fact: 'reasoning', text, ...withId(id), parent: this.#parent });
    this.#reported.add(text);
    this.#emit({ fact: 'message', text, ...this.#options });
  }
}

function withId(id: string | null): { id: string } | undefined {
  return id === null ? undefined : { id };
}

/** Limit on reported blocks that might still be printed in full. */
const MAX_UNCONFIRMED = 8;
/** Limit on stored blocks per message. */
const MAX_BLOCKS = 256;

/** The text of a speaker's recent blocks, to detect repeats. */
class ReportedBlocks {
  #messageId: string | null = null;
  #blocks: string[] = [];
  #unconfirmedBlocks: string[] = [];

  /** Starts a message, or continues the current one if it has this id. */
  enterMessage(id: string | null): void {
    if (id !== null && id === this.#messageId && this.#blocks.length < MAX_BLOCKS) return;
    this.#messageId = id;
    this.#blocks = [];
  }

  add(text: string): void {
    this.#blocks.push(text);
  }

  /** Whether this is the text of the last message: its last block, or all blocks. */
  isLastMessage(text: string): boolean {
    return this.#blocks.at(-1) === text || this.#blocks.join('') === text || this.#blocks.join('\n') === text;
  }

  /** Records that text was reported and might be printed again as a block. */
  expectRepeat(text: string): void {
    this.#unconfirmedBlocks.push(text);
    if (this.#unconfirmedBlocks.length > MAX_UNCONFIRMED) this.#unconfirmedBlocks.shift();
  }

  /** Whether a block repeats reported text; each report is matched once. */
  takeExpectedRepeat(text: string): boolean {
    const position = this.#unconfirmedBlocks.indexOf(text);
    if (position >= 0) this.#unconfirmedBlocks.splice(position, 1);
    return position >= 0;
  }

  /** Drops the blocks that were not printed again. */
  dropUnconfirmed(): void {
    this.#unconfirmedBlocks = [];
  }
}
