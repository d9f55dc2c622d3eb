import type { BlankFrame, JsonFrame, TextFrame } from '../framing/frame.js';
import type { EngineName, ParserName } from '../protocol/engine-names.js';
import type { KnownFields } from '../reading/record-fields.js';
import type { Emit } from './fact.js';

/** The process's exit, or null if unknown. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/**
 * Reads the output of one agent CLI. An engine handles only that CLI's records: framing, numbering, pairing, completion
 * and FCMP events are common to all engines. `README.md` shows how to add one.
 */
export interface Engine {
  readonly name: EngineName | (string & {});
  /** The parser name on the wire, unless the reader emits another. */
  readonly parser: ParserName | (string & {});
  /** Incremented with every change to the mapping, to distinguish old events from new ones. */
  readonly parserVersion: string;
  /** `json`: records and documents, with noise between them. `text`: line by line. */
  readonly framing: 'json' | 'text';
  /**
   * The output that a successful agent always prints; if it is missing at the end, a warning is emitted. An `early`
   * session is printed while the agent runs; the first message is published once the session is known. `usage: 'after
   * step'` means that the tokens of a step are printed after it: its last message or call waits for them or for the
   * next event.
   */
  readonly guarantees: {
    readonly session: 'early' | 'late' | 'never';
    readonly endSignal: boolean;
    readonly usage?: 'after step';
  };
  /** The known fields of each shape of record; other fields are drift. Without them, fields are not checked. */
  readonly fields?: KnownFields;
  /** Whether the reader also needs the agent's input: frames of the stream `stdin`. */
  readonly readsInput?: true;
  /** The confidence that this agent printed a value: from 0 (impossible) to 1 (no other agent prints this). */
  detect(value: object): number;
  /** Returns the confidence that this agent printed a line of text. */
  detectText?(line: string): number;
  /** Returns a record's session; terminal output is merged only if it belongs to the same session. */
  readSession(value: object): string | null;
  createReader(emit: Emit): Reader;
}

/**
 * Reads the frames of one attempt in order of arrival and emits facts about them. A reader never throws, and stores only
 * unfinished items (a message being streamed, a block being collected). A frame without facts becomes raw with a
 * warning.
 */
export interface Reader {
  /** Reads a JSON object or array, on any stream. */
  json(frame: JsonFrame): void;
  /** Reads a line that is not JSON; with `framing: 'text'` every line, including blank ones. */
  text(frame: TextFrame): void;
  /** Reads a blank line, for readers that join lines of text. It must not be reported. */
  blank?(frame: BlankFrame): void;
  /** Called after the last byte: reports unfinished items. Open messages are closed automatically. */
  end(exit: ProcessExit): void;
}

/** Options for a translator. */
export interface TranslatorOptions {
  /** The engine that printed the bytes: a built-in engine or one of `engines`; `auto` detects it from the bytes. */
  readonly engine: EngineName | 'auto' | (string & {});
  /** Additional engines, created with `defineEngine`. */
  readonly engines?: readonly Engine[] | undefined;
  readonly runId: string;
  /** The number of the attempt, counted from 1. */
  readonly attempt: number;
  /** `interactive` (default): a user answers questions. `auto`: the verdict on the output decides. */
  readonly mode?: 'auto' | 'interactive' | undefined;
  /** The last FCMP number the run has used; 0 for the first attempt. */
  readonly fcmpSeq?: number | undefined;
  /** The session this attempt resumes. */
  readonly sessionId?: string | undefined;
  /** Whether an earlier attempt started the conversation, for agents that print no session id. */
  readonly isContinued?: boolean | undefined;
  /** The answer this attempt was started with. */
  readonly reply?: string | undefined;
  /** The run whose cached result is repeated. */
  readonly cachedFrom?: string | undefined;
  /** Whether the terminal is the only stream, which is then not compared with others. */
  readonly terminalOnly?: boolean | undefined;
  /** Returns milliseconds since 1970; called once per push. */
  readonly clock?: (() => number) | undefined;
}
