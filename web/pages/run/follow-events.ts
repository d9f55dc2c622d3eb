import { signal } from '@preact/signals';
import type { Client, EventGap } from '../../../src/server/client/index.js';
import { asFailure, type Failure } from '../../data/resource.js';
import { measureWeight, createStreamShare, acquireStreamSlot } from './share-stream.js';
import type { Release, RunEvent, StreamShare } from './share-stream.js';
import type { RaspEvent } from '../../../src/events/index.js';

export type StreamState =
  | { readonly state: 'opening' | 'live' | 'reconnecting' | 'paused' | 'full' | 'ended' }
  | { readonly state: 'lost'; readonly failure: Failure };

/** The maximum number of events per page, and their total weight: a followed run takes at most about 200 MB. */
const MAX_EVENTS = 200_000;
const MAX_WEIGHT = 128 * 1024 * 1024;

/** The delay after the client has stopped reconnecting. */
const RETRY_MS = 5000;
const POLL_MS = 1500;
/** Events per response; processing more at a time would block the page. */
const EVENTS_PER_RESPONSE = 100;
/** How often a tab that gets its events from another tab also polls the server: the other tab can be busy or frozen. */
const SERVER_POLL_MS = 5000;
/** The maximum number of queued events from another tab; beyond that the history is read. */
const MAX_QUEUED = 2000;

/** Creates a follower; it sends no request before `follow` is called. */
export function createFollower(input: {
  readonly client: Pick<Client, 'followRun' | 'readHistory' | 'getRun'>;
  readonly id: string;
  readonly onEvent: (event: RunEvent) => void;
  readonly onGap: (gap: EventGap) => void;
  readonly share?: StreamShare;
  /** Acquires one of the slots for streams; null if all tabs together already have the maximum number of streams. */
  readonly acquireSlot?: () => Promise<Release | null>;
  /** Waits before the next attempt; returns early when `stop` is aborted. */
  readonly pause?: (ms: number, stop: AbortSignal) => Promise<void>;
}) {
  const { client, id, onEvent, onGap, acquireSlot = acquireStreamSlot, pause = sleep } = input;
  const share = input.share ?? createStreamShare(id);
  const state = signal<StreamState>({ state: 'opening' });
  const cursor = createEventCursor();
  let count = 0;
  let weight = 0;

  function acceptEvent(event: RunEvent): 'more' | 'enough' {
    if (cursor.compare(event) === 'known') return 'more';
    onEvent(event);
    cursor.advance(event);
    share.publish(event);
    count += 1;
    weight += measureWeight(event);
    return count < MAX_EVENTS && weight < MAX_WEIGHT ? 'more' : 'enough';
  }
  const isOver = (): boolean => state.value.state === 'ended' || state.value.state === 'full';

  /** Follows the stream once; the client retries the connection for some time, then fails. */
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
      // Events that were not accepted because of an abort arrive again on the next connection.
      const outcome = await processEvents(events, (event) => (stop.aborted ? 'enough' : acceptEvent(event)));
      if (!stop.aborted) state.value = { state: outcome === 'enough' ? 'full' : 'ended' };
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code === 'STREAM_LOST') return 'again';
      if (!stop.aborted) state.value = { state: 'lost', failure };
    }
    return 'done';
  }

  /** Reads the new events of a log; returns true if the page has reached its limit. */
  async function readNewEvents(protocol: 'fcmp' | 'rasp', stop: AbortSignal): Promise<boolean> {
    for (;;) {
      const from = cursor.from(protocol);
      const query = { protocol, limit: EVENTS_PER_RESPONSE, ...(from === undefined ? {} : { from }) };
      const page = await client.readHistory({ id, query, signal: stop });
      if (stop.aborted) return false;
      state.value = { state: 'live' };
      // Safe cast: the server is part of the same package.
      const events = page.events as readonly RunEvent[];
      if ((await processEvents(toAsync(events), acceptEvent)) === 'enough') return true;
      if (page.next_from === null) return false;
    }
  }

  async function pollOnce(stop: AbortSignal): Promise<'done' | 'again'> {
    try {
      const isEnded = (await client.getRun({ id, signal: stop })).state === 'ended';
      const isFull = (await readNewEvents('fcmp', stop)) || (await readNewEvents('rasp', stop));
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

  /** Accepts events from the tab that has the stream, until it is closed; then returns the lock on the stream. */
  async function listen(stop: AbortSignal): Promise<Release | null> {
    const finished = new AbortController();
    const end = AbortSignal.any([stop, finished.signal]);
    const lock: { release: Release | null } = { release: null };
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
      const release = await share.waitToLead(end);
      if (end.aborted) release?.();
      else lock.release = release;
      wake();
    };
    becomeLeader().catch(doNothing);
    const acceptShared = (event: RunEvent): 'more' | 'enough' => {
      if (cursor.compare(event) !== 'later') return acceptEvent(event);
      isBehind = true;
      return 'more';
    };
    try {
      while (!stop.aborted && lock.release === null) {
        if (isBehind) {
          isBehind = false;
          if ((await pollOnce(stop)) === 'done') break;
        }
        if ((await processEvents(toAsync(queue.splice(0)), acceptShared)) === 'enough') state.value = { state: 'full' };
        if (isOver()) break;
        if (isBehind || queue.length > 0 || lock.release !== null) continue;
        const wait = new AbortController();
        const isWoken = new Promise<true>((resolve) => {
          wake = () => resolve(true);
        });
        const check = pause(SERVER_POLL_MS, AbortSignal.any([end, wait.signal])).then(() => false);
        isBehind = !(await Promise.race([isWoken, check]));
        wait.abort();
      }
    } finally {
      unlisten();
      finished.abort();
    }
    if (!isOver()) return lock.release;
    lock.release?.();
    return null;
  }

  /** Opens the stream in this tab, or sends short requests if all tabs together have too many streams. */
  async function lead(stop: AbortSignal): Promise<void> {
    while (!isOver()) {
      const release = await acquireSlot();
      const outcome = release === null ? await pollOnce(stop) : await followOnce(stop).finally(release);
      if (outcome !== 'again' || stop.aborted) return;
      if (release === null) {
        await pause(POLL_MS, stop);
        continue;
      }
      // The client retried for minutes and failed. A page can stay open for days, so it tries again at a fixed
      // interval.
      state.value = { state: 'reconnecting' };
      await pause(RETRY_MS, stop);
    }
  }

  return {
    state,
    /** Whether all events have arrived, or the page has reached its limit. */
    isOver,
    /** Continues after this position when it follows the run again. */
    skip: (to: Parameters<typeof cursor.skip>[0]) => cursor.skip(to),
    /** Sets the state to `paused`, unless the stream has ended or failed. */
    pause() {
      if (!isOver() && state.value.state !== 'lost') state.value = { state: 'paused' };
    },
    async follow(stop: AbortSignal): Promise<void> {
      if (isOver()) return;
      const release = (await share.tryLead()) ?? (await listen(stop));
      if (release === null) return;
      await lead(stop).finally(release);
    },
  };
}

