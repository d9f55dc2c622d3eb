import type { BlankFrame, JsonFrame, TextFrame } from '../framing/frame.js';
import type { EngineName, ParserName } from '../protocol/engine-names.js';
import type { Report } from './report.js';

/** How the process ended; null where it is not known. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/**
 * How the output of one agent program is read. An engine knows the program's words and nothing else: cutting bytes,
 * numbering, pairing, completion and FCMP belong to the core. `README.md` shows how to add one.
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
   * What the program prints whenever all goes well: its absence at the end is worth a warning. A session that is named
   * `early`, while the program runs, is waited for before the first message is published. Where the tokens of a step are
   * reported only after it, the last message or call of a step waits for them or for the next event.
   */
  readonly promises: {
    readonly session: 'early' | 'late' | 'never';
    readonly endSignal: boolean;
    readonly usage?: 'after step';
  };
  /** Whether its reader also wants what was sent to the program: frames of the stream `stdin`. */
  readonly readsInput?: true;
  /**
   * How surely a JSON value was printed by this program, from 0 (not at all) to 1 (no other program prints this). Decides
   * `engine: 'auto'`; above 0, the value is cut out of the text around it.
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
