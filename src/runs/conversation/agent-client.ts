import type { ConversationRequest } from '../launchers/launcher.js';

/** A request to a two-way agent. */
export interface AgentRequest extends ConversationRequest {
  readonly workdir: string;
  /** The session to resume. */
  readonly sessionId: string | null;
  readonly model?: string;
  /** Whether the agent's own modes that approve by themselves are left on. */
  readonly keepMode: boolean;
}

/** Callbacks of a conversation. */
export interface AgentClientPorts {
  send(message: object): void;
  /** The agent asks for the n-th permission of the turn, counted from 1, as in the ids of the events. */
  onPermission(number: number, kind: string | null): void;
  /** The agent does not want an answer any more. */
  onWithdrawn(number: number): void;
  readFile(path: string, lines: { readonly line: number | null; readonly limit: number | null }): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  /** The turn has ended, or the agent refused to start it: nothing more is expected of it. */
  onEnd(): void;
  /** The agent cannot continue the session. */
  onSessionLost(reason: string): void;
  /** The agent does not take what is to be sent with the prompt. */
  onUnsupported(what: string): void;
  /** The agent violates the protocol. */
  onBroken(reason: string): void;
}

/**
 * The client side of a conversation with one process, in its protocol: the handshake, then turn after turn. It only responds;
 * when to stop is decided elsewhere.
 */
export interface AgentClient {
  /** Whether another process can resume the session. */
  readonly canResume: boolean;
  /** Whether the turn has ended, well or not. */
  readonly isOver: boolean;
  /** Begins the conversation with its first prompt. */
  start(prompt: string): void;
  /** Begins the next turn in the same session. */
  prompt(text: string): void;
  /** Takes what the agent printed; it may be cut anywhere. */
  receive(bytes: Uint8Array): void;
  /** Answers a permission request with an option, or without one, which denies. `about` is kept in the recording. */
  answer(number: number, optionId: string | null, about: AnswerAuthor): void;
  /** Asks the agent to stop, and denies what it still asks for. */
  cancel(about: AnswerAuthor): void;
  /** Nothing is expected any more. */
  close(): void;
}

/** The author of a decision, and the reason. */
export interface AnswerAuthor {
  readonly by: 'rule' | 'person';
  readonly who?: string;
  readonly why?: string;
}

/** Limits of a conversation; for tests. */
export interface ClientLimits {
  /** How long the agent may take for each step before the prompt. */
  readonly handshakeMs?: number;
}

/** How long an agent may take for each step before the prompt. */
export const HANDSHAKE_MS = 120_000;

/** Requests an agent may make with one process: no real one comes near. */
export const MAX_REQUESTS = 10_000;

/** Lines that are not messages before the first answer: a program that is not an agent prints such. */
export const MAX_STRAY_LINES = 200;
