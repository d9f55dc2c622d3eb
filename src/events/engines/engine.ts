import type { BlankFrame, JsonFrame, TextFrame } from '../framing/frame.js';
import type { EngineName, ParserName } from '../protocol/engine-names.js';
import type { Report } from './report.js';

/** Exit of the process; null if unknown. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/**
 * Reads the output of one agent program. An engine only knows the records of its program: framing, numbering, pairing,
 * completion and FCMP belong to the core. `README.md` shows how to add one.
 */
export interface Engine {
  readonly name: EngineName | (string & {});
  /** The parser's name on the wire, unless the reader names another with `report.parser`. */
  readonly parser: ParserName | (string & {});
  /** Raised with every change of the mapping, so that old events can be distinguished from new ones. */
  readonly parserVersion: string;
  /** `json`: records and documents, with noise between them. `text`: line by line. */
  readonly framing: 'json' | 'text';
  /**
   * Output that a successful program always prints: its absence at the end causes a warning. If a session is named `early`,
   * while the program runs, the first message is published after it. If the tokens of a step are reported only after it,
   * the last message or call of a step waits for them or for the next event.
   */
  readonly promises: {
    readonly session: 'early' | 'late' | 'never';
    readonly endSignal: boolean;
    readonly usage?: 'after step';
  };
  /** Whether its reader also wants what was sent to the program: frames of the stream `stdin`. */
  readonly readsInput?: true;
  /**
   * Returns the confidence that this program printed a JSON value, from 0 (impossible) to 1 (no other program prints this).
   * Decides `engine: 'auto'`; above 0, the value is cut out of the text around it.
   */
  detect(value: object): number;
  /** The same for a line of text. */
  detectText?(line: string): number;
  /** The session a record names, without reading it: a terminal is merged only if its session is the same. */
  readSession(value: object): string | null;
  createReader(report: Report): Reader;
}

/**
 * Reads the frames of one attempt in the order in which they came and says what they mean. A reader never throws and
 * keeps no more than what is open (a message being written, a block being collected). What it says nothing about
 * becomes raw with a warning.
 */
export interface Reader {
  /** A JSON object or array, on whichever stream. */
  json(frame: JsonFrame): void;
  /** A line that is not JSON; with `framing: 'text'` every line, blank ones too. */
  text(frame: TextFrame): void;
  /** A blank line, for readers that put text together again: say nothing about it. */
  blank?(frame: BlankFrame): void;
  /** All bytes have come; report what was being collected. Messages left open are closed by the core. */
  end(exit: ProcessExit): void;
}
