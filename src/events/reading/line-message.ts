import type { Emit } from '../engines/fact.js';
import type { TextFrame } from '../framing/frame.js';

/** The maximum length of a message joined from lines; endless output becomes multiple messages. */
export const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;

/** Below this confidence a message is a guess: its text is also reported as raw, with a warning. */
export const LOW_CONFIDENCE = 0.5;

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
