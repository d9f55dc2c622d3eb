import type { FcmpData, FcmpEvent } from '../../src/events/index.js';
import type { Client } from '../../src/client/index.js';

/** A question that an agent is waiting with. */
export interface OpenQuestion {
  readonly interactionId: string;
  readonly prompt: string;
  readonly options: readonly string[];
  /** What a permission is asked for; then one of its options is the answer. */
  readonly permission?: FcmpData<'permission.required'>;
}

/** The question that the events end with: any later event means that it was answered. */
export function findOpenQuestion(events: readonly FcmpEvent[]): OpenQuestion | null {
  const last = events.at(-1);
  if (last?.type !== 'user.input.required') return findOpenPermission(events);
  const { interaction_id, prompt, options = [] } = last.data;
  return { interactionId: interaction_id, prompt, options };
}

/** The last permission request of the current attempt that has no answer. */
function findOpenPermission(events: readonly FcmpEvent[]): OpenQuestion | null {
  const answered = new Set<string>();
  const attempt = events.at(-1)?.meta.attempt;
  for (const event of events.toReversed()) {
    if (event.meta.attempt !== attempt) return null;
    if (event.type === 'conversation.completed' || event.type === 'conversation.failed') return null;
    if (event.type === 'permission.replied') answered.add(event.data.interaction_id);
    if (event.type !== 'permission.required' || answered.has(event.data.interaction_id)) continue;
    const { tool, input, diff = [] } = event.data;
    const files = diff.map(({ path }) => path).join(', ');
    const prompt = `Allow ${tool}? ${JSON.stringify(input)}${files === '' ? '' : ` (changes ${files})`}`;
    return { interactionId: event.data.interaction_id, prompt, options: [], permission: event.data };
  }
  return null;
}

/** Events of one answer: the whole of most conversations. */
const PAGE = 50;
/** A log of 2^40 events is longer than any. */
const MOST_STEPS = 80;

/**
 * Reads the open question of a run from the end of its conversation; null if it has none. The end is found by doubling and
 * halving the position, so that a conversation of a hundred thousand events takes some twenty short requests, not all of it.
 */
export async function readQuestion(
  client: Pick<Client, 'readHistory'>,
  id: string,
  signal: AbortSignal,
): Promise<OpenQuestion | null> {
  /** Positions with events after their page, and positions beyond the end. */
  let low = 0;
  let high: number | null = null;
  let from = 1;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const query = { protocol: 'fcmp', from: String(from), limit: PAGE } as const;
    const { events, next_from } = await client.readHistory({ id, query, signal });
    // What the server sends is of this type: it is of the same package.
    if (next_from === null && events.length > 0) return findOpenQuestion(events as readonly FcmpEvent[]);
    if (next_from === null) high = from;
    else low = from;
    if (high !== null && high - low <= 1) return null;
    from = high === null ? from * 2 : Math.floor((low + high) / 2);
  }
  return null;
}
