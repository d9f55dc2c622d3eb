import type { EngineError, Emit } from '../fact.js';
import { BoundedSet } from '../../reading/bounded-map.js';
import type { EndSignal } from '../../protocol/completion.js';
import type { ParserName } from '../../protocol/engine-names.js';
import type { Usage } from '../../protocol/event-parts.js';
import type { KnownFields } from '../../reading/record-fields.js';
import type { Engine } from '../engine.js';
import { MAX_MESSAGE_LENGTH } from '../../reading/text-answer.js';

/** The differences between CLIs that print records in Claude Code's format. */
export interface Dialect extends Pick<Engine, 'name' | 'parser' | 'parserVersion'> {
  readonly fields: KnownFields;
  /** The parser name for output that is a single document at the end of a run. */
  readonly documentParser: ParserName;
  readonly endSignal: EndSignal;
  /** Fields of `system init`. */
  readonly versionField: string;
  readonly permissionField: string;
  /** Tools that write a file, with the input field that names it. */
  readonly fileTools: ReadonlyMap<string, string>;
  readonly inputIncludesCache: boolean;
  /** The confidence that the CLI printed a record of a known type; for `system`, an `init` without its version. */
  readonly scoreRecord: (type: string, record: object) => number;
  /** Reads the usage of the session so far from a `result`. */
  readTotalUsage(result: object): Usage | null;
  /** Reads the error of a `system` record; null for any other record. */
  readSystemError(subtype: string, record: object): EngineError | null;
  /** Reads an error that the CLI prints as an agent message, which is in `record`; null for any other. */
  readErrorText(text: string, record: object, usage: object | null): EngineError | null;
  /** Reads an error from plain text, in the log or in place of an answer; null for any other text. */
  readLogError(line: string): EngineError | null;
  /** Reads a document that is not a record and explains a failure; null for any other document. */
  readErrorDocument(value: object): EngineError | null;
}

/** Limit on open sub-agents; beyond it, the oldest is closed. */
const MAX_SUB_AGENTS = 256;
/** Limit on calls tracked as open; beyond it, the oldest is dropped. */
const MAX_OPEN_CALLS = 4096;
/** Limit on reported blocks that might still be printed in full. */
const MAX_UNCONFIRMED = 8;
/** Limit on stored blocks per message. */
const MAX_BLOCKS = 256;

/** The state of a conversation while its records are read: speakers, open calls, the last error. */
export class Conversation {
  readonly emit: Emit;
  readonly dialect: Dialect;
  readonly agent: Speaker;
  readonly #subAgents = new Map<string, Speaker>();
  readonly openCalls = new BoundedSet<string>(MAX_OPEN_CALLS);
  #thoughts = 0;
  #lastError: string | null = null;
  #hasEnded = false;

