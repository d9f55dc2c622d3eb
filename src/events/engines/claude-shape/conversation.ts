import type { EngineErrorReport, Report } from '../report.js';
import type { Dialect } from './dialect.js';
import { Speaker } from './speaker.js';

/** Sub-agents that may speak at once; the oldest is closed for one more. */
const MAX_SUB_AGENTS = 256;
/** Calls remembered as open; older ones are forgotten. */
const MAX_OPEN_CALLS = 4096;

/** The open state while the records of an attempt are read: speakers, running calls, outcome. */
export class Conversation {
  readonly report: Report;
  readonly dialect: Dialect;
  /** The agent itself. */
  readonly agent: Speaker;
  readonly #subAgents = new Map<string, Speaker>();
  readonly #openCalls = new Set<string>();
  #thoughts = 0;
  #lastError: string | null = null;
  #hasEnded = false;

  constructor(dialect: Dialect, report: Report) {
    this.dialect = dialect;
    this.report = report;
    this.agent = new Speaker(report, null, () => this.#nextThought());
  }

  /** Returns the speaker of a record: the agent, or the sub-agent that a tool call started. */
  speaker(parent: string | null): Speaker {
    if (parent === null) return this.agent;
    const known = this.#subAgents.get(parent);
    if (known !== undefined) return known;
    const [oldest] = this.#subAgents.keys();
    if (oldest !== undefined && this.#subAgents.size >= MAX_SUB_AGENTS) this.#dismiss(oldest);
    const speaker = new Speaker(this.report, parent, () => this.#nextThought());
    this.#subAgents.set(parent, speaker);
    return speaker;
  }

  /** Starts a new turn, however the previous one ended. */
  startsTurn(): void {
    this.ends();
    this.continueTurn();
    this.agent.startMessage(null);
  }

  /** The agent works: after an end this is a new turn. */
  continueTurn(): void {
    if (!this.#hasEnded) return;
    this.#hasEnded = false;
    this.#lastError = null;
    this.report.turnStarted();
  }

  /** Ends the turn, successfully or not: the open message is complete. */
  ends(): void {
    this.#hasEnded = true;
    for (const parent of this.#subAgents.keys()) this.#dismiss(parent);
    this.agent.endBlock();
  }

  callStarts(id: string): void {
    this.#openCalls.add(id);
    const [oldest] = this.#openCalls;
    if (oldest !== undefined && this.#openCalls.size > MAX_OPEN_CALLS) this.#openCalls.delete(oldest);
  }

  isOpenCall(id: string): boolean {
    return this.#openCalls.has(id);
  }

  /** A call has ended, and with it the sub-agent it started. */
  callEnds(id: string): void {
    this.#openCalls.delete(id);
    this.#dismiss(id);
  }

  /**
   * Reports an error that ended the work, unless it was reported already: programs print the same failure in several
   * places. True if it was news.
   */
  fails(error: EngineErrorReport): boolean {
    if (this.isLastError(error.message)) return false;
    this.#lastError = error.message;
    this.report.engineError(error);
    return true;
  }

  /** Whether this is the failure that was reported last. */
  isLastError(message: string): boolean {
    return this.#lastError === message;
  }

  #dismiss(parent: string): void {
    this.#subAgents.get(parent)?.endBlock();
    this.#subAgents.delete(parent);
  }

  #nextThought(): string {
    this.#thoughts += 1;
    return `thought_${this.#thoughts}`;
  }
}
