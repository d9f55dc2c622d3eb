import type { Engine, TranslatorOptions } from '../engines/engine.js';
import type { Correlation, RawRef, Usage } from '../protocol/event-parts.js';
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { EngineFields } from '../protocol/engine-fields.js';
import type { Emitted } from '../protocol/translator-output.js';
import { FCMP_VERSION, type FcmpData, type FcmpEvent, type FcmpType } from '../protocol/fcmp-event.js';
import { RASP_TYPES, RASP_VERSION, getCategory } from '../protocol/rasp-event.js';
import type { RaspData, RaspEvent, RaspSource, RaspType } from '../protocol/rasp-event.js';
import { isRecord } from '../reading/record-fields.js';
import { boundDetail } from './bound-detail.js';
import { toFcmp, type FcmpContent } from './fcmp-mapping.js';
import type { EngineFacts } from './read-engine-fields.js';

type Subject = Omit<Correlation, 'session_id'>;

const NO_SUBJECT: Subject = {};

/** The `event` field for each type, shared by all events of that type. */
const EVENT_BY_TYPE = Object.fromEntries(RASP_TYPES.map((type) => [type, { category: getCategory(type), type }]));

/** Limits on the events that wait for the session, and on the characters of their data. */
const MAX_HELD_EVENTS = 64;
const MAX_HELD_LENGTH = 64 * 1024;

/** Events that must come after `conversation.started`. */
const REQUIRES_START: ReadonlySet<FcmpType> = new Set([
  'assistant.message.delta',
  'assistant.message.final',
  'assistant.reasoning',
  'assistant.tool_call',
  'assistant.plan',
  'permission.required',
  'conversation.status',
  'user.message',
]);

/** Events that a user must answer; they never wait. */
const NEEDS_ANSWER: ReadonlySet<FcmpType> = new Set(['user.input.required', 'permission.required']);

/** Whether an event can be the last of a step, which is published with the step's usage. */
function canEndStep(type: FcmpType, data: FcmpEvent['data']): boolean {
  if (type === 'assistant.message.final') return true;
  return type === 'assistant.tool_call' && 'status' in data && data.status !== 'started';
}

/** Events that do not get the fields of their record: chunks, and events that are not from the engine. */
const WITHOUT_FIELDS = /^(?:agent\.message\.delta|artifact|diagnostic\.parser|raw)/u;

const WITH_DETAIL = /^(?:agent|tool|lifecycle\.run\.status$|diagnostic\.engine)/u;

/** An FCMP event without its number. It can wait for the session or for the usage of its step. */
interface WaitingEvent {
  readonly type: FcmpType;
  readonly data: FcmpEvent['data'];
  readonly correlation: Correlation;
  readonly meta: FcmpEvent['meta'];
  readonly rawRef: RawRef | null;
  readonly engineAt: string | null;
  readonly subject: Subject;
}

/** The attempt whose events are written; `seq` is the last RASP number that it has used. */
type WriterStart = { readonly seq?: number } & Pick<
  TranslatorOptions,
  'runId' | 'attempt' | 'fcmpSeq' | 'sessionId' | 'isContinued' | 'cachedFrom'
>;

/** The engine that events name; without `guarantees`, no event waits for a later one. */
type WriterEngine = Pick<Engine, 'name' | 'parser' | 'parserVersion'> & Partial<Pick<Engine, 'guarantees'>>;

/** Writes events: adds numbers and times, and emits each event in both protocols. */
export class EventWriter {
  readonly #start: WriterStart;
  readonly #engine: WriterEngine;
  #parser: string;
  #seq: number;
  #fcmpSeq: number;
  #out: Emitted[] = [];
  /** The time of the next events. */
  time = '';
  #source: RaspSource;
  readonly #certainMeta: FcmpEvent['meta'];
  #meta: FcmpEvent['meta'];
  #sessionId: string | null;
  /** The session of an earlier attempt, whose conversation this one continues. */
  readonly #continuedSession: string | null;
  #sessionOnly: Correlation;
  /** Events that wait for the session; null once events no longer wait. */
  #heldEvents: WaitingEvent[] | null;
  #heldLength = 0;
  /** The bytes the next events are derived from; null for events that are not based on bytes. */
  rawRef: RawRef | null = null;
  /** The step whose first message or tool call comes next; its model and usage are added to that FCMP event. */
  step: Pick<FcmpData<'assistant.message.final'>, 'model' | 'usage'> | null = null;
  /** The message or call that might be the last of its step; it waits for the next event or the step's usage. */
  #waitingEvent: WaitingEvent | null = null;
  /** Whether events are published before the one that waits for its step's usage, instead of ending its wait. */
  keepsWaiting = false;
  #markedLength = 0;
  #hasFcmp = false;
  /** The data of the last RASP event, which its FCMP event can share. */
  #raspData: object | null = null;
  #engineAt: string | null = null;
  /** The engine's fields of the record, until an FCMP event has them. */
  #fields: EngineFields | null = null;
  /** Added to later FCMP events; set for the last event of the attempt. */
  lastFields: (EngineFields & { readonly usage?: Usage }) | null = null;

