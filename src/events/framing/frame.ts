import type { CapturedStream, RAW_ENCODINGS } from '../protocol/event-parts.js';

/** The reason why text that starts like a JSON value is not valid JSON. */
export type FrameProblem = 'truncated' | 'too_deep' | 'too_long';

interface Span {
  readonly stream: CapturedStream;
  /** First byte of the frame. Frames of a stream follow each other without a gap. */
  readonly from: number;
  /** First byte after the frame; line ends, escape sequences and blanks around it belong to the frame. */
  readonly to: number;
  readonly encoding: (typeof RAW_ENCODINGS)[number];
}

/** A complete JSON object or array. `text` is its source, without escape sequences. */
export interface JsonFrame extends Span {
  readonly kind: 'json';
  readonly value: object;
  readonly text: string;
}

/** A line, or part of a line, that is not a JSON value. */
export interface TextFrame extends Span {
  readonly kind: 'text';
  readonly text: string;
  readonly problem: FrameProblem | null;
}

/** The header or footer that `script` writes around a terminal recording. */
interface ScriptFrame extends Span {
  readonly kind: 'script';
  readonly text: string;
}

/** Only line ends, blanks and escape sequences. */
export interface BlankFrame extends Span {
  readonly kind: 'blank';
  readonly text: '';
}

/** The smallest unit of a stream that an event can be derived from. Every byte is in exactly one frame. */
export type Frame = JsonFrame | TextFrame | ScriptFrame | BlankFrame;
