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
} from '../../reading/record-fields.js';
import type { Report } from '../report.js';
import { readFatalError } from './gemini-document.js';
import { RECORD_FIELDS, STREAM_STATS_FIELDS } from './records.js';

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['write_file', 'replace', 'edit']);

/** Fields that are already in events, and the timestamp, which matches the event time. */
const USED_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'timestamp',
  'session_id',
  'model',
  'role',
  'content',
  'delta',
  'tool_id',
  'tool_name',
  'parameters',
  'status',
  'output',
  'message',
  'severity',
  'stats',
  'error',
]);

const ERROR_MESSAGE: ReadonlySet<string> = new Set(['message']);

/** Whether a value is a record of `stream-json`, of a known type or not. */
export function isStreamRecord(value: object): boolean {
  return getString(value, 'type') !== null && /^\d{4}-\d\d-\d\dT/u.test(getString(value, 'timestamp') ?? '');
}

/** Reads the records of `--output-format stream-json`. */
export class GeminiStream {
  readonly #report: Report;
  /** The first and last frame of the open message: Gemini does not mark the end of a message. */
  #first: JsonFrame | null = null;
  #last: JsonFrame | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  read(frame: JsonFrame): void {
    const record = frame.value;
    const type = getString(record, 'type') ?? '';
    const knownFields = RECORD_FIELDS[type];
    if (knownFields === undefined) return this.#report.unknownType(type);
    this.#report.checkFields(record, knownFields, type);
    this.#report.keepUnusedFields(record, USED_FIELDS);
    switch (type) {
      case 'init':
        return this.#report.status({
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
    this.#report.setFrames(isOneStream ? this.#first : this.#last, this.#last);
    this.#report.closeMessage();
    this.#first = null;
    this.#last = null;
  }

  #closeBefore(frame: JsonFrame): void {
    this.closeMessage();
    this.#report.setFrames(frame, frame);
  }

  #readMessage(record: object, frame: JsonFrame): void {
    const role = getString(record, 'role');
    const text = getString(record, 'content');
    if (text === null) return this.#report.unparsed('MALFORMED_RECORD', 'A message has no content.');
    // The prompt can contain the done marker, but is not a message from the agent.
    if (role === 'user') return this.#report.status({ status: 'message user', detail: { content: text } });
    if (role !== 'assistant') return this.#report.unknownType(`message ${role ?? 'without a role'}`);
    if (getBoolean(record, 'delta') === true) {
      const isTooLong = this.#first !== null && frame.to - this.#first.from > MAX_MESSAGE_LENGTH;
      if (isTooLong) this.#closeBefore(frame);
      this.#first ??= frame;
      this.#last = frame;
      return this.#report.messageDelta(text);
    }
    this.#closeBefore(frame);
    this.#report.message(text);
  }

  #readToolUse(record: object, frame: JsonFrame): void {
    const id = getName(record, 'tool_id');
    const name = getName(record, 'tool_name');
    if (id === null || name === null)
      return this.#report.unparsed('MALFORMED_RECORD', 'A tool_use has no tool_id or no tool_name.');
    this.#closeBefore(frame);
    const input = getField(record, 'parameters');
    const path = WRITING_TOOLS.has(name) ? getName(getObject(record, 'parameters') ?? {}, 'file_path') : null;
    this.#report.toolStarted({ id, name, input, paths: path === null ? [] : [path] });
    if (name === 'write_todos')
      this.#report.plan(readPlan(getArray(getObject(record, 'parameters') ?? {}, 'todos')), { call: id });
  }

  #readToolResult(record: object): void {
    const id = getName(record, 'tool_id');
    const status = getString(record, 'status');
    if (id === null || (status !== 'success' && status !== 'error'))
      return this.#report.unparsed('MALFORMED_RECORD', 'A tool_result has no tool_id or an unknown status.');
    const output = getField(record, 'output');
    if (status === 'success') return this.#report.toolCompleted({ id, output });
    const failure = getObject(record, 'error') ?? {};
    this.#report.keepUnusedFields(failure, ERROR_MESSAGE, 'error');
    const error = getString(failure, 'message') ?? getString(record, 'output');
    this.#report.toolFailed({ id, output, error: error ?? 'The tool failed without a reason.' });
  }

  /** Reads an error, which alone does not end the run: `result` or the exit code shows whether the run failed. */
  #readError(record: object): void {
    const message = getString(record, 'message');
    if (message === null) return this.#report.unparsed('MALFORMED_RECORD', 'An error has no message.');
    const severity = getString(record, 'severity') === 'warning' ? 'warning' : 'error';
    this.#report.engineError({ message, severity });
  }

  #readResult(record: object, frame: JsonFrame): void {
    const status = getString(record, 'status');
    if (status !== 'success' && status !== 'error')
      return this.#report.unparsed('MALFORMED_RECORD', 'A result has an unknown status.');
    this.#closeBefore(frame);
    const stats = getObject(record, 'stats');
    const statsFields = stats === null ? undefined : { usage: readStats(stats, this.#report), detail: { stats } };
    this.#report.status({ status: 'result', reason: status, ...statsFields });
    if (status === 'success') return this.#report.endSignal('GEMINI_STREAM_RESULT_SUCCESS');
    readFatalError(getObject(record, 'error') ?? {}, this.#report);
  }
}

/** Reads the token counts of this invocation, not of the session: a resumed session starts at zero. */
function readStats(stats: object, report: Report): Usage {
  report.checkFields(stats, STREAM_STATS_FIELDS, 'result.stats');
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
