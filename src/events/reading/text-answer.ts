import type { Emit } from '../engines/fact.js';
import type { BlankFrame, Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import { get } from './record-fields.js';

/** The maximum length of a message joined from lines; endless output becomes multiple messages. */
export const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;

/** Below this confidence a message is a guess: its text is also reported as raw, with a warning. */
const LOW_CONFIDENCE = 0.5;

/** Limit on the output held back; beyond it, the decision is made as if the output had ended. */
const MAX_HELD_BYTES = 1024 * 1024;

/**
 * Reads the text mode of a CLI that usually prints records. Lines of stdout that are not records are either the agent's
 * plain text answer or damage. They are held until a record appears (then they are damage, and each becomes a raw event
 * with a warning) or the output ends.
 */
export class TextAnswer {
  readonly #emit: Emit;
  readonly #judge: (first: TextFrame | JsonFrame) => number | null;
  #heldFrames: (TextFrame | JsonFrame | BlankFrame)[] = [];
  #heldBytes = 0;
  /** Whether the CLI might still be in text mode. */
  isPossible = true;

  /** `judge` returns the confidence that the text from this frame on is an answer, or null if it is not an answer. */
  constructor(emit: Emit, judge: (first: TextFrame | JsonFrame) => number | null) {
    this.#emit = emit;
    this.#judge = judge;
  }

  get hasLines(): boolean {
    return this.#heldFrames.length > 0;
  }

  /** Holds a frame that can be part of an answer; false if it cannot, because of its stream or of earlier records. */
  hold(frame: TextFrame | JsonFrame): boolean {
    if (frame.stream !== 'stdout' || !this.isPossible) return false;
    this.#emit({ fact: 'hold' });
    this.#add(frame);
    return true;
  }

  /** Reads a line that is not a log: part of an answer, or the rest of a record if `isDamaged`. */
  read(frame: TextFrame, isDamaged: boolean): void {
    if (isDamaged) this.reject(frame);
    if (!this.hold(frame)) this.#emit({ fact: 'unparsed' });
  }

  /** Holds a blank line between held frames. */
  blank(frame: BlankFrame): void {
    const isInside = this.#heldFrames.length > 0 && frame.stream === this.#heldFrames[0]?.stream;
    if (isInside) this.#add(frame);
  }

  /** Called when a frame shows that the CLI prints records: the held frames are damage. */
  reject(current: Frame): void {
    if (!this.isPossible) return;
    this.isPossible = false;
    if (this.#heldFrames.length === 0) return;
    this.#discard();
    this.#emit({ fact: 'frame', frame: current });
  }

  /** Called at the end of the output: decides whether the held frames are the answer. */
  end(): void {
    const [first] = this.#heldFrames;
    if (first === undefined || first.kind === 'blank') return;
    const confidence = this.#judge(first);
    if (confidence === null) {
      this.isPossible = false;
      this.#discard();
    } else this.#release(first, confidence);
  }

  #add(frame: TextFrame | JsonFrame | BlankFrame): void {
    this.#heldFrames.push(frame);
    this.#heldBytes += frame.to - frame.from;
    if (this.#heldBytes > MAX_HELD_BYTES) this.end();
  }

  #release(first: Frame, confidence: number): void {
    const lines = this.#take();
    const last = lines.findLast(({ kind }) => kind !== 'blank') ?? first;
    const text = lines.map((line) => line.text).join('\n');
    this.#emit({ fact: 'parser', name: 'generic_text' });
    this.#emit({ fact: 'frames', first, last });
    this.#emit({ fact: 'confidence', value: confidence });
    this.#emit({ fact: 'message', text: text.trimEnd() });
    if (confidence < LOW_CONFIDENCE) this.#emit({ fact: 'guess', text });
  }

  #discard(): void {
    for (const frame of this.#take()) {
      if (frame.kind === 'blank') continue;
      this.#emit({ fact: 'frame', frame });
      if (frame.kind === 'json')
        this.#emit({ fact: 'unknown_type', type: get.string(frame.value, 'type') ?? 'value without a type' });
      else this.#emit({ fact: 'unparsed' });
    }
  }

  #take(): readonly (TextFrame | JsonFrame | BlankFrame)[] {
    const lines = this.#heldFrames;
    this.#heldFrames = [];
    this.#heldBytes = 0;
    return lines;
  }
}

export interface MessageJudgement {
  /** The confidence that the text is the agent's message. */
  readonly confidence: number;
  /** The JSON value in the text, if known. */
  readonly payload?: unknown;
}

/** A message that an agent prints as plain lines: reported line by line, and in full when it is closed. */
export class LineMessage {
  readonly #emit: Emit;
  readonly #judge: (text: string) => MessageJudgement;
  readonly #key: string;
  #first: TextFrame | null = null;
  #last: TextFrame | null = null;
  #text = '';
  /** Line ends since the last text; they are added before the next text, so the message has no trailing line ends. */
  #gap = '';

  constructor(emit: Emit, judge: (text: string) => MessageJudgement, key = '') {
    this.#emit = emit;
    this.#judge = judge;
    this.#key = key;
  }

  /** Adds the next line, or the agent's part of it. Blank lines count only between others. */
  add(frame: TextFrame, text: string, confidence: number): void {
    if (text.trim() === '') return this.#skip(text);
    if (this.#first !== null && frame.to - this.#first.from > MAX_MESSAGE_LENGTH) this.close();
    this.#first ??= frame;
    this.#last = frame;
    const chunk = `${this.#gap}${text}`;
    this.#text += chunk;
    this.#gap = '\n';
    this.#emit({ fact: 'frames', first: frame, last: frame });
    this.#emit({ fact: 'confidence', value: confidence });
    this.#emit({ fact: 'delta', text: chunk, key: this.#key });
  }

  #skip(text: string): void {
    this.#emit({ fact: 'hold' });
    if (this.#first === null) return;
    this.#gap += `${text}\n`;
    if (this.#text.length + this.#gap.length > MAX_MESSAGE_LENGTH) this.close();
  }

  /** Ends the open message, if any. */
  close(): void {
    if (this.#first === null || this.#last === null) return;
    const text = this.#text;
    const { confidence, payload } = this.#judge(text);
    this.#emit({ fact: 'frames', first: this.#first, last: this.#last });
    this.#emit({ fact: 'confidence', value: confidence });
    this.#emit({ fact: 'message', text, key: this.#key, payload });
    if (confidence < LOW_CONFIDENCE) this.#emit({ fact: 'guess', text });
    this.#first = null;
    this.#last = null;
    this.#text = '';
    this.#gap = '';
  }
}
