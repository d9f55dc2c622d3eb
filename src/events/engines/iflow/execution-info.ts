import type { TextFrame } from '../../framing/frame.js';
import { readJson } from '../../framing/segment-line.js';
import type { Usage } from '../../protocol/event-parts.js';
import { getCount, getField, isRecord, getName, getObject } from '../../reading/record-fields.js';
import type { Report } from '../report.js';

/** Confidence in values from a JSON block, from a regular expression, and from a broken block. */
const BLOCK_CONFIDENCE = 0.8;
const REGEX_CONFIDENCE = 0.7;
const BROKEN_CONFIDENCE = 0.3;

/** The maximum length of a block; real blocks have a few hundred bytes. */
const MAX_BLOCK_CHARS = 256 * 1024;

const INFO_FIELDS: ReadonlySet<string> = new Set([
  'session-id',
  'conversation-id',
  'assistantRounds',
  'executionTimeMs',
  'tokenUsage',
]);

const TOKEN_FIELDS: ReadonlySet<string> = new Set(['input', 'output', 'total']);

/** An `<Execution Info>` block whose end has not arrived yet. */
export class ExecutionInfo {
  readonly #first: TextFrame;
  #last: TextFrame;
  #text = '';

  constructor(first: TextFrame) {
    this.#first = first;
    this.#last = first;
  }

  /** Adds a chunk of the block; returns false if it is too long to be a block. */
  add(frame: TextFrame, text: string): boolean {
    this.#last = frame;
    this.#text += text;
    return this.#text.length <= MAX_BLOCK_CHARS;
  }

  /** Ends the block at its closing tag. The invocation has ended even if the block cannot be parsed. */
  close(frame: TextFrame, report: Report): void {
    this.#last = frame;
    const info = readJson(this.#text.trim());
    if (isRecord(info)) this.#emit(info, report);
    else this.abandon(report);
    report.endSignal('IFLOW_EXECUTION_INFO_CLOSED');
  }

  /** Reports a truncated or broken block as a raw event; its session id can still be found. */
  abandon(report: Report): void {
    report.setFrames(this.#first, this.#last);
    const session_id = findSessionId(this.#text);
    if (session_id !== null) {
      report.confidence(REGEX_CONFIDENCE);
      report.status({ status: 'execution_info', session_id });
    }
    report.confidence(BROKEN_CONFIDENCE);
    report.lowConfidence(this.#text);
    report.warning(
      'IFLOW_EXECUTION_INFO_PARSE_FAILED',
      'The <Execution Info> block cannot be parsed; it is in a raw event.',
    );
  }

  #emit(info: object, report: Report): void {
    report.setFrames(this.#first, this.#last);
    report.confidence(BLOCK_CONFIDENCE);
    report.checkFields(info, INFO_FIELDS, '<Execution Info>');
    report.status({
      status: 'execution_info',
      session_id: getName(info, 'session-id'),
      usage: readTokens(info, report),
      detail: {
        conversation_id: getField(info, 'conversation-id'),
        assistant_rounds: getField(info, 'assistantRounds'),
        execution_time_ms: getField(info, 'executionTimeMs'),
      },
    });
  }
}

/** Reads this invocation's token counts. */
function readTokens(info: object, report: Report): Usage | null {
  const tokens = getObject(info, 'tokenUsage');
  if (tokens === null) return null;
  report.checkFields(tokens, TOKEN_FIELDS, '<Execution Info>.tokenUsage');
  const total = getCount(tokens, 'total');
  return {
    scope: 'turn',
    input_tokens: getCount(tokens, 'input') ?? 0,
    output_tokens: getCount(tokens, 'output') ?? 0,
    ...(total === null ? undefined : { total_tokens: total }),
  };
}

/** Finds the session id in a block that is not valid JSON. */
function findSessionId(text: string): string | null {
  return /"session-id"\s*:\s*"([\w-]{1,200})"/u.exec(text)?.[1] ?? null;
}
