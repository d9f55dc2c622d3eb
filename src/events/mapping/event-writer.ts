import type { Correlation, RawRef, Usage } from '../protocol/event-parts.js';
import { DIAGNOSTIC_CODES } from '../protocol/diagnostic-codes.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { Emitted } from '../protocol/translator-output.js';
import { FCMP_VERSION } from '../protocol/fcmp-event.js';
import type { FcmpData, FcmpEvent, FcmpType } from '../protocol/fcmp-event.js';
import { RASP_TYPES, RASP_VERSION, getCategory } from '../protocol/rasp-event.js';
import type { RaspData, RaspEvent, RaspSource, RaspType } from '../protocol/rasp-event.js';
import { isRecord } from '../reading/record-fields.js';
import { boundDetail } from './bound-detail.js';
import { toFcmp } from './fcmp-mapping.js';
import type { FcmpFact } from './fcmp-mapping.js';

/** The one thing an event is about, besides its session. */
type Subject = Omit<Correlation, 'session_id'>;

const NO_SUBJECT: Subject = {};

/** `event` of every type, shared by all events of it. */
const EVENT_OF = Object.fromEntries(RASP_TYPES.map((type) => [type, { category: getCategory(type), type }]));

/** Facts and characters of their data that may wait for the session. */
const MAX_HELD_EVENTS = 64;
const MAX_HELD_LENGTH = 64 * 1024;

/** Events that a reader expects only after a conversation has started. */
const STARTED_FIRST: ReadonlySet<FcmpType> = new Set([
  'assistant.message.delta',
  'assistant.message.final',
  'assistant.reasoning',
  'assistant.tool_call',
  'assistant.plan',
  'permission.required',
]);

/** Events that a person must answer never wait. */
const NEEDS_ANSWER: ReadonlySet<FcmpType> = new Set(['user.input.required', 'permission.required']);

/** Whether an event can be the last of a step: it is published with the usage of the step. */
function endsStep(type: FcmpType, data: FcmpEvent['data']): boolean {
  if (type === 'assistant.message.final') return true;
  return type === 'assistant.tool_call' && 'status' in data && data.status !== 'started';
}

/** Whether an event has a detail: those whose own fields say everything have none. */
function hasDetail({ event }: RaspEvent): boolean {
  return event.category === 'agent' || event.category === 'tool' || DETAILED.has(event.type);
}

const DETAILED: ReadonlySet<RaspType> = new Set(['lifecycle.run.status', 'diagnostic.engine.error']);

/** An FCMP event that has no number and no session yet. */
interface HeldFact {
  readonly type: FcmpType;
  readonly data: FcmpEvent['data'];
  readonly subject: Subject;
  readonly meta: FcmpEvent['meta'];
  readonly rawRef: RawRef | null;
}

/** An FCMP event without its number. */
interface WaitingEvent {
  readonly type: FcmpType;
  readonly data: FcmpEvent['data'];
  readonly correlation: Correlation;
  readonly meta: FcmpEvent['meta'];
  readonly rawRef: RawRef | null;
}

/** Writes events: numbers them, stamps them, and reports each fact in both protocols. */
export class EventWriter {
  readonly #runId: string;
  readonly #attempt: number;
  readonly #engine: string;
  readonly #parserVersion: string;
  #parser: string;
  #seq = 0;
  #fcmpSeq: number;
  #out: Emitted[] = [];
  #ts = '';
  #source: RaspSource;
  readonly #sureMeta: FcmpEvent['meta'];
  #meta: FcmpEvent['meta'];
  #sessionId: string | null;
  #sessionOnly: Correlation;
  /** Events that wait for the session; null if no event waits any more. */
  #held: HeldFact[] | null;
  #heldLength = 0;
  /** The bytes the next events were read from; null for what no byte says. */
  rawRef: RawRef | null = null;
  /** The step whose first message or tool call comes next; FCMP says it with that. */
  step: Pick<FcmpData<'assistant.message.final'>, 'model' | 'usage'> | null = null;
  readonly #usageEndsStep: boolean;
  /** The message or call that may be the last of its step: it waits for the next event, or for what the step used. */
  #waiting: WaitingEvent | null = null;
  #marked = 0;
  /** Reported with the FCMP events from here on: set for the last one of the attempt. */
  usage: Usage | null = null;

