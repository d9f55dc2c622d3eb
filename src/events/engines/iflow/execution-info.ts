import type { TextFrame } from '../../framing/frame.js';
import { readJson } from '../../framing/segment-line.js';
import type { Usage } from '../../protocol/event-parts.js';
import { getCount, getField, isRecord, getName, getObject } from '../../reading/record-fields.js';
import type { Emit } from '../fact.js';

/** Confidence in values from a JSON block, from a regular expression, and from a broken block. */
const BLOCK_CONFIDENCE = 0.8;
const REGEX_CONFIDENCE = 0.7;
const BROKEN_CONFIDENCE = 0.3;

/** The maximum length of a block; real blocks have a few hundred bytes. */
const MAX_BLOCK_CHARS = 256 * 1024;

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
  close(frame: TextFrame, emit: Emit): void {
    this.#last = frame;
    const info = readJson(this.#text.trim());
    if (isRecord(info)) this.#emit(info, emit);
    else this.abandon(emit);
    emit({ fact: 'end_signal', signal: 'IFLOW_EXECUTION_INFO_CLOSED' });
  }

  /** Reports a truncated or broken block as a raw event; its session id can still be found. */
  abandon(emit: Emit): void {
    emit({ fact: 'frames', first: this.#first, last: this.#last });
    const session_id = findSessionId(this.#text);
    if (session_id !== null) {
      emit({ fact: 'confidence', value: REGEX_CONFIDENCE });
      emit({ fact: 'status', status: 'execution_info', session_id });
    }
    emit({ fact: 'confidence', value: BROKEN_CONFIDENCE });
    emit({ fact: 'guess', text: this.#text });
    emit({
      fact: 'warning',
      code: 'IFLOW_EXECUTION_INFO_PARSE_FAILED',
      message: 'The <Execution Info> block cannot be parsed; it is in a raw event.',
      confidence: BROKEN_CONFIDENCE,
    });
  }

  #emit(info: object, emit: Emit): void {
    emit({ fact: 'frames', first: this.#first, last: this.#last });
    emit({ fact: 'confidence', value: BLOCK_CONFIDENCE });
    emit({ fact: 'record', record: info, shape: '<Execution Info>' });
    emit({
      fact: 'status',
      status: 'execution_info',
      session_id: getName(info, 'session-id'),
      usage: readTokens(info, emit),
      detail: {
        conversation_id: getField(info, 'conversation-id'),
        assistant_rounds: getField(info, 'assistantRounds'),
        execution_time_ms: getField(info, 'executionTimeMs'),
      },
    });
  }
}

/** Reads this invocation's token counts. */
function readTokens(info: object, emit: Emit): Usage | null {
  const tokens = getObject(info, 'tokenUsage');
  if (tokens === null) return null;
  emit({ fact: 'record', record: tokens, shape: '<Execution Info>.tokenUsage' });
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
