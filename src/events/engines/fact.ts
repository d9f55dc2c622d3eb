import type { Frame } from '../framing/frame.js';
import type { EndSignal } from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { ParserName } from '../protocol/engine-names.js';
import type { FileDiff, PlanEntry, Usage } from '../protocol/event-parts.js';

/** Identifies a message. Engines with one open message at a time need neither `key` nor `parent`. */
export interface MessageId {
  /** Distinguishes messages that are open concurrently: the engine's own message id. */
  readonly key?: string;
  /** The tool call whose sub-agent wrote the message, which is then not part of the agent's answer. */
  readonly parent?: string | null;
}

/** The fields of a status event. */
export interface Status {
  /** The engine's name for the status: `thread.started`, `step_finish`, `init`. */
  readonly status: string;
  /** The session id, which starts the conversation and is added to later events. */
  readonly session_id?: string | null;
  readonly model?: string | null;
  readonly usage?: Usage | null;
  readonly reason?: string | null;
  /** Other fields worth keeping, unchanged. */
  readonly detail?: unknown;
  /** The text of a prompt: FCMP has it as `user.message`. */
  readonly message?: string;
  /** The tool call whose sub-agent got the prompt. */
  readonly parent?: string | null;
  /** A part of something that another record repeats as a whole: not in FCMP. */
  readonly isChunk?: boolean;
  /** The engine's last record: the fields of its record are added to the attempt's last FCMP event. */
  readonly isLast?: boolean;
}

/** A tool call. Starts and ends are paired by `id`; the end reuses the start's name and input. */
export interface ToolCall {
  readonly id: string;
  /** Can be omitted at the end of a call whose start was emitted. */
  readonly name?: string | null;
  readonly input?: unknown;
  readonly parent?: string | null;
  /** The change made by the call, if the engine prints it. */
  readonly diff?: readonly FileDiff[] | undefined;
  /** Files that the call names as its targets; used to find which call created an artifact. */
  readonly paths?: readonly string[] | undefined;
}

export interface ToolEnd extends ToolCall {
  readonly output?: unknown;
  readonly exitCode?: number | null;
  /** For engines that do not print starts: the start is derived from this frame, without a warning. */
  readonly startDerived?: boolean;
}

/** An option in a permission request. */
export interface PermissionOption {
  readonly id: string;
  readonly label: string;
  readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

/** A tool call waiting to be allowed or denied. */
export interface PermissionRequest {
  readonly call: ToolCall;
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

/** An error that the engine printed. */
export interface EngineError {
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

/** A statement of a reader about the current frame. Every event that a fact causes gets the `raw_ref` of that frame. */
export type Fact =
  /** Causes `lifecycle.run.status`. */
  | (Status & { readonly fact: 'status' })
  /** The session of a record that is not a status; causes a status event once. */
  | { readonly fact: 'session'; readonly id: string | null }
  /** The engine's version. */
  | { readonly fact: 'version'; readonly version: string | null }
  /** A chunk of a message. */
  | (MessageId & { readonly fact: 'delta'; readonly text: string })
  /**
   * A complete message, which ends the open one with the same key. `payload` is the JSON value in it, if the reader has
   * it; otherwise it is extracted from the text.
   */
  | (MessageId & { readonly fact: 'message'; readonly text: string; readonly payload?: unknown })
  /** The end of an open message whose text is made up of its deltas; ignored if no message is open. */
  | (MessageId & { readonly fact: 'message_end' })
  /** A thought. `partial` marks a chunk of a longer thought, whose full text follows under the same id. */
  | {
      readonly fact: 'reasoning';
      readonly text: string;
      readonly id?: string | null;
      readonly partial?: boolean;
      readonly parent?: string | null;
    }
  | (ToolCall & { readonly fact: 'tool_started' })
  | (ToolEnd & { readonly fact: 'tool_completed' })
  | (ToolEnd & { readonly fact: 'tool_failed'; readonly error: string })
  /** The agent's complete plan; `call` is the tool call that wrote it. */
  | {
      readonly fact: 'plan';
      readonly entries: readonly PlanEntry[];
      readonly call?: string;
      readonly parent?: string | null;
    }
  /** The model and tokens of the step whose messages and calls follow; they are added to the first of these. */
  | { readonly fact: 'step'; readonly model: string | null; readonly usage: Usage | null }
  /** The end of a step; its usage is added to its last message or call. */
  | { readonly fact: 'step_ended'; readonly usage: Usage }
  /** A permission request; its call counts as started. `request` is unique among the open requests. */
  | (PermissionRequest & { readonly fact: 'permission_required'; readonly request: string | number })
  /** The answer that was sent to the agent. */
  | (PermissionAnswer & { readonly fact: 'permission_replied'; readonly request: string | number })
  /** An error. With `isFatal` it is also the failure that ended the work. */
  | (EngineError & { readonly fact: 'error'; readonly isFatal?: boolean })
  /** Why the work ended: without a done marker or end signal, the attempt counts as interrupted. */
  | { readonly fact: 'failure'; readonly message: string }
  /** A new turn: the end signal and the failure of the previous one no longer count. */
  | { readonly fact: 'turn_started' }
  /** The invocation has ended successfully. */
  | { readonly fact: 'end_signal'; readonly signal: EndSignal }
  /**
   * A record, or an object in one. Fields that are not known for its `shape` are drift. Fields that are not in `used`
   * are added to the frame's first event, as a bounded `detail`, under their `path` in the frame's value. With `isWhole`,
   * the engine's time and other fields that all engines report are added to the record's FCMP events, by name.
   */
  | {
      readonly fact: 'record';
      readonly record: object;
      readonly shape?: string;
      readonly isWhole?: boolean;
      readonly used?: ReadonlySet<string>;
      readonly path?: string;
    }
  /** The frame is expected but irrelevant: raw, without a warning. */
  | { readonly fact: 'noise' }
  /** The frame is part of something that is emitted later, after `frames`. */
  | { readonly fact: 'hold' }
  /** The frame is not valid output of the engine: raw, with a warning. */
  | { readonly fact: 'unparsed'; readonly code?: DiagnosticCode; readonly message?: string }
  /** The frame is a record of a known type without the fields it needs: raw, with a warning. */
  | { readonly fact: 'malformed'; readonly why: string }
  /** The frame is a record of an unknown type: raw, with a warning, and counted as drift. */
  | { readonly fact: 'unknown_type'; readonly type: string }
  | {
      readonly fact: 'warning';
      readonly code: DiagnosticCode;
      readonly message: string;
      readonly subject?: string;
      readonly confidence?: number;
    }
  /** Later facts are about a frame that was held, or about the current one again. */
  | { readonly fact: 'frame'; readonly frame: Frame }
  /** Later facts are about all bytes from one frame to another in the same stream. */
  | { readonly fact: 'frames'; readonly first: Frame; readonly last: Frame }
  /** The confidence of later facts about this frame; 1 by default. */
  | { readonly fact: 'confidence'; readonly value: number }
  /** The facts so far are a guess (confidence below 0.5): their source text is added as raw, with a warning. */
  | { readonly fact: 'guess'; readonly text: string }
  /** The parser name from here on, for engines with multiple formats. */
  | { readonly fact: 'parser'; readonly name: ParserName | (string & {}) };

/** Takes the facts that a reader finds in its frames. */
export type Emit = (fact: Fact) => void;
