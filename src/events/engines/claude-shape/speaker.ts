import { MAX_MESSAGE_LENGTH } from '../../reading/line-message.js';
import type { Report } from '../report.js';

/** A text of a speaker: words to people, or thoughts. */
type Utterance = 'text' | 'thinking';

interface OpenBlock {
  readonly kind: Utterance;
  readonly id: string | null;
  text: string;
}

/**
 * The agent, or one of its sub-agents. With partial messages a block is printed twice, in pieces and whole, and programs
 * differ in when the whole comes: before the block's end or after it. Whichever comes, it is reported once.
 */
export class Speaker {
  readonly #report: Report;
  readonly #parent: string | null;
  readonly #options: { readonly key: string; readonly parent: string | null };
  readonly #nextThought: () => string;
  readonly #said = new SaidTexts();
  #open: OpenBlock | null = null;
  #countedId: string | null = null;

  constructor(report: Report, parent: string | null, nextThought: () => string) {
    this.#report = report;
    this.#parent = parent;
    this.#options = { key: parent ?? '', parent };
    this.#nextThought = nextThought;
  }

  /** Whether words are on their way: pieces were reported, and the whole was not. */
  get isSpeaking(): boolean {
    return this.#open?.kind === 'text';
  }

  /** Whether this text begins with what was already reported of the open message. */
  isSaying(words: string): boolean {
    return this.#open?.kind === 'text' && this.#open.text !== '' && words.startsWith(this.#open.text);
  }

  /** Whether the last message has this text: its last block, or all of them. */
  hasSaid(text: string): boolean {
    return this.#said.isLastMessage(text);
  }

  /** Whether a record is the first of its message: what all of them repeat is taken from that one. */
  isFirst(messageId: string | null): boolean {
    const isFirst = messageId === null || messageId !== this.#countedId;
    this.#countedId = messageId;
    return isFirst;
  }

  /** A new message begins. */
  startMessage(id: string | null): void {
    this.endBlock();
    this.#said.forgetUnconfirmed();
    this.#said.enterMessage(id);
  }

  piece(kind: Utterance, text: string): void {
    if (text === '') return;
    if (this.#open?.kind !== kind || this.#open.text.length > MAX_MESSAGE_LENGTH) {
      this.endBlock();
      this.#open = { kind, id: kind === 'thinking' ? this.#nextThought() : null, text: '' };
    }
    this.#open.text += text;
    if (kind === 'text') return this.#report.messageDelta(text, this.#options);
    this.#report.reasoning(text, { ...withId(this.#open.id), partial: true, parent: this.#parent });
  }

  /** A whole block of a message, which may have come in pieces before. */
  whole(kind: Utterance, text: string, messageId: string | null): void {
    this.#said.enterMessage(messageId);
    if (this.#open?.kind === kind) return this.#emit(kind, text);
    this.endBlock();
    if (!this.#said.confirms(text)) return this.#emit(kind, text);
    this.#report.warning('DUPLICATE_MESSAGE_SUPPRESSED', 'A message was printed again after it had been reported.');
  }

  /** Ends the open block with what was streamed, unless the whole block was printed. */
  endBlock(): void {
    if (this.#open === null || this.#open.text === '') return;
    const { kind, text } = this.#open;
    this.#emit(kind, text);
    this.confirmLater(text);
  }

  /** Discards the open block: the program starts over. */
  discard(): void {
    if (this.#open !== null) this.#open.text = '';
  }

  /** A text was reported that may be printed again as a block. */
  confirmLater(text: string): void {
    this.#said.confirmLater(text);
  }

  #emit(kind: Utterance, text: string): void {
    const id = this.#open?.kind === kind ? this.#open.id : null;
    this.#open = null;
    if (kind === 'thinking') return this.#report.reasoning(text, { ...withId(id), parent: this.#parent });
    this.#said.add(text);
    this.#report.message(text, this.#options);
  }
}

function withId(id: string | null): { id: string } | undefined {
  return id === null ? undefined : { id };
}

/** Texts reported without their whole that are remembered, in case it comes after all. */
const MAX_UNCONFIRMED = 8;
/** Texts of one message that are remembered. */
const MAX_TEXTS = 256;

/** The recent texts of a speaker, to recognise a repeat. */
class SaidTexts {
  #messageId: string | null = null;
  #texts: string[] = [];
  #unconfirmed: string[] = [];

  /** Starts a message; without an id, a new one. */
  enterMessage(id: string | null): void {
    if (id !== null && id === this.#messageId && this.#texts.length < MAX_TEXTS) return;
    this.#messageId = id;
    this.#texts = [];
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  /** Whether the last message has this text: its last block, or all of them. */
  isLastMessage(text: string): boolean {
    return this.#texts.at(-1) === text || this.#texts.join('') === text || this.#texts.join('\n') === text;
  }

  /** A text was reported that may be printed again as a block. */
  confirmLater(text: string): void {
    this.#unconfirmed.push(text);
    if (this.#unconfirmed.length > MAX_UNCONFIRMED) this.#unconfirmed.shift();
  }

  /** Whether a block is one that was reported before; true once for each time it was. */
  confirms(text: string): boolean {
    const known = this.#unconfirmed.indexOf(text);
    if (known >= 0) this.#unconfirmed.splice(known, 1);
    return known >= 0;
  }

  /** Forgets texts that were not printed again by now. */
  forgetUnconfirmed(): void {
    this.#unconfirmed = [];
  }
}
