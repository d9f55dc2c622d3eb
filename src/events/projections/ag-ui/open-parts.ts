import type { AgUiEvent } from './ag-ui-event.js';

/** When an event happened, and which attempt it belongs to. */
export interface Moment {
  readonly attempt: number;
  readonly seq: number;
  readonly timestamp: number;
}

/** The sub-agent that speaks or acts; empty for the agent itself. */
export type Attribution = { readonly subagentRunId?: string };

/** A message, a thought, a tool call or a sub-agent that was opened in a run and must be closed before the run ends. */
export interface OpenPart {
  /** Whose it is. */
  readonly by: Attribution;
  /** The sub-agent it is. */
  readonly subagentRunId?: string;
  /** The tool that is called. */
  readonly toolName?: string;
  close(timestamp: number): AgUiEvent[];
}

/** What is open in an AG-UI run. Each part is opened once and closed once; whatever an engine leaves open, `closeAll` closes. */
export class OpenParts {
  readonly #parts = new Map<string, OpenPart>();

  get(key: string): OpenPart | undefined {
    return this.#parts.get(key);
  }

  open(key: string, part: OpenPart): void {
    this.#parts.set(key, part);
  }

  /** A part that is open no more, and still to be closed by who takes it. */
  take(key: string): OpenPart | undefined {
    const part = this.#parts.get(key);
    this.#parts.delete(key);
    return part;
  }

  close(key: string, timestamp: number): AgUiEvent[] {
    return this.take(key)?.close(timestamp) ?? [];
  }

  /** Closes what belongs to a sub-agent, and to the sub-agents it started; the last first. */
  closeThoseOf(subagentRunId: string, timestamp: number): AgUiEvent[] {
    const members = new Set([subagentRunId]);
    const keys: string[] = [];
    for (const [key, { by, subagentRunId: started }] of this.#parts) {
      if (by.subagentRunId === undefined || !members.has(by.subagentRunId)) continue;
      if (started !== undefined) members.add(started);
      keys.push(key);
    }
    return keys.toReversed().flatMap((key) => this.close(key, timestamp));
  }

  closeAll(timestamp: number): AgUiEvent[] {
    return [...this.#parts.keys()].toReversed().flatMap((key) => this.close(key, timestamp));
  }
}
