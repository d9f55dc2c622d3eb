import { computed, signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { FcmpEvent, RaspEvent } from '../../../src/events/index.js';
import type { Gap } from '../../../src/client/index.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';
import { joinStates } from './connection.js';
import type { StreamState } from './connection.js';
import { createConversation } from './conversation.js';
import { createEventList } from './event-list.js';
import { weightOf } from './event-weight.js';
import { lightUp } from './light-up.js';
import type { Light, RunLenses } from './light-up.js';
import type { Place } from './place.js';
import { createPulse } from './pulse.js';
import { createRawBlocks } from './raw-blocks.js';
import type { RawBlocks } from './raw-blocks.js';
import { createRawRows } from './raw-rows.js';
import { streamSizes } from './stream-sizes.js';
import { takeEvents } from './take-events.js';

/** A run that is looked at: what has come of it, and what somebody has chosen. */
export interface OpenRun {
  readonly id: string;
  readonly lenses: RunLenses;
  readonly blocks: RawBlocks;
  /** Changes when there is something new to draw; each lens has its own turn. */
  readonly beats: Readonly<Record<'page' | 'conversation' | 'events' | 'raw', ReadonlySignal<number>>>;
  readonly connection: ReadonlySignal<StreamState>;
  /** Events that the server does not have any more. */
  readonly gaps: ReadonlySignal<readonly Gap[]>;
  readonly chosen: Signal<Place | null>;
  readonly light: ReadonlySignal<Light | null>;
  /** The moment that is replayed, in milliseconds; null is all there is. */
  readonly moment: Signal<number | null>;
  /** Follows the run until it has ended; again, after a connection was lost. */
  readonly follow: () => void;
  readonly close: () => void;
}

/** More events of a protocol than this, or more words, are not kept in a page. */
const MOST_EVENTS = 200_000;
const MOST_WEIGHT = 96 * 1024 * 1024;
/** A browser has six connections to a server for all its tabs: one that is not looked at gives its own back. */
const HIDDEN_MS = 10_000;

/** Opens a run; nothing is asked of the server before {@link OpenRun.follow}. */
export function openRun(id: string, at: Place | null): OpenRun {
  const lenses: RunLenses = { conversation: createConversation(), list: createEventList(), rows: createRawRows() };
  const beats = { page: signal(0), conversation: signal(0), events: signal(0), raw: signal(0) };
  const pulse = createPulse(Object.values(beats).map((beat) => () => (beat.value += 1)));
  const fcmp = signal<StreamState>({ state: 'opening' });
  const rasp = signal<StreamState>({ state: 'opening' });
  const gaps = signal<readonly Gap[]>([]);
  const chosen = signal(at);
  let control = new AbortController();
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const blocks = createRawBlocks(
    async ({ attempt_number, stream, byte_from, byte_to }) =>
      client.readRaw({ id, attempt: attempt_number, stream, from: byte_from, to: byte_to }),
    pulse,
  );

  const weights = { fcmp: 0, rasp: 0 };
  function takeMessage(event: FcmpEvent): 'more' | 'enough' {
    lenses.conversation.append(event);
    weights.fcmp += weightOf(event);
    pulse();
    return lenses.conversation.events.length < MOST_EVENTS && weights.fcmp < MOST_WEIGHT ? 'more' : 'enough';
  }
  function takeEvent(event: RaspEvent): 'more' | 'enough' {
    lenses.rows.take(event, lenses.list.append(event));
    weights.rasp += weightOf(event);
    pulse();
    return lenses.list.events.length < MOST_EVENTS && weights.rasp < MOST_WEIGHT ? 'more' : 'enough';
  }

  async function followOne<Protocol extends 'fcmp' | 'rasp'>(
    protocol: Protocol,
    state: Signal<StreamState>,
    after: string | undefined,
    take: (event: Protocol extends 'fcmp' ? FcmpEvent : RaspEvent) => 'more' | 'enough',
  ): Promise<void> {
    const { signal: stop } = control;
    try {
      const events = client.followRun<Protocol>({
        id,
        protocol,
        ...(after === undefined ? {} : { after }),
        signal: stop,
        onGap: (gap) => (gaps.value = [...gaps.value, gap].slice(-100)),
        onConnection: (now) => (state.value = { state: now === 'open' ? 'live' : 'reconnecting' }),
      });
      // The two types are the same by the table of protocols.
      const how = await takeEvents(events as AsyncIterable<Parameters<typeof take>[0]>, take);
      state.value = { state: how === 'enough' ? 'full' : 'ended' };
    } catch (error) {
      if (!stop.aborted) state.value = { state: 'lost', failure: asFailure(error) };
    }
    pulse();
  }

  /** What no event was made of is shown once the streams have their full length. */
  async function takeSizes(): Promise<void> {
    const { evidence } = await client.listRunFiles({ id, signal: control.signal });
    for (const { name, size } of streamSizes(evidence)) lenses.rows.takeSize(name, size);
    pulse();
  }

  function follow(): void {
    control = new AbortController();
    if (!isOver(fcmp)) {
      const last = lenses.conversation.events.at(-1);
      void followOne('fcmp', fcmp, last === undefined ? undefined : String(last.seq), takeMessage);
    }
    if (isOver(rasp)) return;
    const last = lenses.list.events.at(-1);
    void followOne('rasp', rasp, last === undefined ? undefined : `${last.attempt_number}:${last.seq}`, takeEvent)
      // A worker elsewhere has the files; the events are there all the same.
      .then(async () => (isOver(rasp) ? takeSizes() : undefined))
      .catch(() => undefined);
  }
  function pause(): void {
    control.abort();
    for (const state of [fcmp, rasp]) if (state.value.state !== 'ended') state.value = { state: 'paused' };
  }
  function onVisibility(): void {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(pause, HIDDEN_MS);
    else if (control.signal.aborted) follow();
  }
  document.addEventListener('visibilitychange', onVisibility);

  return {
    id,
    lenses,
    blocks,
    beats,
    connection: computed(() => joinStates([fcmp.value, rasp.value])),
    gaps,
    chosen,
    light: computed(() => {
      void beats.page.value;
      return chosen.value === null ? null : lightUp(lenses, chosen.value);
    }),
    moment: signal(null),
    follow,
    close() {
      document.removeEventListener('visibilitychange', onVisibility);
      clearTimeout(hiding);
      control.abort();
    },
  };
}

/** Nothing more will come, or be taken. */
function isOver({ value }: Signal<StreamState>): boolean {
  return value.state === 'ended' || value.state === 'full';
}