  constructor(dialect: Dialect, emit: Emit) {
    this.dialect = dialect;
    this.emit = emit;
    this.agent = new Speaker(emit, null, () => this.#nextThought());
  }

  /** Returns the speaker of a record: the agent, or the sub-agent that a tool call started. */
  getSpeaker(parent: string | null): Speaker {
    if (parent === null) return this.agent;
    const existing = this.#subAgents.get(parent);
    if (existing !== undefined) return existing;
    const [oldest] = this.#subAgents.keys();
    if (oldest !== undefined && this.#subAgents.size >= MAX_SUB_AGENTS) this.#closeSubAgent(oldest);
    const speaker = new Speaker(this.emit, parent, () => this.#nextThought());
    this.#subAgents.set(parent, speaker);
    return speaker;
  }

  /** Starts a new turn, and ends the previous one if it is still open. */
  startTurn(): void {
    this.endTurn();
    this.continueTurn();
    this.agent.startMessage(null);
  }

  /** Called when the agent produces output; after the end of a turn, this starts a new one. */
  continueTurn(): void {
    if (!this.#hasEnded) return;
    this.#hasEnded = false;
    this.#lastError = null;
    this.emit({ fact: 'turn_started' });
  }

  /** Ends the turn, successfully or not: the open message is complete. */
  endTurn(): void {
    this.#hasEnded = true;
    for (const parent of this.#subAgents.keys()) this.#closeSubAgent(parent);
    this.agent.endBlock();
  }

  endCall(id: string): void {
    this.openCalls.delete(id);
    this.#closeSubAgent(id);
  }

  /** Reports an error that ended the turn, once: these CLIs repeat it. Returns whether it was new. */
  reportFailure(error: EngineError): boolean {
    if (this.isLastError(error.message)) return false;
    this.#lastError = error.message;
    this.emit({ fact: 'error', ...error });
    return true;
  }

  isLastError(message: string): boolean {
    return this.#lastError === message;
  }

  #closeSubAgent(parent: string): void {
    this.#subAgents.get(parent)?.endBlock();
    this.#subAgents.delete(parent);
  }

  #nextThought(): string {
    this.#thoughts += 1;
    return `thought_${this.#thoughts}`;
  }
}

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
class Speaker {
  readonly #emit: Emit;
  readonly #options: { readonly key: string; readonly parent: string | null };
  readonly #nextThought: () => string;
  #open: OpenBlock | null = null;
  #lastMessageId: string | null = null;
  /** The id and the reported blocks of the current message, to detect repeats. */
  #messageId: string | null = null;
  #blocks: string[] = [];
  /** Reported text that might be printed again as a block. */
  #unconfirmedBlocks: string[] = [];

  constructor(emit: Emit, parent: string | null, nextThought: () => string) {
    this.#emit = emit;
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
    return this.#blocks.at(-1) === text || this.#blocks.join('') === text || this.#blocks.join('\n') === text;
  }

  /** Sets the current message. Returns true for its first record; later ones repeat some fields. */
  setMessage(messageId: string | null): boolean {
    const isFirst = messageId === null || messageId !== this.#lastMessageId;
    this.#lastMessageId = messageId;
    return isFirst;
  }

  startMessage(id: string | null): void {
    this.endBlock();
    this.#unconfirmedBlocks = [];
    this.#enterMessage(id);
  }

  addDelta(kind: TextKind, text: string): void {
    if (text === '') return;
    if (this.#open?.kind !== kind || this.#open.text.length > MAX_MESSAGE_LENGTH) {
      this.endBlock();
      this.#open = { kind, id: kind === 'thinking' ? this.#nextThought() : null, text: '' };
    }
    this.#open.text += text;
    if (kind === 'text') return this.#emit({ fact: 'delta', text, ...this.#options });
    this.#emit({ fact: 'reasoning', text, id: this.#open.id, partial: true, parent: this.#options.parent });
  }

  /** Adds a complete block of a message; its chunks might already have been streamed. */
  addBlock(kind: TextKind, text: string, messageId: string | null): void {
    this.#enterMessage(messageId);
    if (this.#open?.kind === kind) return this.#complete(kind, text);
    this.endBlock();
    const repeated = this.#unconfirmedBlocks.indexOf(text);
    if (repeated < 0) return this.#complete(kind, text);
    this.#unconfirmedBlocks.splice(repeated, 1);
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
    this.#unconfirmedBlocks.push(text);
    if (this.#unconfirmedBlocks.length > MAX_UNCONFIRMED) this.#unconfirmedBlocks.shift();
  }

  /** Starts a message, or continues the current one if it has this id. */
  #enterMessage(id: string | null): void {
    if (id !== null && id === this.#messageId && this.#blocks.length < MAX_BLOCKS) return;
    this.#messageId = id;
    this.#blocks = [];
  }

  #complete(kind: TextKind, text: string): void {
    const id = this.#open?.kind === kind ? this.#open.id : null;
    this.#open = null;
    if (kind === 'thinking') return this.#emit({ fact: 'reasoning', text, id, parent: this.#options.parent });
    this.#blocks.push(text);
    this.#emit({ fact: 'message', text, ...this.#options });
  }
}
