import type {
  EngineErrorReport,
  MessageOptions,
  PermissionAnswer,
  PermissionRequest,
  ReasoningOptions,
  Report,
  StatusReport,
  ToolEndReport,
  ToolFailureReport,
  ToolReport,
} from '../engines/report.js';
import type { Frame, BlankFrame, JsonFrame, TextFrame } from '../framing/frame.js';
import type { EventWriter } from '../mapping/event-writer.js';
import type { EndSignal } from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { ParserName } from '../protocol/engine-names.js';
import type { PlanEntry, Usage } from '../protocol/event-parts.js';
import { omitMissing } from '../reading/record-fields.js';
import type { Engine, ProcessExit, Reader } from '../engines/engine.js';
import { toEngineErrorData, shorten } from './engine-error.js';
import { Messages } from './messages.js';
import { Session } from './session.js';
import { ToolCalls } from './tool-calls.js';
import { UsageTotals } from './usage-totals.js';
import { FrameEvents } from './frame-events.js';

/** The last report of each kind, used to judge how an attempt ended. */
interface Outcome {
  readonly endSignal: EndSignal | null;
  readonly runtimeError: string | null;
  /** Whether `runtimeError` means that the engine's credentials were refused. */
  readonly isAuthError: boolean;
  readonly lastError: string | null;
  readonly lastMessage: string;
  readonly usage: Usage | null;
}

/** Turns a reader's reports into events, and collects evidence of how the attempt ended. */
export class ReportWriter implements Report {
  readonly #writer: EventWriter;
  readonly #frames: FrameEvents;
  readonly conversation: Session;
  readonly messages: Messages;
  readonly tools: ToolCalls;
  #usage = new UsageTotals();
  #hasActed = false;
  #endSignal: EndSignal | null = null;
  #runtimeError: string | null = null;
  #isAuthError = false;
  #lastError: string | null = null;
  #lastErrorCode: DiagnosticCode | null = null;
  #version: string | null = null;
  #isPlainText = false;
  #requestCount = 0;

  constructor(writer: EventWriter, frames: FrameEvents) {
    this.#writer = writer;
    this.#frames = frames;
    this.conversation = new Session(writer);
    this.messages = new Messages(writer);
    this.tools = new ToolCalls(writer);
  }

  get outcome(): Outcome {
    return {
      endSignal: this.#endSignal,
      runtimeError: this.#runtimeError,
      isAuthError: this.#isAuthError,
      lastError: this.#lastError,
      lastMessage: this.messages.last,
      usage: this.#usage.total,
    };
  }

  set outcome(outcome: Outcome) {
    this.#endSignal = outcome.endSignal;
    this.#runtimeError = outcome.runtimeError;
    this.#isAuthError = outcome.isAuthError;
    this.#lastError = outcome.lastError;
    this.messages.last = outcome.lastMessage;
    this.#usage = new UsageTotals(outcome.usage);
  }

  /** The engine's version, if it prints it. */
  get version(): string | null {
    return this.#version;
  }

  /** Whether the engine prints plain text instead of records; plain text has no end signal. */
  get isPlainText(): boolean {
    return this.#isPlainText;
  }

  /** Whether the agent has printed a message, a thought or a plan, or has called a tool. */
  get hasActivity(): boolean {
    return this.messages.hasAny || this.tools.hasAny || this.#hasActed;
  }

