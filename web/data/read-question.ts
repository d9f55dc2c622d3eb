import type { Client } from '../../src/server/client/index.js';
import type { FcmpData, FcmpEvent } from '../../src/events/index.js';
import { t } from '../app/texts.js';

export interface OpenQuestion {
  readonly interactionId: string;
  /** The number of the event with the question. */
  readonly seq: number;
  readonly prompt: string;
  readonly options: readonly string[];
  /** The permission request, if known; the answer is then one of its options. */
  readonly permission?: Pick<FcmpData<'permission.required'>, 'options'> &
    Partial<Pick<FcmpData<'permission.required'>, 'tool' | 'input' | 'diff'>>;
}

/** Finds the open question. Any event after a question means it was answered. */
export function findOpenQuestion(events: readonly FcmpEvent[]): OpenQuestion | null {
  const last = events.at(-1);
  if (last?.type !== 'user.input.required') return findOpenPermission(events);
  // No one can answer it: the end of the run follows.
  if (last.data.answerable === false) return null;
  const { interaction_id, prompt, options = [] } = last.data;
  return { interactionId: interaction_id, seq: last.seq, prompt, options };
}

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
    const prompt = t.allowTool(tool, JSON.stringify(input), files);
    const { interaction_id: interactionId } = event.data;
    return { interactionId, seq: event.seq, prompt, options: [], permission: event.data };
  }
  return null;
}

/** Whether the agent has asked another question since this one. Misses questions the server does not list yet. */
export async function isReplaced(
  client: Pick<Client, 'listWaiting'>,
  run: string,
  interactionId: string,
): Promise<boolean> {
  const { items } = await client.listWaiting();
  const open = items.flatMap((entry) =>
    (entry.kind === 'question' || entry.kind === 'permission') && entry.run === run ? [entry.interaction_id] : [],
  );
  return open.length > 0 && !open.includes(interactionId);
}
