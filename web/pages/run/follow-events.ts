import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { Client, Gap } from '../../../src/client/index.js';
import { asFailure } from '../../server/use-resource.js';
import type { Failure } from '../../server/use-resource.js';
import { createEventCursor } from './event-cursor.js';
import { measureWeight } from './event-weight.js';
import { createStreamShare } from './share-stream.js';
import type { Release, RunEvent, StreamShare } from './share-stream.js';
import { takeStreamSlot } from './stream-slots.js';

/** The state of a run's stream. */
export type StreamState =
  | { readonly state: 'opening' | 'live' | 'reconnecting' | 'paused' | 'full' | 'ended' }
  | { readonly state: 'lost'; readonly failure: Failure };

/** The events of a run on their way into the page. */
interface Follower {
  readonly state: ReadonlySignal<StreamState>;
  /** Follows from the last event until the run ends or it is stopped. */
  readonly follow: (stop: AbortSignal) => Promise<void>;
  /** Says that it was stopped for a while. */
  readonly pause: () => void;
  /** Nothing more will come, or be taken. */
  readonly isOver: () => boolean;
}

/** The stream to follow, and the callbacks for its events. */
interface FollowerInput {
  readonly client: Pick<Client, 'followRun' | 'readHistory' | 'getRun'>;
  readonly id: string;
  readonly take: (event: RunEvent) => void;
  readonly onGap: (gap: Gap) => void;
  readonly share?: StreamShare;
  /** Takes the place of a stream; null if all tabs together have enough. */
  readonly takeSlot?: () => Promise<Release | null>;
  /** Waits before the next try; ends early when it is stopped. */
  readonly pause?: (ms: number, stop: AbortSignal) => Promise<void>;
}

/** More events than this, or more words, are not kept in a page. */
const MAX_EVENTS = 400_000;
const MAX_WEIGHT = 192 * 1024 * 1024;

/** Between two series of tries of the client. */
const AGAIN_MS = 5000;
/** Without a stream the history is asked for this often; a place that is free is taken. */
const POLL_MS = 1500;
/** Events of one answer: reading more at once would hold the page up. */
const POLL_EVENTS = 100;
/** A tab that gets its events from another asks the server itself this often: the other may be too busy, or frozen. */
const CHECK_MS = 5000;
/** Events of another tab that wait to be taken; with more the history is read. */
const MAX_QUEUED = 2000;

