import type { FcmpEvent } from '../../../src/events/index.js';

/** A question that an agent waits with. */
export interface OpenQuestion {
  readonly interactionId: string;
  readonly prompt: string;
  readonly options: readonly string[];
}

/** The question the last events end with: whatever comes behind one says that it is not waiting any more. */
export function openQuestion(events: readonly FcmpEvent[]): OpenQuestion | null {
  const last = events.at(-1);
  if (last?.type !== 'user.input.required') return null;
  const { interaction_id, prompt, options = [] } = last.data;
  return { interactionId: interaction_id, prompt, options };
}
