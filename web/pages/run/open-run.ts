import { computed, signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { Gap } from '../../../src/client/index.js';
import { client } from '../../server/client.js';
import { createConversation } from './conversation.js';
import { createEventList } from './event-list.js';
import { createItemFilter } from './item-filter.js';
import type { ItemFilter } from './item-filter.js';
import { isRasp } from './event-cursor.js';
import { createFollower, sleep } from './follow-events.js';
import type { StreamState } from './follow-events.js';
import { lightUp } from './light-up.js';
import type { Light, RunLenses, Place } from './light-up.js';
import { createRawBlocks } from './raw-blocks.js';
import type { RawBlocks } from './raw-blocks.js';
import { createRawRows, streamSizes } from './raw-rows.js';

/** An open run: what has arrived, and what is selected. */
export interface OpenRun {
  readonly id: string;
  readonly lenses: RunLenses;
  readonly blocks: RawBlocks;
  /** The filter of the conversation. */
  readonly filter: ItemFilter;
  /** Changes when there is something new to draw; each lens has a separate counter. */
  readonly beats: Readonly<Record<'page' | 'timeline' | 'conversation' | 'events' | 'raw', ReadonlySignal<number>>>;
  readonly connection: ReadonlySignal<StreamState>;
  /** Events that the server does not have any more. */
  readonly gaps: ReadonlySignal<readonly Gap[]>;
  /** When the run itself started and ended, in milliseconds, as far as it has. */
  readonly span: Signal<{ readonly start: number | null; readonly end: number | null }>;
  readonly chosen: Signal<Place | null>;
  readonly light: ReadonlySignal<Light | null>;
  /** The moment that is replayed, in milliseconds; null is all there is. */
  readonly moment: Signal<number | null>;
  /** Follows the run until it has ended; again, after a connection was lost. */
  readonly follow: () => void;
  readonly close: () => void;
}

/** A browser has six connections to a server for all its tabs: a hidden tab closes its own. */
const HIDDEN_MS = 10_000;
const MAX_GAPS = 100;
/** When to look again for files that neither this machine nor the archive had at the end of the run. */
const ARCHIVED_AFTER_MS = [3000, 10_000, 30_000];

/** Opens a run; before {@link OpenRun.follow} nothing is asked of the server, and there is nothing to close. */
export function openRun(id: string, at: Place | null): OpenRun {
  const lenses: RunLenses = { conversation: createConversation(), list: createEventList(), rows: createRawRows() };
  const beats = { page: signal(0), timeline: signal(0), conversation: signal(0), events: signal(0), raw: signal(0) };
  const pulse = createPulse(Object.values(beats).map((beat) => () => (beat.value += 1)));
  const filter = createItemFilter(lenses.conversation, pulse);
  const gaps = signal<readonly Gap[]>([]);
  const chosen = signal(at);
  let control = new AbortController();
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const blocks = createRawBlocks(
    async ({ attempt_number, stream, byte_from, byte_to }) =>
      client.readRaw({ id, attempt: attempt_number, stream, from: byte_from, to: byte_to }),
    pulse,
  );
  const onGap = (gap: Gap): void => void (gaps.value = [...gaps.value, gap].slice(-MAX_GAPS));
  const follower = createFollower({
    client,
    id,
    take(event) {
      if (isRasp(event)) {
        lenses.rows.take(event, lenses.list.append(event));
      } else {
        lenses.conversation.append(event);
        filter.update();
      }
      pulse();
    },
    onGap,
  });

  /** Takes the sizes of the streams, to show bytes without an event. False if the files are not available. */
  async function takeSizes(stop: AbortSignal): Promise<boolean> {
    const { evidence, source } = await client.listRunFiles({ id, signal: stop });
    for (const { name, size } of streamSizes(evidence)) lenses.rows.takeSize(name, size);
    if (source !== null && blocks.problems().length > 0) blocks.retry();
    pulse();
    return source !== null;
  }
  async function followAll(stop: AbortSignal): Promise<void> {
    await follower.follow(stop);
    if (!follower.isOver()) return;
    // A worker on another machine has the files; the events are still available. An archive has them a moment after the
    // end.
    for (const waitMs of [0, ...ARCHIVED_AFTER_MS]) {
      await sleep(waitMs, stop);
      if (stop.aborted || (await takeSizes(stop).catch(() => false))) return;
    }
  }
  function follow(): void {
    control.abort();
    control = new AbortController();
    document.addEventListener('visibilitychange', onVisibility);
    void followAll(control.signal);
  }
  function pause(): void {
    control.abort();
    follower.pause();
  }
  function onVisibility(): void {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(pause, HIDDEN_MS);
    else if (follower.state.value.state === 'paused') follow();
  }

  return {
    id,
    lenses,
    blocks,
    filter,
    beats,
    connection: follower.state,
    gaps,
    span: signal({ start: null, end: null }),
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

/** Drawing more often than this makes no visible difference. */
const EVERY_MS = 80;

/**
 * Creates a function that schedules the redraws. However often it is called, they run at most twelve times a second, one after
 * the other, each in a separate frame: drawing three lenses in one frame would take too long.
 */
function createPulse(beats: readonly (() => void)[]): () => void {
  let isDue = false;
  let last = Number.NEGATIVE_INFINITY;
  function step(index: number): void {
    requestAnimationFrame((now) => {
      // Later events belong to the next round.
      if (index === 0) {
        isDue = false;
        last = now;
      }
      beats[index]?.();
      if (index + 1 < beats.length) step(index + 1);
    });
  }
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => step(0), Math.max(0, last + EVERY_MS - performance.now()));
  };
}