  constructor(engine: WriterEngine, start: WriterStart) {
    const { attempt, seq = 0, fcmpSeq = 0, sessionId, cachedFrom } = start;
    this.#heldEvents = engine.guarantees?.session === 'early' ? [] : null;
    this.#engine = engine;
    this.#start = start;
    this.#parser = engine.parser;
    this.#seq = seq;
    this.#fcmpSeq = fcmpSeq;
    this.#sessionId = sessionId ?? null;
    this.#continuedSession = fcmpSeq > 0 ? this.#sessionId : null;
    this.#sessionOnly = sessionId === undefined ? {} : { session_id: sessionId };
    this.#source = this.#createSource(1);
    this.#certainMeta = cachedFrom === undefined ? { attempt } : { attempt, cached_from: cachedFrom };
    this.#meta = this.#certainMeta;
  }

  get attempt(): number {
    return this.#start.attempt;
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
    this.#source = this.#createSource(this.confidence);
  }

  get confidence(): number {
    return this.#source.confidence;
  }

  set confidence(value: number) {
    if (value === this.#source.confidence) return;
    this.#source = this.#createSource(value);
    this.#meta = value === 1 ? this.#certainMeta : { ...this.#certainMeta, confidence: value };
  }

  /** Emits a RASP event and, if FCMP has a type for it, an FCMP event. */
  write<Type extends RaspType>(type: Type, data: RaspData<Type>, subject: Subject = NO_SUBJECT): void {
    const correlation = this.#correlate(subject);
    const event = {
      protocol_version: RASP_VERSION,
      run_id: this.#start.runId,
      attempt_number: this.#start.attempt,
      seq: ++this.#seq,
      ts: this.time,
      source: this.#source,
      event: EVENT_BY_TYPE[type],
      data,
      correlation,
      raw_ref: this.rawRef,
    } as unknown as RaspEvent;
    this.#out.push({ protocol: 'rasp', event });
    this.#raspData = event.data;
    const mapped = toFcmp(event);
    const takesFields = this.#fields === null || !WITHOUT_FIELDS.test(type);
    if (mapped !== null) this.#writeFcmp(mapped, subject, correlation, takesFields);
  }

  #writeFcmp(mapped: FcmpContent, subject: Subject, correlation: Correlation, takesFields: boolean): void {
    this.#hasFcmp = true;
    const event = this.#describe(mapped.type, this.#addFcmpFields(mapped, takesFields), correlation, subject);
    if (this.#heldEvents !== null && (this.#heldEvents.length > 0 || REQUIRES_START.has(mapped.type)))
      this.#hold(this.#heldEvents, event);
    else this.#publish(event);
  }

  /** Sets the engine's time and fields of the record that the next events are derived from. */
  set facts(facts: EngineFacts | null) {
    this.#engineAt = facts?.at ?? null;
    this.#fields = facts?.fields ?? null;
  }

  /** Returns the fields of the record that no event has yet, and keeps them out of later events. */
  takeFields(): EngineFields | null {
    const fields = this.#fields;
    this.#fields = null;
    return fields;
  }

  /** Publishes a status as an FCMP event, if it says something that no other event of the frame does. */
  writeStatus(content: FcmpContent): void {
    const isNews = this.#engineAt !== null && !this.#hasFcmp;
    if (isNews || this.#fields !== null || content.type === 'user.message')
      this.#writeFcmp(content, NO_SUBJECT, this.#sessionOnly, true);
  }

  /** Emits a warning; by default, its message explains the code. */
  warn(
    code: DiagnosticCode,
    message: string = DIAGNOSTIC_CODES[code],
    options?: { readonly subject?: string; readonly confidence?: number },
    subject: Subject = NO_SUBJECT,
  ): void {
    this.write('diagnostic.parser.warning', { code, message, ...options }, subject);
  }

  /**
   * Publishes that the conversation has started, unless an earlier attempt did, then the events that waited for it.
   * `isStatus`: the record has no other event, so its fields belong to this one.
   */
  startConversation(sessionId: string | null, model: string | null, isStatus: boolean): void {
    if (sessionId === null ? this.#start.isContinued !== true : sessionId !== this.#continuedSession) {
      const fields = isStatus ? this.takeFields() : null;
      const modelFields = model === null ? undefined : { model };
      const data: FcmpData<'conversation.started'> = { session_id: sessionId, ...modelFields, ...fields };
      this.#hasFcmp ||= isStatus;
      this.#publish(this.#describe('conversation.started', data, this.#sessionOnly));
    }
    this.release();
  }

  /** Ends a step: its last message or call is published with the step's usage. */
  endStep(usage: Usage): void {
    if (this.#waitingEvent !== null)
      this.#waitingEvent = { ...this.#waitingEvent, data: { ...this.#waitingEvent.data, usage } };
    this.publishWaiting();
  }

  publishWaiting(): void {
    const event = this.#waitingEvent;
    this.#waitingEvent = null;
    if (event !== null) this.#pushEvent(event);
  }

  mark(): void {
    this.#markedLength = this.#out.length;
    this.#hasFcmp = false;
    this.facts = null;
    this.step = null;
  }

  /** Adds the record fields that no event contains to the frame's first event. */
  addDetail(rest: Readonly<Record<string, unknown>>): void {
    // Starts at the mark: a chunk can have a hundred thousand frames.
    for (let index = this.#markedLength; index < this.#out.length; index += 1) {
      const writtenEvent = this.#out[index];
      if (writtenEvent?.protocol !== 'rasp' || !WITH_DETAIL.test(writtenEvent.event.event.type)) continue;
      const { event } = writtenEvent;
      const known = 'detail' in event.data && isRecord(event.data.detail) ? event.data.detail : {};
      const data = { ...event.data, detail: boundDetail({ ...known, ...rest }) };
      this.#out[index] = { protocol: 'rasp', event: { ...event, data } as unknown as RaspEvent };
      return;
    }
  }

  /** Returns the events written since the last call. */
  take(): Emitted[] {
    const out = this.#out;
    this.#out = [];
    this.#markedLength = 0;
    return out;
  }

  /** Holds the first message until the session is known, and later events after it, up to a limit. */
  #hold(held: WaitingEvent[], event: WaitingEvent): void {
    this.#heldLength += JSON.stringify(event.data).length;
    held.push(event);
    const isFull = held.length > MAX_HELD_EVENTS || this.#heldLength > MAX_HELD_LENGTH;
    if (isFull || NEEDS_ANSWER.has(event.type)) this.release();
  }

  /**
   * Adds the fields that only FCMP has: those of the attempt to its last event, those of the record to its first event,
   * and those of the step to its first message or call.
   */
  #addFcmpFields({ type, data }: FcmpContent, takesFields: boolean): FcmpEvent['data'] {
    if (this.lastFields !== null) return addMissing({ ...data }, this.lastFields) as FcmpEvent['data'];
    const hasStep = this.step !== null && (type === 'assistant.message.final' || type === 'assistant.tool_call');
    const fields = takesFields ? this.takeFields() : null;
    if (fields === null && !hasStep) return data;
    const { step } = this;
    if (hasStep) this.step = null;
    const withFields = addMissing(data === this.#raspData ? { ...data } : data, fields);
    return (hasStep ? Object.assign(withFields, step) : withFields) as FcmpEvent['data'];
  }

  release(): void {
    const heldEvents = this.#heldEvents ?? [];
    this.#heldEvents = null;
    for (const event of heldEvents) this.#publish({ ...event, correlation: this.#correlate(event.subject) });
  }

  #describe(
    type: FcmpType,
    data: FcmpEvent['data'],
    correlation: Correlation,
    subject: Subject = NO_SUBJECT,
  ): WaitingEvent {
    return { type, data, correlation, meta: this.#meta, rawRef: this.rawRef, engineAt: this.#engineAt, subject };
  }

  #publish(event: WaitingEvent): void {
    if (!this.keepsWaiting) this.publishWaiting();
    if (this.#engine.guarantees?.usage === 'after step' && canEndStep(event.type, event.data))
      this.#waitingEvent = event;
    else this.#pushEvent(event);
  }

  #pushEvent({ type, data, correlation, meta, rawRef, engineAt }: WaitingEvent): void {
    const event = {
      protocol_version: FCMP_VERSION,
      run_id: this.#start.runId,
      seq: ++this.#fcmpSeq,
      ts: this.time,
      ...(engineAt === null ? undefined : { engine_at: engineAt }),
      engine: this.#engine.name,
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
    // The two most common cases are written out, because spreading costs more.
    if (subject.message_id !== undefined) return { session_id, message_id: subject.message_id };
    if (subject.tool_call_id !== undefined && subject.interaction_id === undefined)
      return { session_id, tool_call_id: subject.tool_call_id };
    return { session_id, ...subject };
  }

  #createSource(confidence: number): RaspSource {
    const { name: engine, parserVersion: parser_version } = this.#engine;
    return { engine, parser: this.#parser, parser_version, confidence };
  }
}

/** The latest time with a four-digit year. */
const MAX_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Formats a time for events. Values out of range, which a clock can return, are clamped. */
export function toTimestamp(ms: number): string {
  return new Date(Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_TIME_MS) : 0).toISOString();
}

/**
 * Adds fields that the data lacks: the reader knows better what its record means than the table of names does. Adding
 * them one by one takes half as long as more spreads.
 */
function addMissing(data: object, fields: EngineFields | null): object {
  const complete = data as Record<string, unknown>;
  for (const key in fields) if (!(key in complete)) complete[key] = fields[key as keyof EngineFields];
  return complete;
}
