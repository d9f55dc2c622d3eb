import type { FcmpEvent, RaspEvent } from '../../../src/events/index.js';

export type RunEvent = FcmpEvent | RaspEvent;

export type Release = () => void;

/** Shares a run's stream between tabs: one tab has the stream and passes its events to the others. */
export interface StreamShare {
  readonly tryLead: () => Promise<Release | null>;
  /** Waits until the tab with the stream is closed; null if the wait was aborted. */
  readonly waitToLead: (stop: AbortSignal) => Promise<Release | null>;
  readonly publish: (event: RunEvent) => void;
  /** Calls `onEvents` with events from the tab that has the stream; some events might be missing. */
  readonly listen: (onEvents: (events: readonly RunEvent[]) => void) => Release;
}

/** The browser's APIs for locks and messages between tabs of the same origin. A channel reaches all other tabs. */
export interface Tabs {
  readonly locks: Pick<LockManager, 'request'>;
  readonly openChannel: (
    name: string,
    onMessage: (message: Message) => void,
  ) => Readonly<{ send: (message: Message) => void; close: () => void }>;
}

export type Message =
  /** Sent by a tab that has taken over the stream. */
  | { readonly type: 'leads' }
  /** Sent by a tab that wants the events. */
  | { readonly type: 'listens' }
  | { readonly type: 'events'; readonly events: readonly RunEvent[] };

/** Events are passed in batches, because one message per event would be too expensive. */
const BATCH_MS = 40;
const BATCH_EVENTS = 200;
/** Larger events are not passed, because copying megabytes would block this tab; the other tabs read them from the server. */
const BATCH_WEIGHT = 256 * 1024;
/** How often a listening tab announces itself. After three times as long without an announcement, no events are passed. */
const ANNOUNCE_INTERVAL_MS = 5000;

/** Connects this tab to a run's shared stream, because a browser opens at most six connections per server. */
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
  // Without a stream, there is nothing to publish.
  let publish: StreamShare['publish'] | null = null;

  function lead(release: Release): Release {
    let lastListenerAt = Number.NEGATIVE_INFINITY;
    const channel = openChannel(name, ({ type }) => {
      if (type === 'listens') lastListenerAt = performance.now();
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
      if (performance.now() - lastListenerAt > 3 * ANNOUNCE_INTERVAL_MS) return;
      const eventWeight = measureWeight(event);
      if (eventWeight > BATCH_WEIGHT) return;
      group.push(event);
      weight += eventWeight;
      if (group.length >= BATCH_EVENTS || weight >= BATCH_WEIGHT) flush();
      else timer ??= setTimeout(flush, BATCH_MS);
    };
    return () => {
      publish = null;
      flush();
      channel.close();
      release();
    };
  }

  return {
    async tryLead() {
      const release = await acquireLock(locks, name, { ifAvailable: true });
      return release === null ? null : lead(release);
    },
    async waitToLead(stop) {
      const release = await acquireLock(locks, name, { signal: stop });
      return release === null ? null : lead(release);
    },
    publish: (event) => publish?.(event),
    listen(onEvents) {
      const channel = openChannel(name, (message) => {
        if (message.type === 'leads') announce();
        if (message.type === 'events') onEvents(message.events);
      });
      const announce = (): void => channel.send({ type: 'listens' });
      announce();
      const timer = setInterval(announce, ANNOUNCE_INTERVAL_MS);
      return () => {
        clearInterval(timer);
        channel.close();
      };
    },
  };
}

/** Returns undefined on an insecure connection, where browsers do not offer these APIs. */
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

/** Acquires a lock and returns its release; null if another tab has it, or if the wait was aborted. */
async function acquireLock(
  locks: Pick<LockManager, 'request'>,
  name: string,
  options: LockOptions,
): Promise<Release | null> {
  return new Promise((resolve, reject) => {
    const request = locks.request(name, options, async (lock) => {
      if (lock === null) {
        resolve(null);
        return;
      }
      await new Promise<void>((release) => {
        resolve(() => release());
      });
    });
    request.catch((error: unknown) => {
      if (options.signal?.aborted === true) resolve(null);
      else reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
}

/** The maximum number of streams across all tabs. A browser opens six connections; other requests need some. */
const MAX_STREAMS = 4;

/** Acquires a slot shared by all tabs; null if none is free. On insecure connections, slots are not limited. */
export async function acquireStreamSlot(
  locks: Pick<LockManager, 'request'> | undefined = globalThis.isSecureContext ? navigator.locks : undefined,
): Promise<Release | null> {
  if (locks === undefined) return () => undefined;
  for (let slot = 0; slot < MAX_STREAMS; slot += 1) {
    const release = await acquireLock(locks, `sluice.stream.${slot}`, { ifAvailable: true });
    if (release !== null) return release;
  }
  return null;
}

const EVENT_WEIGHT = 400;
const VALUE_WEIGHT = 8;

/** Estimates an event's memory in characters, at any depth: a single event can have megabytes. */
export function measureWeight({ data }: { readonly data: object }): number {
  let weight = EVENT_WEIGHT;
  const pending: unknown[] = Object.values(data);
  while (pending.length > 0) {
    const value = pending.pop();
    weight += typeof value === 'string' ? value.length : VALUE_WEIGHT;
    if (typeof value !== 'object' || value === null) continue;
    const values: readonly unknown[] = Object.values(value);
    for (const inner of values) pending.push(inner);
  }
  return weight;
}
