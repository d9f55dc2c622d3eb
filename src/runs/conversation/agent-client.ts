import type { ConversationRequest } from '../launchers/launcher.js';

/** A request to a two-way agent. */
export interface AgentRequest extends ConversationRequest {
  readonly workdir: string;
  /** The session to resume. */
  readonly sessionId: string | null;
  readonly model?: string;
  /** Whether the agent may stay in a mode that approves tool calls automatically. */
  readonly keepMode: boolean;
}

/** Callbacks of a conversation. */
export interface AgentClientPorts {
  send(message: object): void;
  /** Called for each permission request of the turn. Requests are numbered from 1, as in event ids. */
  onPermission(number: number, kind: string | null): void;
  /** Called when the agent withdraws a request. */
  onWithdrawn(number: number): void;
  readFile(path: string, lines: { readonly line: number | null; readonly limit: number | null }): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  /** Called when the turn has ended or the agent refused to start it. */
  onEnd(): void;
  /** Called when the agent cannot continue the session. */
  onSessionLost(reason: string): void;
  /** Called when the agent does not accept one of the prompt's inputs. */
  onUnsupported(what: string): void;
  /** Called when the agent violates the protocol. */
  onProtocolViolation(reason: string): void;
}

/**
 * The client side of a conversation with one process: the handshake, then the turns. The caller determines when to
 * stop.
 */
export interface AgentClient {
  /** Whether another process can resume the session. */
  readonly canResume: boolean;
  /** Whether the turn has ended, successfully or not. */
  readonly isOver: boolean;
  /** Starts the conversation with its first prompt. */
  start(prompt: string): void;
  /** Starts the next turn in the same session. */
  prompt(text: string): void;
  /** Reads agent output, which can be split anywhere. */
  receive(bytes: Uint8Array): void;
  /** Answers a permission request with an option; null denies it. The author is stored in the recording. */
  answer(number: number, optionId: string | null, author: AnswerAuthor): void;
  /** Asks the agent to stop, and denies its open permission requests. */
  cancel(author: AnswerAuthor): void;
  /** Ends the conversation. */
  close(): void;
}

/** A decision's author and reason. */
export interface AnswerAuthor {
  readonly by: 'rule' | 'person';
  readonly who?: string;
  readonly why?: string;
}

/** Conversation limits, overridden in tests. */
export interface ClientLimits {
  /** The time limit for each step before the prompt. */
  readonly handshakeMs?: number;
}

/** The time limit for each step before the prompt. */
export const HANDSHAKE_MS = 120_000;

/** Maximum requests per process; real agents send far fewer. */
export const MAX_REQUESTS = 10_000;

/** Maximum non-message lines before the first response; a process that prints more is not an agent. */
export const MAX_STRAY_LINES = 200;