  status(status: StatusReport): void {
    this.#frames.isHandled = true;
    if (status.usage !== null && status.usage !== undefined) this.#usage.add(status.usage);
    this.conversation.status(status, this.#version);
  }

  session(id: string | null): void {
    if (id === null || (id === this.#writer.sessionId && this.conversation.isStarted)) return;
    this.conversation.announce(id);
  }

  engineVersion(version: string | null): void {
    this.#version = version ?? this.#version;
  }

  messageDelta(text: string, options?: MessageOptions): void {
    this.#frames.isHandled = true;
    this.messages.delta(text, options);
  }

  message(text: string, options?: MessageOptions): void {
    this.#frames.isHandled = true;
    this.messages.final(text, options);
  }

  closeMessage(options?: MessageOptions): void {
    this.messages.close(options);
  }

  reasoning(text: string, options?: ReasoningOptions): void {
    this.#frames.isHandled = true;
    this.#hasActed = true;
    this.#writer.write('agent.reasoning.summary', {
      text,
      ...omitMissing({
        reasoning_id: options?.id,
        partial: options?.partial === true ? true : null,
        parent_tool_call_id: options?.parent,
      }),
    });
  }

  toolStarted(call: ToolReport): void {
    this.#frames.isHandled = true;
    this.tools.start(call);
  }

  toolCompleted(call: ToolEndReport): void {
    this.#frames.isHandled = true;
    this.tools.complete(call);
  }

  toolFailed(call: ToolFailureReport): void {
    this.#frames.isHandled = true;
    this.tools.fail(call);
  }

  plan(entries: readonly PlanEntry[], options?: { readonly call?: string; readonly parent?: string | null }): void {
    this.#frames.isHandled = true;
    this.#hasActed = true;
    const { call, parent } = options ?? {};
    const data = { entries, ...omitMissing({ tool_call_id: call, parent_tool_call_id: parent }) };
    this.#writer.write('agent.plan', data, call === undefined ? {} : { tool_call_id: call });
  }

  permissionRequired({ call, title, options }: PermissionRequest): string {
    this.#frames.isHandled = true;
    this.#requestCount += 1;
    const id = `px_${this.#writer.attempt}_${this.#requestCount}`;
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
    return id;
  }

  permissionReplied(interactionId: string, answer: PermissionAnswer): void {
    this.#frames.isHandled = true;
    const { decision, optionId, by, who, why } = answer;
    const data = { interaction_id: interactionId, decision, option_id: optionId, by, ...omitMissing({ who, why }) };
    this.#writer.write('interaction.permission.replied', data, { interaction_id: interactionId });
  }

  keepUnusedFields(record: object, used: ReadonlySet<string>, path?: string): void {
    this.#frames.keepUnusedFields(record, used, path);
  }

  step({ model, usage }: { readonly model: string | null; readonly usage: Usage | null }): void {
    this.#writer.step = omitMissing({ model: model === '' ? null : model, usage });
  }

  stepEnded(usage: Usage): void {
    this.#writer.endStep(usage);
  }

  engineError(error: EngineErrorReport): void {
    this.#frames.isHandled = true;
    const data = toEngineErrorData(error);
    this.#lastError = data.message;
    this.#lastErrorCode = data.code;
    this.#writer.write('diagnostic.engine.error', data);
  }

  runtimeError(message: string): void {
    this.#runtimeError = shorten(message);
    this.#isAuthError = this.#lastErrorCode === 'ENGINE_AUTH_HINT';
  }

  turnStarted(): void {
    this.#endSignal = null;
    this.#runtimeError = null;
    // An error of an earlier turn does not explain the failure of this one.
    this.#lastErrorCode = null;
  }

  endSignal(signal: EndSignal): void {
    this.#endSignal = signal;
  }

  noise(): void {
    this.#frames.noise();
  }

  hold(): void {
    this.#frames.isHandled = true;
  }

  unparsed(code?: DiagnosticCode, message?: string): void {
    this.#frames.unparsed(code, message);
  }

  unknownType(type: string): void {
    this.#frames.unknownType(type);
  }

  checkFields(record: object, known: ReadonlySet<string>, path: string): void {
    this.#frames.checkFields(record, known, path);
  }

  warning(code: DiagnosticCode, message: string, options?: { readonly subject?: string }): void {
    this.#writer.warn(code, message, options);
  }

  setFrame(frame: Frame): void {
    this.#frames.open(frame);
  }

  setFrames(first: Frame, last: Frame): void {
    this.#frames.setFrames(first, last);
  }

  confidence(value: number): void {
    this.#writer.confidence = value;
  }

  lowConfidence(text: string): void {
    this.#frames.raw(text);
    this.#writer.warn('LOW_CONFIDENCE_PARSE', undefined, { confidence: this.#writer.confidence });
  }

  parser(name: ParserName | (string & {})): void {
    this.#isPlainText = name === 'generic_text';
    this.#writer.parser = name;
  }
}

/** Reads an attempt's frames with its engine. */
export class Attempt {
  readonly #frames: FrameEvents;
  readonly #reader: Reader;
  /** The reader's reports on the frames. */
  readonly report: ReportWriter;

  constructor(engine: Engine, writer: EventWriter) {
    this.#frames = new FrameEvents(writer);
    this.report = new ReportWriter(writer, this.#frames);
    this.#reader = engine.createReader(this.report);
  }

  get drift(): FrameEvents['drift'] {
    return this.#frames.drift;
  }

  read(frame: JsonFrame | TextFrame): void {
    this.#frames.open(frame);
    if (frame.kind === 'json') this.#reader.json(frame);
    else this.#reader.text(frame);
    this.#frames.close(frame);
  }

  /** Passes a blank line to the reader. It is not an event, but readers that join lines need it. */
  readBlank(frame: BlankFrame): void {
    this.#reader.blank?.(frame);
  }

  /** Reports a frame that is not the engine's output as raw, without a warning. */
  setAside(frame: Frame): void {
    this.#frames.open(frame);
    this.#frames.noise();
  }

  /** Called after the last frame. */
  endReading(exit: ProcessExit): void {
    this.#reader.end(exit);
    this.report.messages.closeAll();
    this.#frames.clearReference();
    this.report.tools.endAll();
  }
}
