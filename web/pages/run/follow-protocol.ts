import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { Client, Gap, ProtocolEvents } from '../../../src/client/index.js';
import { asFailure } from '../../server/use-resource.js';
import type { Failure } from '../../server/use-resource.js';
import { takeStreamSlot } from './stream-slots.js';
import type { ReleaseSlot } from './stream-slots.js';

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

/** The events of one protocol on their way into the page. */
interface Follower {
  readonly state: ReadonlySignal<StreamState>;
  /** Follows from the last event until the stream ends or it is stopped. */
  readonly follow: (stop: AbortSignal) => Promise<void>;
  /** Says that it was stopped for a while. */
  readonly pause: () => void;
  /** Nothing more will come, or be taken. */
  readonly isOver: () => boolean;
}

/** What to follow, and what becomes of it. */
interface FollowerInput<Protocol extends 'fcmp' | 'rasp'> {
  readonly client: Pick<Client, 'followRun' | 'readHistory' | 'getRun'>;
  readonly id: string;
  readonly protocol: Protocol;
  readonly take: (event: ProtocolEvents[Protocol]) => void;
  /** The position of an event, as the wire format has it. */
  readonly getPosition: (event: ProtocolEvents[Protocol]) => string;
  readonly onGap: (gap: Gap) => void;
  /** The position after an event, for a request of what follows. */
  readonly getNext: (event: ProtocolEvents[Protocol]) => string;
  /** Takes the place of a stream; null if all tabs together have enough. */
  readonly takeSlot?: () => Promise<ReleaseSlot | null>;
  /** Waits before the next try; ends early when it is stopped. */
  readonly pause?: (ms: number, stop: AbortSignal) => Promise<void>;
}

/** More events than this, or more words, are not kept in a page. */
const MOST_EVENTS = 200_000;
const MOST_WEIGHT = 96 * 1024 * 1024;

/** Between two series of tries of the client. */
const AGAIN_MS = 5000;
/** Without a stream the history is asked for this often; a place that is free is taken. */
const POLL_MS = 1500;
/** Events of one answer: reading more at once would hold the page up. */
const POLL_EVENTS = 100;

/** Creates a follower; it sends nothing before `follow` is called. */
export function createFollower<Protocol extends 'fcmp' | 'rasp'>(input: FollowerInput<Protocol>): Follower {
  const { client, id, protocol, take, getPosition, getNext, onGap, takeSlot = takeStreamSlot, pause = wait } = input;
  const state = signal<StreamState>({ state: 'opening' });
  let position: string | undefined;
  let next: string | undefined;
  let count = 0;
  let weight = 0;

  function takeOne(event: ProtocolEvents[Protocol]): 'more' | 'enough' {
    take(event);
    position = getPosition(event);
    next = getNext(event);
    count += 1;
    weight += measureWeight(event);
    return count < MOST_EVENTS && weight < MOST_WEIGHT ? 'more' : 'enough';
  }
  const isOver = (): boolean => state.value.state === 'ended' || state.value.state === 'full';

  /** One call of the client, which itself reconnects for a while. */
  async function followOnce(stop: AbortSignal): Promise<'done' | 'again'> {
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
      // Of a connection that was given up, what had arrived but was not taken comes again on the next.
      const how = await takeEvents(events, (event) => (stop.aborted ? 'enough' : takeOne(event)));
      if (!stop.aborted) state.value = { state: how === 'enough' ? 'full' : 'ended' };
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code === 'STREAM_LOST') return 'again';
      if (!stop.aborted) state.value = { state: 'lost', failure };
    }
    return 'done';
  }

  /** Without a stream: reads what has come since, in short requests. */
  async function pollOnce(stop: AbortSignal): Promise<'done' | 'again'> {
    try {
      const isEnded = (await client.getRun({ id, signal: stop })).state === 'ended';
      for (;;) {
        const query = { protocol, limit: POLL_EVENTS, ...(next === undefined ? {} : { from: next }) };
        const page = await client.readHistory({ id, query, signal: stop });
        if (stop.aborted) return 'done';
        state.value = { state: 'live' };
        // What the server sends is of this type: it is of the same package.
        const events = page.events as readonly ProtocolEvents[Protocol][];
        if ((await takeEvents(toAsync(events), takeOne)) === 'enough') {
          state.value = { state: 'full' };
          return 'done';
        }
        if (page.next_from === null) break;
      }
      if (isEnded) state.value = { state: 'ended' };
      return isEnded ? 'done' : 'again';
    } catch (error) {
      if (stop.aborted) return 'done';
      const failure = asFailure(error);
      state.value = failure.code === 'RUN_NOT_FOUND' ? { state: 'lost', failure } : { state: 'reconnecting' };
      return state.value.state === 'lost' ? 'done' : 'again';
    }
  }

  return {
    state,
    isOver,
    pause() {
      if (!isOver() && state.value.state !== 'lost') state.value = { state: 'paused' };
    },
    async follow(stop) {
      for (;;) {
        if (isOver()) return;
        const release = await takeSlot();
        const outcome = release === null ? await pollOnce(stop) : await followOnce(stop).finally(release);
        if (outcome !== 'again' || stop.aborted) return;
        if (release === null) {
          await pause(POLL_MS, stop);
          continue;
        }
        // The client has tried for minutes. A page may stay open for days: it keeps trying at the same interval.
        state.value = { state: 'reconnecting' };
        await pause(AGAIN_MS, stop);
      }
    },
  };
}

async function* toAsync<Event>(events: readonly Event[]): AsyncGenerator<Event> {
  yield* events;
}

/** What an event costs beside its words. */
const ENVELOPE = 400;
/** The size that counts for a value that is not a string. */
const VALUE = 8;

/**
 * About how many characters an event keeps in memory: those of its data at any depth. A page holds a bounded
 * number of them, and an agent may print megabytes in one.
 */
export function measureWeight({ data }: { readonly data: object }): number {
  let weight = ENVELOPE;
  const waiting: unknown[] = Object.values(data);
  while (waiting.length > 0) {
    const value = waiting.pop();
    weight += typeof value === 'string' ? value.length : VALUE;
    if (typeof value !== 'object' || value === null) continue;
    const inners: readonly unknown[] = Object.values(value);
    for (const inner of inners) waiting.push(inner);
  }
  return weight;
}

/** Work in one go; a frame has 16 ms, and drawing needs its share. */
const SLICE_MS = 6;

/**
 * Processes events as they arrive, and lets the page render and react in between: fifty thousand that are there at once are taken in
 * slices. Ends when `take` has had enough.
 */
export async function takeEvents<Event>(
  events: AsyncIterable<Event>,
  take: (event: Event) => 'more' | 'enough',
): Promise<'ended' | 'enough'> {
  let began = performance.now();
  for await (const event of events) {
    if (take(event) === 'enough') return 'enough';
    if (performance.now() - began < SLICE_MS) continue;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    began = performance.now();
  }
  return 'ended';
}

async function wait(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
