import type { Report } from '../engines/report.js';
import type { TextFrame } from '../framing/frame.js';

/** Longest message that is put together from pieces; a program that never stops talking gets several. */
export const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;

/** Under this a reading is a guess: its text is reported as raw too, with a warning. */
export const LOW_CONFIDENCE = 0.5;

/** The judgement of a whole text. */
export interface MessageJudgement {
  /** The confidence that the text is the agent's message. */
  readonly confidence: number;
  /** The JSON value the text holds, where that is known. */
  readonly payload?: unknown;
}

/**
 * A message that a program prints as plain lines, with nothing around them: reported line by line, and as a whole when it
 * is closed.
 *
 * @example
 * const message = new LineMessage(report, () => ({ confidence: 0.6 }))
 * message.say(frame, frame.text, 0.6)
 * message.close()
 */
export class LineMessage {
  readonly #report: Report;
  readonly #judge: (text: string) => MessageJudgement;
  readonly #key: string;
  #first: TextFrame | null = null;
  #last: TextFrame | null = null;
  #text = '';
  /** Line ends since the last word: reported with the next one, so that none are reported at the end. */
  #gap = '';

  constructor(report: Report, judge: (text: string) => MessageJudgement, key = '') {
    this.#report = report;
    this.#judge = judge;
    this.#key = key;
  }

  /** The next line, or the part of it that is the agent's. */
  say(frame: TextFrame, text: string, confidence: number): void {
    if (this.#first !== null && frame.to - this.#first.from > MAX_MESSAGE_LENGTH) this.close();
    this.#first ??= frame;
    this.#last = frame;
    const piece = `${this.#gap}${text}`;
    this.#text += piece;
    this.#gap = '\n';
    this.#report.spanning(frame, frame);
    this.#report.confidence(confidence);
    this.#report.messageDelta(piece, { key: this.#key });
  }

  /** A line without a word. */
  skip(text: string): void {
    this.#report.hold();
    if (this.#first === null) return;
    this.#gap += `${text}\n`;
    if (this.#text.length + this.#gap.length > MAX_MESSAGE_LENGTH) this.close();
  }

  /** Ends the message; nothing if none is open. */
  close(): void {
    if (this.#first === null || this.#last === null) return;
    const text = this.#text;
    const { confidence, payload } = this.#judge(text);
    this.#report.spanning(this.#first, this.#last);
    this.#report.confidence(confidence);
    this.#report.message(text, { key: this.#key, payload });
    if (confidence < LOW_CONFIDENCE) this.#report.lowConfidence(text);
    this.#first = null;
    this.#last = null;
    this.#text = '';
    this.#gap = '';
  }
}
