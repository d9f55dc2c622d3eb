import type { FcmpEvent, FcmpData } from '../protocol/fcmp-event.js';

/** Converts FCMP events to another protocol, one at a time; `end` closes the items that are open after the last. */
export interface Projection<Projected> {
  push(event: FcmpEvent): Projected[];
  end(): Projected[];
}

export function projectAll<Projected>(projection: Projection<Projected>, events: Iterable<FcmpEvent>): Projected[] {
  // Not spread into `push`: a malicious agent can leave more items open than a call can have arguments.
  const projected: Projected[][] = [];
  for (const event of events) projected.push(projection.push(event));
  projected.push(projection.end());
  return projected.flat();
}

/** The rest of a complete text, after the deltas streamed before. */
interface Remainder {
  /** The part that was not reported yet; empty if the deltas contained everything. */
  readonly rest: string;
  /** Whether the complete text contradicts the deltas, which can then only be corrected, not completed. */
  readonly diverged: boolean;
}

/** Tracks the streamed text of open messages, so the complete text is not reported twice. */
export class TextTracker {
  readonly #open = new Map<string, string>();

  append(id: string, chunk: string): void {
    this.#open.set(id, (this.#open.get(id) ?? '') + chunk);
  }

  finish(id: string, complete: string): Remainder {
    const streamed = this.#open.get(id) ?? '';
    this.#open.delete(id);
    if (complete.startsWith(streamed)) return { rest: complete.slice(streamed.length), diverged: false };
    // Engines trim the complete text but not its deltas.
    return { rest: '', diverged: complete.trim() !== streamed.trim() };
  }

  clear(): void {
    this.#open.clear();
  }
}

/** Returns an id that is unique in a conversation: engines restart their numbering of calls in each attempt. */
export function toToolCallId(id: string, attempt: number): string {
  return attempt === 1 ? id : `${attempt}:${id}`;
}

/** Returns an id for a thought: the engine's id, or the event number if it has none. */
export function toReasoningId(
  { reasoning_id }: { readonly reasoning_id?: string },
  { attempt, seq }: { readonly attempt: number; readonly seq: number },
): string {
  return `reasoning_${attempt}_${reasoning_id ?? seq}`;
}

/** Formats a tool's output as text: the error first, strings unchanged, other values as JSON. */
export function formatToolResult(call: FcmpData<'assistant.tool_call'>): string {
  const parts: string[] = [];
  if (call.error !== undefined) parts.push(call.error);
  if (call.output !== undefined)
    parts.push(typeof call.output === 'string' ? call.output : JSON.stringify(call.output));
  return parts.join('\n');
}