  constructor(start: {
    readonly runId: string;
    readonly attempt: number;
    readonly engine: string;
    readonly parser: string;
    readonly parserVersion: string;
    readonly fcmpSeq: number;
    readonly sessionId: string | null;
    readonly cachedFrom: string | null;
    readonly waitsForSession: boolean;
    readonly usageEndsStep: boolean;
  }) {
    this.#held = start.waitsForSession ? [] : null;
    this.#usageEndsStep = start.usageEndsStep;
    this.#runId = start.runId;
    this.#attempt = start.attempt;
    this.#engine = start.engine;
    this.#parser = start.parser;
    this.#parserVersion = start.parserVersion;
    this.#fcmpSeq = start.fcmpSeq;
    this.#sessionId = start.sessionId;
    this.#sessionOnly = start.sessionId === null ? {} : { session_id: start.sessionId };
    this.#source = this.#sourceWith(1);
    this.#sureMeta =
      start.cachedFrom === null
        ? { attempt: start.attempt }
        : { attempt: start.attempt, cached_from: start.cachedFrom };
    this.#meta = this.#sureMeta;
  }

  get attempt(): number {
    return this.#attempt;
  }

  set time(ts: string) {
    this.#ts = ts;
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  set sessionId(id: string) {
    this.#sessionId = id;
    this.#sessionOnly = { session_id: id };
  }

  set parser(name: string) {
    this.#parser = name;
    this.#source = this.#sourceWith(this.confidence);
  }

  get confidence(): number {
    return this.#source.confidence;
  }

  set confidence(value: number) {
    if (value === this.#source.confidence) return;
    this.#source = this.#sourceWith(value);
    this.#meta = value === 1 ? this.#sureMeta : { ...this.#sureMeta, confidence: value };
  }

  /** Reports a fact as RASP and, if FCMP has a type for it, as FCMP. */
  write<Type extends RaspType>(type: Type, data: RaspData<Type>, subject: Subject = NO_SUBJECT): void {
    const correlation = this.#correlate(subject);
    const event = {
      protocol_version: RASP_VERSION,
      run_id: this.#runId,
      attempt_number: this.#attempt,
      seq: ++this.#seq,
      ts: this.#ts,
      source: this.#source,
      event: EVENT_OF[type],
      data,
      correlation,
      raw_ref: this.rawRef,
    } as unknown as RaspEvent;
    this.#out.push({ protocol: 'rasp', event });
    const mapped = toFcmp(event);
    if (mapped === null) return;
    const fcmpData = this.#complete(mapped);
    if (this.#held !== null && (this.#held.length > 0 || STARTED_FIRST.has(mapped.type))) {
      this.#hold(this.#held, { type: mapped.type, data: fcmpData, subject, meta: this.#meta, rawRef: this.rawRef });
    } else this.#pushFcmp(mapped.type, fcmpData, correlation);
  }

  /** Reports a warning of the reading; the message is the code's own explanation unless another is given. */
  warn(
    code: DiagnosticCode,
    message: string = DIAGNOSTIC_CODES[code],
    about?: { readonly subject?: string; readonly confidence?: number },
    subject: Subject = NO_SUBJECT,
  ): void {
    this.write('diagnostic.parser.warning', { code, message, ...about }, subject);
  }

  /** Publishes that the conversation has started, then what waited for it. */
  startConversation(sessionId: string | null, model: string | null): void {
    const named = model === null ? undefined : { model };
    const data: FcmpData<'conversation.started'> = { session_id: sessionId, ...named };
    this.#pushFcmp('conversation.started', data, this.#sessionOnly);
    this.#release();
  }

  /** The step has ended: its last message or call is published with what it used. */
  endStep(usage: Usage): void {
    if (this.#waiting !== null) this.#waiting = { ...this.#waiting, data: { ...this.#waiting.data, usage } };
    this.publishWaiting();
  }

  /** Publishes what waited for the end of its step. */
  publishWaiting(): void {
    const event = this.#waiting;
    this.#waiting = null;
    if (event !== null) this.#pushEvent(event);
  }

  /** Makes later events refer to another frame. */
  mark(): void {
    this.#marked = this.#out.length;
    this.step = null;
  }

  /** Adds what a frame's record says beyond its events to the first of them. */
  addDetail(rest: Readonly<Record<string, unknown>>): void {
    const index = this.#out.findIndex(
      (one, at) => at >= this.#marked && one.protocol === 'rasp' && hasDetail(one.event),
    );
    const found = this.#out[index];
    if (found?.protocol !== 'rasp') return;
    const { event } = found;
    const known = 'detail' in event.data && isRecord(event.data.detail) ? event.data.detail : {};
    const data = { ...event.data, detail: boundDetail({ ...known, ...rest }) };
    this.#out[index] = { protocol: 'rasp', event: { ...event, data } as unknown as RaspEvent };
  }

  /** Returns what was written since the last time. */
  take(): Emitted[] {
    const out = this.#out;
    this.#out = [];
    this.#marked = 0;
    return out;
  }

  /** The first message waits for the session, and later events wait behind it while they are few. */
  #hold(held: HeldFact[], fact: HeldFact): void {
    this.#heldLength += JSON.stringify(fact.data).length;
    held.push(fact);
    const isFull = held.length > MAX_HELD_EVENTS || this.#heldLength > MAX_HELD_LENGTH;
    if (isFull || NEEDS_ANSWER.has(fact.type)) this.#release();
  }

  /** Adds the FCMP fields: the usage at the end, and the step of the first message or call. */
  #complete({ type, data }: FcmpFact): FcmpEvent['data'] {
    if (this.usage !== null) return { ...data, usage: this.usage };
    if (this.step === null || (type !== 'assistant.message.final' && type !== 'assistant.tool_call')) return data;
    const { step } = this;
    this.step = null;
    return { ...data, ...step };
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const { type, data, subject, meta, rawRef } of held) {
      this.#pushFcmp(type, data, this.#correlate(subject), meta, rawRef);
    }
  }

  #pushFcmp(
    type: FcmpType,
    data: FcmpEvent['data'],
    correlation: Correlation,
    meta: FcmpEvent['meta'] = this.#meta,
    rawRef: RawRef | null = this.rawRef,
  ): void {
    this.publishWaiting();
    const event = { type, data, correlation, meta, rawRef };
    if (this.#usageEndsStep && endsStep(type, data)) this.#waiting = event;
    else this.#pushEvent(event);
  }

  #pushEvent({ type, data, correlation, meta, rawRef }: WaitingEvent): void {
    const event = {
      protocol_version: FCMP_VERSION,
      run_id: this.#runId,
      seq: ++this.#fcmpSeq,
      ts: this.#ts,
      engine: this.#engine,
      type,
      data,
      meta,
      correlation,
      raw_ref: rawRef,
    } as unknown as FcmpEvent;
    this.#out.push({ protocol: 'fcmp', event });
  }

  #correlate(subject: Subject): Correlation {
    if (subject === NO_SUBJECT) return this.#sessionOnly;
    const session_id = this.#sessionId;
    if (session_id === null) return subject;
    // The two that come with every other event are spelled out: spreading costs more.
    if (subject.message_id !== undefined) return { session_id, message_id: subject.message_id };
    if (subject.tool_call_id !== undefined && subject.interaction_id === undefined)
      return { session_id, tool_call_id: subject.tool_call_id };
    return { session_id, ...subject };
  }

  #sourceWith(confidence: number): RaspSource {
    return { engine: this.#engine, parser: this.#parser, parser_version: this.#parserVersion, confidence };
  }
}

/** The last moment that has a year of four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Formats a time for events. A clock may return any number: one outside the valid range gives the nearest valid time.
 *
 * @example
 * toTimestamp(0) // '1970-01-01T00:00:00.000Z'
 */
export function toTimestamp(ms: number): string {
  return new Date(Number.isFinite(ms) ? Math.min(Math.max(0, ms), LAST_MS) : 0).toISOString();
}
