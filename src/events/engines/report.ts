import type { Frame } from '../framing/frame.js';
import type { EndSignal } from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { ParserName } from '../protocol/engine-names.js';
import type { FileDiff, PlanEntry, Usage } from '../protocol/event-parts.js';

/** Optional fields of a status event. */
export interface StatusReport {
  /** The engine's own word: `thread.started`, `step_finish`, `init`. */
  readonly status: string;
  /** Reveals the session, back-fills it into what follows and starts the conversation. */
  readonly session_id?: string | null;
  readonly model?: string | null;
  readonly usage?: Usage | null;
  readonly reason?: string | null;
  /** Anything else worth keeping, as the engine printed it. */
  readonly detail?: unknown;
}

/** Identifies a message. Engines that write one at a time need neither field. */
export interface MessageOptions {
  /** Distinguishes messages that are open at the same time: the engine's own message id. */
  readonly key?: string;
  /** The tool call whose sub-agent speaks: its words are not the agent's answer. */
  readonly parent?: string | null;
  /** The JSON value the message holds, where the reader knows it; otherwise the text is searched for one. */
  readonly payload?: unknown;
}

export interface ReasoningOptions {
  readonly id?: string;
  /** A piece of a longer thought; the whole follows under the same id. */
  readonly partial?: boolean;
  readonly parent?: string | null;
}

/** A tool call. The core pairs starts and ends by `id` and remembers name and input for the end. */
export interface ToolReport {
  readonly id: string;
  /** May be left out at the end of a call whose start was reported. */
  readonly name?: string | null;
  readonly input?: unknown;
  readonly parent?: string | null;
  /** The change made by the call, as far as the engine shows it. */
  readonly diff?: readonly FileDiff[];
  /** Files the call says it touches: joined with the file differences, they show which call made an artifact. */
  readonly paths?: readonly string[];
}

export interface ToolEndReport extends ToolReport {
  readonly output?: unknown;
  readonly exitCode?: number | null;
  /** The engine never prints starts: one is derived from this frame, without a warning. */
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

/** A tool call that waits until it is allowed or denied. */
export interface PermissionQuestion {
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

/** Trouble the engine reports. It decides nothing: an error that ended the work is reported with `runtimeError` too. */
export interface EngineErrorReport {
  readonly message: string;
  /** The engine tries again: never a failure. */
  readonly retrying?: boolean;
  readonly severity?: 'warning' | 'error';
  /** Guessed from the message if not given. */
  readonly code?: DiagnosticCode;
  readonly httpStatus?: number | null;
  readonly attempt?: number | null;
  readonly maxAttempts?: number | null;
  readonly detail?: unknown;
}

/** The reports a reader can make about the current frame. Every event gets that frame's `raw_ref`. */
export interface Report {
  /** `lifecycle.run.status`. */
  status(status: StatusReport): void;
  /** Names the session if the record is not a status: the core then reports a status itself, once. */
  session(id: string | null): void;
  engineVersion(version: string | null): void;

  /** A piece of a message. */
  messageDelta(text: string, options?: MessageOptions): void;
  /** A whole message; ends the one that is open under the same key. */
  message(text: string, options?: MessageOptions): void;
  /** Ends an open message whose text consists of its deltas; does nothing if none is open. */
  closeMessage(options?: MessageOptions): void;
  reasoning(text: string, options?: ReasoningOptions): void;

  toolStarted(call: ToolReport): void;
  toolCompleted(call: ToolEndReport): void;
  toolFailed(call: ToolFailureReport): void;

  /** The agent's plan, whole; an engine that writes it with a tool reports the call too. */
  plan(entries: readonly PlanEntry[], options?: { readonly call?: string; readonly parent?: string | null }): void;

  /** The agent asks for a permission; returns the id of the question. A call that was not started is, by its question. */
  permissionRequired(question: PermissionQuestion): string;
  /** The answer that was sent to the agent. */
  permissionReplied(interactionId: string, answer: PermissionAnswer): void;

  engineError(error: EngineErrorReport): void;
  /** An error that ended the engine's work: without a done marker and end signal the attempt counts as interrupted. */
  runtimeError(message: string): void;
  /** A new turn begins: end signal and runtime error of the one before do not count any more. */
  turnStarted(): void;
  /** The engine says that this invocation has ended well. */
  endSignal(signal: EndSignal): void;

  /** Expected chatter: raw without a warning. */
  noise(): void;
  /** The frame is a part of something reported later, with `spanning`; nothing is reported now. */
  hold(): void;
  /** Raw with a warning: the frame is not what the engine prints. */
  unparsed(code?: DiagnosticCode, message?: string): void;
  /** Raw with a warning: a type that this reader does not know. Counted as drift. */
  unknownType(type: string): void;
  /** Warns once per path and attempt about fields that are not in `known`. Counted as drift. */
  checkFields(record: object, known: ReadonlySet<string>, path: string): void;
  /**
   * Keeps the fields of a record that the reader does not use as `detail` of the frame's first event, bounded. `place` is
   * where the record stands in the frame's value; the fields of the value itself have none.
   */
  keepRest(record: object, used: ReadonlySet<string>, place?: string): void;
  /** The model and the tokens of the step whose messages and calls are reported next; published with the first of them. */
  step(step: { readonly model: string | null; readonly usage: Usage | null }): void;
  /** The step that was reported has ended and used this: published with the last message or call of it. */
  stepEnded(usage: Usage): void;
  warning(code: DiagnosticCode, message: string, options?: { readonly subject?: string }): void;

  /** Makes later reports refer to a frame that was held before, or to the current one again. */
  about(frame: Frame): void;
  /** Makes later reports refer to all bytes from one frame to another of the same stream. */
  spanning(first: Frame, last: Frame): void;
  /** Sets the confidence of this frame; 1 by default. */
  confidence(value: number): void;
  /** Marks the report as a guess (confidence under 0.5): the text it was read from is added as raw, with a warning. */
  lowConfidence(text: string): void;
  /** Another parser of the same engine reads from here on. */
  parser(name: ParserName | (string & {})): void;
}
