import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { Client, Gap, ProtocolEvents } from '../../../src/client/index.js';
import { asFailure } from '../../server/use-resource.js';
import type { StreamState } from './connection.js';
import { weightOf } from './event-weight.js';
import { takeEvents } from './take-events.js';

/** The events of one protocol on their way into the page. */
export interface Follower {
  readonly state: ReadonlySignal<StreamState>;
  /** Goes on behind the last event until there are no more, a connection is lost or it is told to stop. */
  readonly follow: (stop: AbortSignal) => Promise<void>;
  /** Says that it was stopped for a while. */
  readonly pause: () => void;
  /** Nothing more will come, or be taken. */
  readonly isOver: () => boolean;
}

/** What to follow, and what becomes of it. */
export interface FollowerInput<Protocol extends 'fcmp' | 'rasp'> {
  readonly client: Pick<Client, 'followRun'>;
  readonly id: string;
  readonly protocol: Protocol;
  readonly take: (event: ProtocolEvents[Protocol]) => void;
  /** Where an event stands, as the wire has it. */
  readonly positionOf: (event: ProtocolEvents[Protocol]) => string;
  readonly onGap: (gap: Gap) => void;
}

/** More events than this, or more words, are not kept in a page. */
const MOST_EVENTS = 200_000;
const MOST_WEIGHT = 96 * 1024 * 1024;

/** Makes a follower; it asks nothing of the server before it is told to. */
export function createFollower<Protocol extends 'fcmp' | 'rasp'>(input: FollowerInput<Protocol>): Follower {
  const { client, id, protocol, take, positionOf, onGap } = input;
  const state = signal<StreamState>({ state: 'opening' });
  let position: string | undefined;
  let count = 0;
  let weight = 0;

  function takeOne(event: ProtocolEvents[Protocol]): 'more' | 'enough' {
    take(event);
    position = positionOf(event);
    count += 1;
    weight += weightOf(event);
    return count < MOST_EVENTS && weight < MOST_WEIGHT ? 'more' : 'enough';
  }
  const isOver = (): boolean => state.value.state === 'ended' || state.value.state === 'full';

  return {
    state,
    isOver,
    pause() {
      if (!isOver() && state.value.state !== 'lost') state.value = { state: 'paused' };
    },
    async follow(stop) {
      if (isOver()) return;
      try {
        const events = client.followRun<Protocol>({
          id,
          protocol,
          ...(position === undefined ? {} : { after: position }),
          signal: stop,
          onGap,
          onConnection(now) {
            if (!stop.aborted) state.value = { state: now === 'open' ? 'live' : 'reconnecting' };
          },
        });
        // Of a connection that was given up, what had come but was not taken comes again on the next.
        const how = await takeEvents(events, (event) => (stop.aborted ? 'enough' : takeOne(event)));
        if (!stop.aborted) state.value = { state: how === 'enough' ? 'full' : 'ended' };
      } catch (error) {
        if (!stop.aborted) state.value = { state: 'lost', failure: asFailure(error) };
      }
    },
  };
}