function doNothing(): void {
  // Used as `wake` while nothing waits, and for a failed lock request: the lock is requested again when the run is opened again.
}

async function* toAsync<Event>(events: readonly Event[]): AsyncGenerator<Event> {
  yield* events;
}

/** The processing time per slice: a frame takes 16 ms, part of which is needed for drawing. */
const SLICE_MS = 6;

/** Processes events in slices, so the page reacts even if fifty thousand arrive together, until `accept` has enough. */
export async function processEvents<Event>(
  events: AsyncIterable<Event>,
  accept: (event: Event) => 'more' | 'enough',
): Promise<'ended' | 'enough'> {
  let sliceStart = performance.now();
  for await (const event of events) {
    if (accept(event) === 'enough') return 'enough';
    if (performance.now() - sliceStart < SLICE_MS) continue;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    sliceStart = performance.now();
  }
  return 'ended';
}

export async function sleep(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export function isRasp(event: RunEvent): event is RaspEvent {
  return 'attempt_number' in event;
}

/** Creates the read position in a run's two logs, before the first event. */
function createEventCursor() {
  let fcmp = 0;
  let rasp = { attempt: 0, seq: 0 };
  return {
    /** Compares an event with the position: it is the next event, was already read, or comes after a gap. */
    compare(event: RunEvent): 'next' | 'known' | 'later' {
      if (!isRasp(event)) return compareDistance(event.seq - fcmp);
      const { attempt_number: attempt, seq } = event;
      if (attempt === rasp.attempt) return compareDistance(seq - rasp.seq);
      if (attempt < rasp.attempt) return 'known';
      return attempt === rasp.attempt + 1 && seq === 1 ? 'next' : 'later';
    },
    advance(event: RunEvent) {
      if (isRasp(event)) rasp = { attempt: event.attempt_number, seq: event.seq };
      else fcmp = event.seq;
    },
    skip(to: Readonly<{ fcmp: number; rasp: typeof rasp }>) {
      fcmp = to.fcmp;
      rasp = to.rasp;
    },
    after: () => (fcmp === 0 && rasp.seq === 0 ? undefined : `${fcmp},${rasp.attempt}:${rasp.seq}`),
    from(log: 'fcmp' | 'rasp') {
      if (log === 'fcmp') return fcmp === 0 ? undefined : String(fcmp + 1);
      return rasp.seq === 0 ? undefined : `${rasp.attempt}:${rasp.seq + 1}`;
    },
  };
}

function compareDistance(distance: number): 'next' | 'known' | 'later' {
  if (distance === 1) return 'next';
  return distance < 1 ? 'known' : 'later';
}

/** The count of events behind is accurate to this many. */
const END_PRECISION = 100;

/** Finds the end of a log by asking whether single events exist: the server does not count them. */
export async function findLogEnd(known: number, exists: (seq: number) => Promise<boolean>): Promise<number> {
  let last = known;
  let step = END_PRECISION * 10;
  while (await exists(last + step)) {
    last += step;
    step *= 2;
  }
  for (let missing = last + step; missing - last > END_PRECISION;) {
    const middle = Math.floor((last + missing) / 2);
    if (await exists(middle)) last = middle;
    else missing = middle;
  }
  return last;
}
