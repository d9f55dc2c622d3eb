import type { EngineError, Emit } from '../fact.js';
import { BoundedSet } from '../../reading/bounded-map.js';
import type { Dialect } from './dialect.js';
import { Speaker } from './speaker.js';

/** Limit on open sub-agents; beyond it, the oldest is closed. */
const MAX_SUB_AGENTS = 256;
/** Limit on calls tracked as open; beyond it, the oldest is dropped. */
const MAX_OPEN_CALLS = 4096;

/** The state of a conversation while its records are read: speakers, open calls, the last error. */
export class Conversation {
  readonly emit: Emit;
  readonly dialect: Dialect;
  /** The agent itself. */
  readonly agent: Speaker;
  readonly #subAgents = new Map<string, Speaker>();
  readonly #openCalls = new BoundedSet<string>(MAX_OPEN_CALLS);
  #thoughts = 0;
  #lastError: string | null = null;
  #hasEnded = false;

  constructor(dialect: Dialect, emit: Emit) {
    this.dialect = dialect;
    this.emit = emit;
    this.agent = new Speaker(emit, null, () => this.#nextThought());
  }

  /** Returns the speaker of a record: the agent, or the sub-agent that a tool call started. */
  getSpeaker(parent: string | null): Speaker {
    if (parent === null) return this.agent;
    const existing = this.#subAgents.get(parent);
    if (existing !== undefined) return existing;
    const [oldest] = this.#subAgents.keys();
    if (oldest !== undefined && this.#subAgents.size >= MAX_SUB_AGENTS) this.#closeSubAgent(oldest);
    const speaker = new Speaker(this.emit, parent, () => this.#nextThought());
    this.#subAgents.set(parent, speaker);
    return speaker;
  }

  /** Starts a new turn, and ends the previous one if it is still open. */
  startTurn(): void {
    this.endTurn();
    this.continueTurn();
    this.agent.startMessage(null);
  }

  /** Called when the agent produces output; after the end of a turn, this starts a new one. */
  continueTurn(): void {
    if (!this.#hasEnded) return;
    this.#hasEnded = false;
    this.#lastError = null;
    this.emit({ fact: 'turn_started' });
  }

  /** Ends the turn, successfully or not: the open message is complete. */
  endTurn(): void {
    this.#hasEnded = true;
    for (const parent of this.#subAgents.keys()) this.#closeSubAgent(parent);
    this.agent.endBlock();
  }

  startCall(id: string): void {
    this.#openCalls.add(id);
  }

  isOpenCall(id: string): boolean {
    return this.#openCalls.has(id);
  }

  /** Ends a call and the sub-agent it started. */
  endCall(id: string): void {
    this.#openCalls.delete(id);
    this.#closeSubAgent(id);
  }

  /**
   * Reports an error that ended the turn, unless it was already reported: these CLIs print the same failure repeatedly.
   * Returns whether it was new.
   */
  reportFailure(error: EngineError): boolean {
    if (this.isLastError(error.message)) return false;
    this.#lastError = error.message;
    this.emit({ fact: 'error', ...error });
    return true;
  }

  /** Whether the last reported failure has this message. */
  isLastError(message: string): boolean {
    return this.#lastError === message;
  }

  #closeSubAgent(parent: string): void {
    this.#subAgents.get(parent)?.endBlock();
    this.#subAgents.delete(parent);
  }

  #nextThought(): string {
    this.#thoughts += 1;
    return `thought_${this.#thoughts}`;
  }
}
