import type { Failure } from '../../server/use-resource.js';

/** How the stream of one protocol stands. */
export type StreamState =
  | { readonly state: 'opening' | 'live' | 'reconnecting' | 'paused' | 'full' | 'ended' }
  | { readonly state: 'lost'; readonly failure: Failure };

/** Of what several streams are, the one thing a person should know. */
const ORDER = ['lost', 'full', 'reconnecting', 'paused', 'opening', 'live', 'ended'] as const;

/** How the events of a run come in, in one word: the worst of its streams. */
export function joinStates(states: readonly StreamState[]): StreamState {
  for (const word of ORDER) {
    const found = states.find(({ state }) => state === word);
    if (found !== undefined) return found;
  }
  return { state: 'opening' };
}
