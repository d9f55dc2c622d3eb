import type { Frame } from '../framing/frame.js';
import type { EndSignal } from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { ParserName } from '../protocol/engine-names.js';
import type { FileDiff, PlanEntry, Usage } from '../protocol/event-parts.js';

/** The fields of a status event. */
export interface StatusReport {
  /** The engine's name for the status: `thread.started`, `step_finish`, `init`. */
  readonly status: string;
  /** The session id, which starts the conversation and is added to later events. */
  readonly session_id?: string | null;
  readonly model?: string | null;
  readonly usage?: Usage | null;
  readonly reason?: string | null;
  /** Other fields worth keeping, unchanged. */
  readonly detail?: unknown;
}

/** Identifies a message. Engines with one open message at a time need neither `key` nor `parent`. */
export interface MessageOptions {
  /** Distinguishes messages that are open concurrently: the engine's own message id. */
  readonly key?: string;
  /** The tool call whose sub-agent wrote the message, which is then not part of the agent's answer. */
  readonly parent?: string | null;
  /** The JSON value in the message, if the reader has it; otherwise it is extracted from the text. */
  readonly payload?: unknown;
}

export interface ReasoningOptions {
  readonly id?: string;
  /** A chunk of a longer thought; the full text follows under the same id. */
  readonly partial?: boolean;
  readonly parent?: string | null;
}

/** A tool call. Starts and ends are paired by `id`; the end reuses the start's name and input. */
export interface ToolReport {
  readonly id: string;
  /** Can be omitted at the end of a call whose start was reported. */
  readonly name?: string | null;
  readonly input?: unknown;
  readonly parent?: string | null;
  /** The change made by the call, if the engine prints it. */
  readonly diff?: readonly FileDiff[];
  /** Files that the call names as its targets; used to find which call created an artifact. */
  readonly paths?: readonly string[];
}

export interface ToolEndReport extends ToolReport {
  readonly output?: unknown;
  readonly exitCode?: number | null;
  /** For engines that do not print starts: the start is derived from this frame, without a warning. */
  readonly startDerived?: boolean;
}

export interface ToolFailureReport extends ToolEndReport {
  readonly error: string;
}

/** An option in a permission request. */
export interface PermissionOption {
  readonly id: string;
  readonly label: string;
  readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

/** A tool call waiting to be allowed or denied. */
export interface PermissionRequest {
  readonly call: ToolReport;
  /** The agent's title for the call; shown if it has no input. */
  readonly title?: string;
  readonly options: readonly PermissionOption[];
}

/** The answer to a permission request. */
export interface PermissionAnswer {
  readonly decision: 'allow' | 'deny';
  readonly optionId: string;
  readonly by: 'rule' | 'person';
  readonly who?: string;
  readonly why?: string;
}

/**
 * An error that the engine printed. It does not affect the outcome: an error that ended the run is also reported with
 * `runtimeError`.
 */
export interface EngineErrorReport {
  readonly message: string;
  /** The engine will retry, so this is not a failure. */
  readonly retrying?: boolean;
  readonly severity?: 'warning' | 'error';
  /** Guessed from the message by default. */
  readonly code?: DiagnosticCode;
  readonly httpStatus?: number | null;
  readonly attempt?: number | null;
  readonly maxAttempts?: number | null;
  readonly detail?: unknown;
}

/** The reports that a reader can make about the current frame. Every event gets the `raw_ref` of that frame. */
export interface Report {
  /** Emits `lifecycle.run.status`. */
  status(status: StatusReport): void;
  /** Reports the session of a record that is not a status; a status event is then emitted once. */
  session(id: string | null): void;
  engineVersion(version: string | null): void;

  /** Reports a chunk of a message. */
  messageDelta(text: string, options?: MessageOptions): void;
  /** Reports a complete message, and ends the open one with the same key. */
  message(text: string, options?: MessageOptions): void;
  /** Ends an open message whose text is made up of its deltas; does nothing if no message is open. */
  closeMessage(options?: MessageOptions): void;
  reasoning(text: string, options?: ReasoningOptions): void;

  toolStarted(call: ToolReport): void;
  toolCompleted(call: ToolEndReport): void;
  toolFailed(call: ToolFailureReport): void;

  /** Reports the agent's complete plan; if the plan is written by a tool, the call is reported too. */
  plan(entries: readonly PlanEntry[], options?: { readonly call?: string; readonly parent?: string | null }): void;

  /**
   * Reports a permission request and returns its interaction id. The call is reported as started, unless it already
   * was.
   */
  permissionRequired(request: PermissionRequest): string;
  /** Reports the answer that was sent to the agent. */
  permissionReplied(interactionId: string, answer: PermissionAnswer): void;

  engineError(error: EngineErrorReport): void;
  /** Reports an error that ended the run: without a done marker or end signal, the attempt counts as interrupted. */
  runtimeError(message: string): void;
  /** Reports a new turn: the end signal and the runtime error of the previous one no longer count. */
  turnStarted(): void;
  /** Reports that the invocation has ended successfully. */
  endSignal(signal: EndSignal): void;

  /** Emits the frame as raw without a warning: expected but irrelevant output. */
  noise(): void;
  /** Marks the frame as part of something that is reported later, with `setFrames`. */
  hold(): void;
  /** Emits the frame as raw with a warning: it is not valid output of the engine. */
  unparsed(code?: DiagnosticCode, message?: string): void;
  /** Emits the frame as raw with a warning about an unknown type, which is counted as drift. */
  unknownType(type: string): void;
  /** Warns once per path and attempt about fields that are not in `known`; they are counted as drift. */
  checkFields(record: object, known: ReadonlySet<string>, path: string): void;
  /**
   * Adds the record fields that the reader does not use to the frame's first event, as a bounded `detail`. `path` is
   * the record's path in the frame's value; omit it for the value itself.
   */
  keepUnusedFields(record: object, used: ReadonlySet<string>, path?: string): void;
  /**
   * Sets the model and tokens of the step whose messages and calls are reported next; they are added to the first of
   * these.
   */
  step(step: { readonly model: string | null; readonly usage: Usage | null }): void;
  /** Ends a step and reports its usage, which is added to its last message or call. */
  stepEnded(usage: Usage): void;
  warning(code: DiagnosticCode, message: string, options?: { readonly subject?: string }): void;

  /** Makes later reports refer to a frame that was held, or to the current one again. */
  setFrame(frame: Frame): void;
  /** Makes later reports refer to all bytes from one frame to another in the same stream. */
  setFrames(first: Frame, last: Frame): void;
  /** Sets the confidence of this frame; 1 by default. */
  confidence(value: number): void;
  /** Marks a report as a guess (confidence below 0.5): its source text is added as raw, with a warning. */
  lowConfidence(text: string): void;
  /** Sets the parser name from here on, for engines with multiple formats. */
  parser(name: ParserName | (string & {})): void;
}
