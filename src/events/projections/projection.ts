import type { FcmpEvent, FcmpData } from '../protocol/fcmp-event.js';

/**
 * FCMP converted to another protocol, one event at a time. `push` gives what an event becomes, which may be
 * nothing; `end` closes what is still open once no more events will come.
 */
export interface Projection<Projected> {
  push(event: FcmpEvent): Projected[];
  end(): Projected[];
}

/** Applies a projection to a complete list of events. */
export function projectAll<Projected>(projection: Projection<Projected>, events: Iterable<FcmpEvent>): Projected[] {
  // Not spread into a call: a hostile attempt may leave so many items open that they exceed the argument limit of a call.
  const projected: Projected[][] = [];
  for (const event of events) projected.push(projection.push(event));
  projected.push(projection.end());
  return projected.flat();
}

/** The part of a whole text that follows the deltas streamed before. */
interface Remainder {
  /** The part still to be reported; empty if the deltas contained everything. */
  readonly rest: string;
  /** The whole text does not begin with the pieces, so they cannot be completed, only corrected. */
  readonly diverged: boolean;
}

/**
 * Remembers the texts that are being streamed, so that the whole text that follows is not reported twice. It holds the
 * text of open messages only.
 *
 * @example
 * const texts = createStreamedTexts()
 * texts.append('m_1_1', 'Hel')
 * texts.finish('m_1_1', 'Hello') // { rest: 'lo', diverged: false }
 */
export function createStreamedTexts(): StreamedTexts {
  const open = new Map<string, string>();
  return {
    append(id, piece) {
      open.set(id, (open.get(id) ?? '') + piece);
    },
    finish(id, whole) {
      const streamed = open.get(id) ?? '';
      open.delete(id);
      if (whole.startsWith(streamed)) return { rest: whole.slice(streamed.length), diverged: false };
      // Engines trim the whole text but not its pieces.
      return { rest: '', diverged: whole.trim() !== streamed.trim() };
    },
    clear() {
      open.clear();
    },
  };
}

interface StreamedTexts {
  append(id: string, piece: string): void;
  finish(id: string, whole: string): Remainder;
  clear(): void;
}

/** Engines restart their numbering of calls in each attempt; a conversation needs unique ids. */
export function toToolCallId(id: string, attempt: number): string {
  return attempt === 1 ? id : `${attempt}:${id}`;
}

/** A thought that was not streamed has no id. */
export function toReasoningId(
  { reasoning_id }: { readonly reasoning_id?: string },
  { attempt, seq }: { readonly attempt: number; readonly seq: number },
): string {
  return `reasoning_${attempt}_${reasoning_id ?? seq}`;
}

/** Formats the output of a tool as text: strings unchanged, other values as JSON, an error first. */
export function formatToolResult(call: FcmpData<'assistant.tool_call'>): string {
  const parts: string[] = [];
  if (call.error !== undefined) parts.push(call.error);
  if (call.output !== undefined)
    parts.push(typeof call.output === 'string' ? call.output : JSON.stringify(call.output));
  return parts.join('\n');
}
