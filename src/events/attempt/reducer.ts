import type { Fact } from '../engines/fact.js';
import type { Engine, ProcessExit, Reader } from '../engines/engine.js';
import type { BlankFrame, Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import { boundDetail } from '../mapping/bound-detail.js';
import type { EventWriter } from '../mapping/event-writer.js';
import type { EndSignal } from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import { perStream, type FailureCause, type Usage } from '../protocol/event-parts.js';
import { BoundedMap } from '../reading/bounded-map.js';
import { omitMissing, toNames } from '../reading/record-fields.js';
import { Drift, MAX_NAME, RecordFacts } from './record-facts.js';
import { toEngineErrorData, boundMessage, copyStart } from './engine-error.js';
import { Messages } from './messages.js';
import { Session } from './session.js';
import { ToolCalls } from './tool-calls.js';
import { UsageTotals } from './usage-totals.js';

/** The maximum text length in a raw event; its `raw_ref` covers all bytes. */
const MAX_RAW_TEXT = 64 * 1024;

/** The confidence of a frame that could not be parsed. */
const RAW_CONFIDENCE = 0.3;

/** The confidence that a record with unknown fields was read completely. */
const DRIFT_CONFIDENCE = 0.5;

const NO_MESSAGE = 'The engine reported an error without a message.';

/** Limit on open permission requests; a malicious agent could send them endlessly. */
const MAX_REQUESTS = 1024;

const PROBLEM_CODES = {
  truncated: 'TRUNCATED_RECORD',
  too_deep: 'VALUE_TOO_DEEP',
  too_long: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW',
} as const;

/** The facts that explain the frame they are about. An answered permission request is one too, if it was open. */
const EXPLAINING = toNames(
  'status delta message reasoning tool_started tool_completed tool_failed plan permission_required error hold',
);

/** The last fact of each kind, used to judge how an attempt ended. */
export interface Outcome {
  readonly endSignal: EndSignal | null;
  /** The engine's message about the error that ended its work. */
  readonly runtimeError: string | null;
  /** The engine's last message about any error, which explains an exit code. */
  readonly lastError: string | null;
  /** The cause of `lastError`, until the agent continues: its HTTP status can name it more precisely than its message. */
  readonly lastCause: FailureCause | null;
}

interface CollectedEvidence extends Outcome {
  readonly lastMessage: string;
  readonly usage: Usage | null;
}

/** Turns the facts of an engine's reader into events, and collects evidence of how the attempt ended. */
export class Reducer {
  readonly #writer: EventWriter;
  readonly #reader: Reader;
  readonly session: Session;
  readonly messages: Messages;
  readonly tools: ToolCalls;
  readonly drift: Drift;
  readonly facts: RecordFacts;
  #usage = new UsageTotals();
  #hasActed = false;
  #outcome: { -readonly [Key in keyof Outcome]: Outcome[Key] } = {
    endSignal: null,
    runtimeError: null,
    lastError: null,
    lastCause: null,
  };
  /** Whether the engine prints plain text instead of records; plain text has no end signal. */
  isPlainText = false;
  /** Whether the last record on stdout is incomplete. */
  isCutOff = false;
  /** The interaction ids of the open permission requests. */
  readonly #interactions = new BoundedMap<string | number, string>(MAX_REQUESTS);
  #requestCount = 0;

  #frame: Frame | null = null;
  readonly #endsUnparsed = perStream(() => false);
  #followsUnparsed = false;
  /** Whether a fact explains the frame; otherwise it becomes raw. */
  #isHandled = true;
  /** Whether the frame was already emitted as raw; a frame with multiple unknown records is emitted once. */
  #isRaw = false;
  #unusedFields: Record<string, unknown> | null = null;

  constructor(engine: Engine, writer: EventWriter) {
    this.#writer = writer;
    this.session = new Session(writer);
    this.messages = new Messages(writer);
    this.tools = new ToolCalls(writer);
    this.drift = new Drift(engine);
    this.facts = new RecordFacts(writer);
    this.#reader = engine.createReader((fact) => this.add(fact));
  }

  get evidence(): CollectedEvidence {
    return { ...this.#outcome, lastMessage: this.messages.last, usage: this.#usage.total };
  }

  set evidence({ lastMessage, usage, ...outcome }: CollectedEvidence) {
    this.#outcome = outcome;
    this.messages.last = lastMessage;
    this.#usage = new UsageTotals(usage);
  }

  /** Whether the agent has printed a message, a thought or a plan, or has called a tool. */
  get hasActivity(): boolean {
    return this.messages.hasAny || this.tools.hasAny || this.#hasActed;
  }

  read(frame: JsonFrame | TextFrame): void {
    this.#openFrame(frame);
    if (frame.kind === 'json') this.#reader.json(frame);
    else this.#reader.text(frame);
    this.#closeFrame(frame);
  }

  /** Passes a blank line to the reader. It is not an event, but readers that join lines need it. */
  readBlank(frame: BlankFrame): void {
    this.#reader.blank?.(frame);
  }

  /** Emits a frame that is not the engine's output as raw, without a warning. */
  setAside(frame: Frame): void {
    this.#openFrame(frame);
    this.#raw(frame.text);
  }

  #openFrame(frame: Frame): void {
    this.#frame = frame;
    this.#followsUnparsed = this.#endsUnparsed[frame.stream];
    this.#endsUnparsed[frame.stream] = false;
    if (frame.stream === 'stdout') this.isCutOff = frame.kind === 'text' && frame.problem === 'truncated';
    this.#setReference(frame, frame, frame.encoding);
    this.#writer.confidence = 1;
    this.#writer.mark();
    this.#unusedFields = null;
    this.facts.clear();
    this.#isHandled = false;
    this.#isRaw = false;
  }

  /** Ends a frame. If no fact explains it, it becomes raw with a warning, so nothing is lost. */
  #closeFrame(frame: Frame): void {
    if (!this.#isHandled) this.#unparsed(undefined, undefined);
    if (this.#unusedFields !== null && !this.#isRaw) this.#writer.addDetail(this.#unusedFields);
    this.#emitUnknownFields();
    if (frame.kind === 'json' && frame.encoding === 'binary') this.#writer.warn('INVALID_UTF8');
  }

  /** Called after the last frame: later events are not based on any bytes. */
  end(exit: ProcessExit): void {
    this.#reader.end(exit);
    this.messages.closeAll();
    this.#frame = null;
    this.#writer.rawRef = null;
    this.facts.end();
    this.#writer.confidence = 1;
    this.#isHandled = true;
    this.tools.endAll();
  }

  add(fact: Fact): void {
    if (EXPLAINING.has(fact.fact)) this.#isHandled = true;
    const writer = this.#writer;
    const outcome = this.#outcome;
    switch (fact.fact) {
      case 'status':
        if (fact.usage !== null && fact.usage !== undefined) this.#usage.add(fact.usage);
        if (fact.isLast === true) this.facts.keepLast();
        return this.session.status(fact, this.facts.version);
      case 'session':
        if (fact.id !== null && (fact.id !== writer.sessionId || !this.session.isStarted))
          this.session.announce(fact.id);
        return;
      case 'version':
        this.facts.version = fact.version ?? this.facts.version;
        return;
      case 'delta':
        return this.messages.delta(fact.text, fact);
      case 'message':
        // Qwen Code repeats an error as the agent's last message, which is not an answer.
        if (!fact.text.includes(outcome.lastError ?? '')) outcome.lastCause = null;
        return this.messages.final(fact.text, fact, fact.payload);
      case 'message_end':
        return this.messages.close(fact);
      case 'reasoning': {
        this.#hasActed = true;
        const { text, id, partial, parent } = fact;
        const options = { reasoning_id: id, partial: partial === true ? true : null, parent_tool_call_id: parent };
        return writer.write('agent.reasoning.summary', { text, ...omitMissing(options) });
      }
      case 'tool_started':
        outcome.lastCause = null;
        return this.tools.start(fact);
      case 'tool_completed':
        return this.tools.complete(fact);
      case 'tool_failed':
        return this.tools.fail(fact);
      case 'plan': {
        this.#hasActed = true;
        const { entries, call, parent } = fact;
        const data = { entries, ...omitMissing({ tool_call_id: call, parent_tool_call_id: parent }) };
        return writer.write('agent.plan', data, call === undefined ? {} : { tool_call_id: call });
      }
      case 'step':
        writer.step = omitMissing({ model: fact.model === '' ? null : fact.model, usage: fact.usage });
        return;
      case 'step_ended':
        return writer.endStep(fact.usage);
      case 'permission_required':
        return this.#requirePermission(fact);
      case 'permission_replied':
        return this.#replyPermission(fact);
      case 'error': {
        // Some engines end with an error that has no message; the one before explains it.
        const isEmpty = fact.message.trim() === '';
        const message = isEmpty ? (outcome.lastError ?? NO_MESSAGE) : fact.message;
        const data = toEngineErrorData({ ...fact, message });
        // Qwen Code prints the reason of a retry once, then records of the retry without it.
        const cause = data.cause ?? (isEmpty || data.retrying ? outcome.lastCause : null);
        outcome.lastError = data.message;
        // A warning does not explain why the engine exits.
        if (data.severity === 'error' || data.retrying) outcome.lastCause = cause;
        writer.write('diagnostic.engine.error', { ...data, ...omitMissing({ cause }) });
        return fact.isFatal === true ? this.#fail(message) : undefined;
      }
      case 'failure':
        return this.#fail(fact.message);
      case 'turn_started':
        outcome.endSignal = null;
        outcome.runtimeError = null;
        // An error of an earlier turn does not explain the failure of this one.
        outcome.lastCause = null;
        return;
      case 'end_signal':
        outcome.endSignal = fact.signal;
        return;
      case 'record':
        if (fact.shape !== undefined) this.drift.check(fact.record, fact.shape);
        if (fact.isWhole === true) this.facts.read(fact.record);
        return fact.used === undefined ? undefined : this.#keepUnused(fact.record, fact.used, fact.path);
      case 'noise':
        return this.#frame === null ? undefined : this.#raw(this.#frame.text);
      case 'hold':
        return;
      case 'unparsed':
        return this.#unparsed(fact.code, fact.message);
      case 'malformed':
        return this.#unparsed('MALFORMED_RECORD', fact.why);
      case 'unknown_type': {
        const name = copyStart(fact.type, MAX_NAME);
        this.drift.addType(name);
        const message = `The engine printed the unknown type ${JSON.stringify(name)}; it is in a raw event.`;
        return this.#unparsed('UNKNOWN_EVENT_TYPE', message);
      }
      case 'warning': {
        const { code, message, subject, confidence } = fact;
        return writer.warn(code, message, omitMissing({ subject, confidence }));
      }
      case 'frame':
        return this.#openFrame(fact.frame);
      case 'frames': {
        const { first, last } = fact;
        // The fields of the current record do not belong to an event of an earlier one.
        this.facts.select(last === this.#frame);
        return this.#setReference(first, last, first.encoding === 'binary' ? 'binary' : last.encoding);
      }
      case 'confidence':
        writer.confidence = fact.value;
        return;
      case 'guess':
        this.#raw(fact.text);
        return writer.warn('LOW_CONFIDENCE_PARSE', undefined, { confidence: writer.confidence });
      case 'parser':
        this.isPlainText = fact.name === 'generic_text';
        writer.parser = fact.name;
    }
  }

  #requirePermission({ request, call, title, options }: Extract<Fact, { fact: 'permission_required' }>): void {
    this.#requestCount += 1;
    const id = `px_${this.#writer.attempt}_${this.#requestCount}`;
    this.#interactions.set(request, id);
    this.tools.start(call);
    const { name, input, ...rest } = this.tools.describe(call);
    const data = {
      interaction_id: id,
      tool_call_id: call.id,
      tool: name,
      input: input ?? (title === undefined ? {} : { title }),
      options,
      ...rest,
    };
    this.#writer.write('interaction.permission.required', data, { interaction_id: id, tool_call_id: call.id });
  }

  #replyPermission({ request, decision, optionId, by, who, why }: Extract<Fact, { fact: 'permission_replied' }>): void {
    const id = this.#interactions.get(request);
    if (id === undefined) return;
    this.#isHandled = true;
    this.#interactions.delete(request);
    const data = { interaction_id: id, decision, option_id: optionId, by, ...omitMissing({ who, why }) };
    this.#writer.write('interaction.permission.replied', data, { interaction_id: id });
  }

  #fail(message: string): void {
    const outcome = this.#outcome;
    outcome.runtimeError = message.trim() === '' ? (outcome.lastError ?? NO_MESSAGE) : boundMessage(message);
  }

  #keepUnused(record: object, used: ReadonlySet<string>, path: string | undefined): void {
    for (const key in record) {
      if (used.has(key)) continue;
      this.#unusedFields ??= {};
      const value = (record as Readonly<Record<string, unknown>>)[key];
      this.#unusedFields[path === undefined ? key : `${path}.${key}`] = value;
    }
  }

  /** Emits the unknown fields of the frame as a raw event, so their values are not lost, with a warning about new ones. */
  #emitUnknownFields(): void {
    const unknown = this.drift.takeFields();
    if (unknown === null) return;
    const { confidence } = this.#writer;
    this.#writer.confidence = DRIFT_CONFIDENCE;
    this.#writer.keepsWaiting = true;
    if (unknown.values !== null && !this.#isRaw) this.#raw(JSON.stringify(boundDetail(unknown.values)));
    for (const path of unknown.newPaths) {
      const message = `The engine printed the unknown field ${JSON.stringify(path)}; its value is in a raw event.`;
      this.#writer.warn('UNKNOWN_FIELD', message, { subject: path, confidence: DRIFT_CONFIDENCE });
    }
    this.#writer.keepsWaiting = false;
    this.#writer.confidence = confidence;
  }

  #raw(text: string): void {
    this.#isHandled = true;
    const stream = this.#writer.rawRef?.stream;
    if (stream === undefined || stream === 'stdin') return;
    const isShort = text.length <= MAX_RAW_TEXT;
    const data = isShort ? { text } : { text: copyStart(text, MAX_RAW_TEXT), shortened: true };
    this.#writer.write(`raw.${stream}`, data);
    if (!isShort) this.#writer.warn('RAW_TEXT_SHORTENED');
  }

  #unparsed(code: DiagnosticCode | undefined, message: string | undefined): void {
    const frame = this.#frame;
    if (frame === null) return;
    const problem = frame.kind === 'text' ? frame.problem : null;
    const reason = code ?? (problem === null ? 'UNPARSED_CONTENT_FELL_BACK_TO_RAW' : PROBLEM_CODES[problem]);
    const confidence = this.#writer.confidence;
    this.#writer.confidence = RAW_CONFIDENCE;
    if (!this.#isRaw) this.#raw(frame.text);
    this.#isRaw = true;
    this.#endsUnparsed[frame.stream] = true;
    // Only the first of consecutive unparseable lines gets a warning.
    if (!this.#followsUnparsed || reason !== 'UNPARSED_CONTENT_FELL_BACK_TO_RAW') {
      this.#writer.warn(reason, message, { confidence: RAW_CONFIDENCE });
      if (frame.kind === 'text' && frame.encoding === 'binary') this.#writer.warn('INVALID_UTF8');
    }
    // Other records of the same frame keep their confidence.
    this.#writer.confidence = confidence;
  }

  #setReference(first: Frame, last: Frame, encoding: Frame['encoding']): void {
    this.#writer.rawRef = {
      attempt_number: this.#writer.attempt,
      stream: first.stream,
      byte_from: first.from,
      byte_to: last.to,
      encoding,
    };
  }
}
