import type { JsonFrame } from '../../framing/frame.js';
import type { Usage } from '../../protocol/event-parts.js';
import { MAX_MESSAGE_LENGTH } from '../../reading/line-message.js';
import { readPlan } from '../../reading/read-plan.js';
import {
  getArray,
  getBoolean,
  getCount,
  getField,
  getName,
  getObject,
  getString,
  toKnownFields,
} from '../../reading/record-fields.js';
import type { Emit } from '../fact.js';
import { readFatalError } from './gemini-document.js';
import { KNOWN_FIELDS } from '../known-fields.js';

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['write_file', 'replace', 'edit']);

/** The records of `stream-json`, and the document of `json`. */
export const GEMINI_FIELDS = toKnownFields(KNOWN_FIELDS.gemini);

const ERROR_MESSAGE: ReadonlySet<string> = new Set(['message']);

/** Whether a value is a record of `stream-json`, of a known type or not. */
export function isStreamRecord(value: object): boolean {
  return getString(value, 'type') !== null && /^\d{4}-\d\d-\d\dT/u.test(getString(value, 'timestamp') ?? '');
}

/** Reads the records of `--output-format stream-json`. */
export class GeminiStream {
  readonly #emit: Emit;
  /** The first and last frame of the open message: Gemini does not mark the end of a message. */
  #first: JsonFrame | null = null;
  #last: JsonFrame | null = null;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  read(frame: JsonFrame): void {
    const record = frame.value;
    const type = getString(record, 'type') ?? '';
    if (!GEMINI_FIELDS.has(type)) return this.#emit({ fact: 'unknown_type', type });
    this.#emit({ fact: 'record', record, shape: type, isWhole: true });
    switch (type) {
      case 'init':
        return this.#emit({
          fact: 'status',
          status: type,
          session_id: getName(record, 'session_id'),
          model: getName(record, 'model'),
        });
      case 'message':
        return this.#readMessage(record, frame);
      case 'tool_use':
        return this.#readToolUse(record, frame);
      case 'tool_result':
        return this.#readToolResult(record);
      case 'error':
        return this.#readError(record);
      default:
        return this.#readResult(record, frame);
    }
  }

  /** Ends the open message, made up of the text and bytes of its deltas. */
  closeMessage(): void {
    if (this.#first === null || this.#last === null) return;
    const isOneStream = this.#first.stream === this.#last.stream;
    this.#emit({ fact: 'frames', first: isOneStream ? this.#first : this.#last, last: this.#last });
    this.#emit({ fact: 'message_end' });
    this.#first = null;
    this.#last = null;
  }

  #closeBefore(frame: JsonFrame): void {
    this.closeMessage();
    this.#emit({ fact: 'frames', first: frame, last: frame });
  }

  #readMessage(record: object, frame: JsonFrame): void {
    const role = getString(record, 'role');
    const text = getString(record, 'content');
    if (text === null) return this.#emit({ fact: 'malformed', why: 'A message has no content.' });
    // The prompt can contain the done marker, but is not a message from the agent.
    if (role === 'user')
      return this.#emit({ fact: 'status', status: 'message user', detail: { content: text }, message: text });
    if (role !== 'assistant') return this.#emit({ fact: 'unknown_type', type: `message ${role ?? 'without a role'}` });
    if (getBoolean(record, 'delta') === true) {
      const isTooLong = this.#first !== null && frame.to - this.#first.from > MAX_MESSAGE_LENGTH;
      if (isTooLong) this.#closeBefore(frame);
      this.#first ??= frame;
      this.#last = frame;
      return this.#emit({ fact: 'delta', text });
    }
    this.#closeBefore(frame);
    this.#emit({ fact: 'message', text });
  }

  #readToolUse(record: object, frame: JsonFrame): void {
    const id = getName(record, 'tool_id');
    const name = getName(record, 'tool_name');
    if (id === null || name === null)
      return this.#emit({
        fact: 'malformed',
        why: 'A tool_use has no tool_id or no tool_name.',
      });
    this.#closeBefore(frame);
    const input = getField(record, 'parameters');
    const path = WRITING_TOOLS.has(name) ? getName(getObject(record, 'parameters') ?? {}, 'file_path') : null;
    this.#emit({ fact: 'tool_started', id, name, input, paths: path === null ? [] : [path] });
    if (name === 'write_todos')
      this.#emit({
        fact: 'plan',
        entries: readPlan(getArray(getObject(record, 'parameters') ?? {}, 'todos')),
        call: id,
      });
  }

  #readToolResult(record: object): void {
    const id = getName(record, 'tool_id');
    const status = getString(record, 'status');
    if (id === null || (status !== 'success' && status !== 'error'))
      return this.#emit({
        fact: 'malformed',
        why: 'A tool_result has no tool_id or an unknown status.',
      });
    const output = getField(record, 'output');
    if (status === 'success') return this.#emit({ fact: 'tool_completed', id, output });
    const failure = getObject(record, 'error') ?? {};
    this.#emit({ fact: 'record', record: failure, used: ERROR_MESSAGE, path: 'error' });
    const error = getString(failure, 'message') ?? getString(record, 'output');
    this.#emit({ fact: 'tool_failed', id, output, error: error ?? 'The tool failed without a reason.' });
  }

  /** Reads an error, which alone does not end the run: `result` or the exit code shows whether the run failed. */
  #readError(record: object): void {
    const message = getString(record, 'message');
    if (message === null) return this.#emit({ fact: 'malformed', why: 'An error has no message.' });
    const severity = getString(record, 'severity') === 'warning' ? 'warning' : 'error';
    this.#emit({ fact: 'error', message, severity });
  }

  #readResult(record: object, frame: JsonFrame): void {
    const status = getString(record, 'status');
    if (status !== 'success' && status !== 'error')
      return this.#emit({ fact: 'malformed', why: 'A result has an unknown status.' });
    this.#closeBefore(frame);
    const stats = getObject(record, 'stats');
    const statsFields = stats === null ? undefined : { usage: readStats(stats, this.#emit), detail: { stats } };
    this.#emit({ fact: 'status', status: 'result', reason: status, ...statsFields, isLast: true });
    if (status === 'success') return this.#emit({ fact: 'end_signal', signal: 'GEMINI_STREAM_RESULT_SUCCESS' });
    readFatalError(getObject(record, 'error') ?? {}, this.#emit);
  }
}

/** Reads the token counts of this invocation, not of the session: a resumed session starts at zero. */
function readStats(stats: object, emit: Emit): Usage {
  emit({ fact: 'record', record: stats, shape: 'result.stats' });
  const cached = getCount(stats, 'cached');
  const total = getCount(stats, 'total_tokens');
  const [model, another] = Object.keys(getObject(stats, 'models') ?? {});
  return {
    scope: 'turn',
    input_tokens: getCount(stats, 'input_tokens') ?? 0,
    output_tokens: getCount(stats, 'output_tokens') ?? 0,
    ...(cached === null ? undefined : { cached_input_tokens: cached }),
    ...(total === null ? undefined : { total_tokens: total }),
    ...(model === undefined || model === '' || another !== undefined ? undefined : { model }),
  };
}
