import type { FcmpEvent, RaspEvent } from '../../../src/events/index.js';
import { measureWeight } from './event-weight.js';

/** An event of either log of a run. */
export type RunEvent = FcmpEvent | RaspEvent;

/** Gives back what was taken. */
export type Release = () => void;

/** The tabs that show a run: one of them has the stream, the others get its events from it. */
export interface StreamShare {
  /** Makes this tab the one with the stream; null if another tab is. */
  readonly tryLead: () => Promise<Release | null>;
  /** Waits until the tab with the stream leaves; null if it was stopped before. */
  readonly waitToLead: (stop: AbortSignal) => Promise<Release | null>;
  /** Passes an event to the other tabs, if there are any. */
  readonly publish: (event: RunEvent) => void;
  /** Calls back with events of the tab that has the stream, some of which may be missing. */
  readonly listen: (onEvents: (events: readonly RunEvent[]) => void) => Release;
}

/** The browser's API for tabs of the same origin; undefined if the connection is not secure. */
export interface Tabs {
  readonly locks: Pick<LockManager, 'request'>;
  readonly openChannel: (name: string, onMessage: (message: Message) => void) => Channel;
}

/** Reaches all other tabs that have opened a channel of this name. */
interface Channel {
  readonly send: (message: Message) => void;
  readonly close: () => void;
}

/** A message between tabs. */
export type Message =
  /** A tab has the stream now. */
  | { readonly type: 'leads' }
  /** A tab listens. */
  | { readonly type: 'listens' }
  | { readonly type: 'events'; readonly events: readonly RunEvent[] };

/** Events are passed in groups: one message each would cost more than the events. */
const GROUP_MS = 40;
const GROUP_EVENTS = 200;
/** Larger groups are read from the server: copying megabytes for another tab would block this one. */
const GROUP_WEIGHT = 256 * 1024;
/** A listening tab reports this often, and is forgotten after three times as long. */
const LISTENS_MS = 5000;

/**
 * Creates the share of one tab in the stream of a run. A browser has six connections to a server for all its windows. Where
 * tabs cannot find each other, each has its own stream.
 */
export function createStreamShare(id: string, tabs: Tabs | undefined = findTabs()): StreamShare {
  if (tabs === undefined) {
    return {
      tryLead: async () => () => undefined,
      waitToLead: async () => () => undefined,
      publish: () => undefined,
      listen: () => () => undefined,
    };
  }
  const { locks, openChannel } = tabs;
  const name = `sluice.run.${id}`;
  let publish: StreamShare['publish'] = keepQuiet;

  /** Relays the stream to the other tabs while this tab holds it. */
  function lead(release: Release): Release {
    let heardAt = Number.NEGATIVE_INFINITY;
    const channel = openChannel(name, ({ type }) => {
      if (type === 'listens') heardAt = performance.now();
    });
    let group: RunEvent[] = [];
    let weight = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    channel.send({ type: 'leads' });
    const flush = (): void => {
      clearTimeout(timer);
      timer = undefined;
      if (group.length > 0) channel.send({ type: 'events', events: group });
      group = [];
      weight = 0;
    };
    publish = (event) => {
      if (performance.now() - heardAt > 3 * LISTENS_MS) return;
      const own = measureWeight(event);
      if (own > GROUP_WEIGHT) return;
      group.push(event);
      weight += own;
      if (group.length >= GROUP_EVENTS || weight >= GROUP_WEIGHT) flush();
      else timer ??= setTimeout(flush, GROUP_MS);
    };
    return () => {
      publish = keepQuiet;
      flush();
      channel.close();
      release();
    };
  }

  return {
    async tryLead() {
      const release = await holdLock(locks, name, { ifAvailable: true });
      return release === null ? null : lead(release);
    },
    async waitToLead(stop) {
      const release = await holdLock(locks, name, { signal: stop });
      return release === null ? null : lead(release);
    },
    publish: (event) => publish(event),
    listen(onEvents) {
      const channel = openChannel(name, (message) => {
        if (message.type === 'leads') say();
        if (message.type === 'events') onEvents(message.events);
      });
      const say = (): void => channel.send({ type: 'listens' });
      say();
      const timer = setInterval(say, LISTENS_MS);
      return () => {
        clearInterval(timer);
        channel.close();
      };
    },
  };
}

function keepQuiet(): void {
  // There are no other tabs.
}

function findTabs(): Tabs | undefined {
  if (!globalThis.isSecureContext) return undefined;
  return {
    locks: navigator.locks,
    openChannel(name, onMessage) {
      const channel = new BroadcastChannel(name);
      channel.addEventListener('message', ({ data }: MessageEvent<Message>) => onMessage(data));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target, only its origin
      return { send: (message) => channel.postMessage(message), close: () => channel.close() };
    },
  };
}

/** Holds a lock until it is released; null if another tab holds it, or if waiting for it was stopped. */
export async function holdLock(
  locks: Pick<LockManager, 'request'>,
  name: string,
  options: LockOptions,
): Promise<Release | null> {
  return new Promise((resolve, reject) => {
    const held = locks.request(name, options, async (lock) => {
      if (lock === null) {
        resolve(null);
        return;
      }
      await new Promise<void>((release) => {
        resolve(() => release());
      });
    });
    held.catch((error: unknown) => {
      if (options.signal?.aborted === true) resolve(null);
      else reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
}