/** Creates a follower; it sends nothing before `follow` is called. */
export function createFollower(input: FollowerInput): Follower {
  const { client, id, take, onGap, takeSlot = takeStreamSlot, pause = sleep } = input;
  const share = input.share ?? createStreamShare(id);
  const state = signal<StreamState>({ state: 'opening' });
  const cursor = createEventCursor();
  let count = 0;
  let weight = 0;

  function takeOne(event: RunEvent): 'more' | 'enough' {
    if (cursor.place(event) === 'known') return 'more';
    take(event);
    cursor.advance(event);
    share.publish(event);
    count += 1;
    weight += measureWeight(event);
    return count < MAX_EVENTS && weight < MAX_WEIGHT ? 'more' : 'enough';
  }
  const isOver = (): boolean => state.value.state === 'ended' || state.value.state === 'full';

  /** One call of the client, which itself reconnects for a while. */
  async function followOnce(stop: AbortSignal): Promise<'done' | 'again'> {
    try {
      const after = cursor.after();
      const events = client.followRun({
        id,
        protocol: 'fcmp,rasp',
        ...(after === undefined ? {} : { after }),
        signal: stop,
        onGap,
        onConnection(now) {
          if (!stop.aborted) state.value = { state: now === 'open' ? 'live' : 'reconnecting' };
        },
      });
      // Events that had arrived on an aborted connection but were not taken come again on the next.
      const how = await takeEvents(events, (event) => (stop.aborted ? 'enough' : takeOne(event)));
      if (!stop.aborted) state.value = { state: how === 'enough' ? 'full' : 'ended' };
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code === 'STREAM_LOST') return 'again';
      if (!stop.aborted) state.value = { state: 'lost', failure };
    }
    return 'done';
  }

  /** Reads what has come since in a log; true if the page can hold no more. */
  async function readRest(protocol: 'fcmp' | 'rasp', stop: AbortSignal): Promise<boolean> {
    for (;;) {
      const from = cursor.from(protocol);
      const query = { protocol, limit: POLL_EVENTS, ...(from === undefined ? {} : { from }) };
      const page = await client.readHistory({ id, query, signal: stop });
      if (stop.aborted) return false;
      state.value = { state: 'live' };
      // The server sends this type: it is part of the same package.
      const events = page.events as readonly RunEvent[];
      if ((await takeEvents(toAsync(events), takeOne)) === 'enough') return true;
      if (page.next_from === null) return false;
    }
  }

  /** Without a stream: reads what has come since, in short requests. */
  async function pollOnce(stop: AbortSignal): Promise<'done' | 'again'> {
    try {
      const isEnded = (await client.getRun({ id, signal: stop })).state === 'ended';
      const isFull = (await readRest('fcmp', stop)) || (await readRest('rasp', stop));
      if (stop.aborted) return 'done';
      if (isFull || isEnded) state.value = { state: isFull ? 'full' : 'ended' };
      return isFull || isEnded ? 'done' : 'again';
    } catch (error) {
      if (stop.aborted) return 'done';
      const failure = asFailure(error);
      state.value = failure.code === 'RUN_NOT_FOUND' ? { state: 'lost', failure } : { state: 'reconnecting' };
      return state.value.state === 'lost' ? 'done' : 'again';
    }
  }

  /** Another tab has the stream: takes its events, until that tab leaves. The history has what is missing. */
  async function listen(stop: AbortSignal): Promise<Release | null> {
    const leaving = new AbortController();
    const left = AbortSignal.any([stop, leaving.signal]);
    const held: { release: Release | null } = { release: null };
    let queue: RunEvent[] = [];
    let isBehind = true;
    let wake = doNothing;
    const unlisten = share.listen((events) => {
      queue.push(...events);
      if (queue.length > MAX_QUEUED) {
        queue = [];
        isBehind = true;
      }
      wake();
    });
    const becomeLeader = async (): Promise<void> => {
      const release = await share.waitToLead(left);
      if (left.aborted) release?.();
      else held.release = release;
      wake();
    };
    becomeLeader().catch(doNothing);
    const takeShared = (event: RunEvent): 'more' | 'enough' => {
      if (cursor.place(event) !== 'later') return takeOne(event);
      isBehind = true;
      return 'more';
    };
    try {
      while (!stop.aborted && held.release === null) {
        if (isBehind) {
          isBehind = false;
          if ((await pollOnce(stop)) === 'done') break;
        }
        if ((await takeEvents(toAsync(queue.splice(0)), takeShared)) === 'enough') state.value = { state: 'full' };
        if (isOver()) break;
        if (isBehind || queue.length > 0 || held.release !== null) continue;
        const turn = new AbortController();
        const isWoken = new Promise<true>((resolve) => {
          wake = () => resolve(true);
        });
        const check = pause(CHECK_MS, AbortSignal.any([left, turn.signal])).then(() => false);
        isBehind = !(await Promise.race([isWoken, check]));
        turn.abort();
      }
    } finally {
      unlisten();
      leaving.abort();
    }
    if (!isOver()) return held.release;
    held.release?.();
    return null;
  }

  /** This tab has the stream, or reads in short requests if all tabs together have enough streams. */
  async function lead(stop: AbortSignal): Promise<void> {
    while (!isOver()) {
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
  }

  return {
    state,
    isOver,
    pause() {
      if (!isOver() && state.value.state !== 'lost') state.value = { state: 'paused' };
    },
    async follow(stop) {
      if (isOver()) return;
      const release = (await share.tryLead()) ?? (await listen(stop));
      if (release === null) return;
      await lead(stop).finally(release);
    },
  };
}

function doNothing(): void {
  // Nothing waits to be woken; a lock that cannot be had is asked for again by the next visit.
}

async function* toAsync<Event>(events: readonly Event[]): AsyncGenerator<Event> {
  yield* events;
}

/** Work in one go; a frame has 16 ms, and drawing needs its share. */
const SLICE_MS = 6;

/**
 * Processes events as they arrive, and lets the page render and react in between: fifty thousand at once are taken in
 * slices. Ends when `take` returns `enough`.
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

/** Waits; ends early when it is stopped. */
export async function sleep(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
