import { createWakers } from '../wakers.js';
import type { DriverClient } from './driver.js';

/** The channels: events of a run, requests to it (the payload is its id), and new work. */
export type Channel = 'sluice_events' | 'sluice_requests' | 'sluice_queue';

const CHANNELS: readonly Channel[] = ['sluice_events', 'sluice_requests', 'sluice_queue'];

/** The most a notification can carry is 8,000 bytes; a key of more than that is not announced. */
const MOST_BYTES = 7900;

/** The payloads that announce keys, as few as possible: PostgreSQL commits notifications one at a time. */
export function joinKeys(keys: readonly string[]): string[] {
  const payloads: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  for (const key of keys) {
    // Escaped, a character takes at most six bytes.
    const size = 6 * key.length + 3;
    if (size > MOST_BYTES) continue;
    if (bytes + size > MOST_BYTES) {
      payloads.push(JSON.stringify(part));
      [part, bytes] = [[], 0];
    }
    part.push(key);
    bytes += size;
  }
  if (part.length > 0) payloads.push(JSON.stringify(part));
  return payloads;
}

/** The keys of a payload: one, or a list of them. */
function readKeys(payload: string): readonly string[] {
  if (!payload.startsWith('["')) return [payload];
  try {
    return JSON.parse(payload) as string[];
  } catch {
    return [payload];
  }
}

/** Wakes the worker that executes the run in this column, as part of a statement: it takes effect when that is committed. */
export function notifyRequests(column: string): string {
  return `pg_notify('sluice_requests', ${column})`;
}

/** How often listeners are woken without a notification, in case one was lost; it also detects a dead connection. */
const NET_MS = 5_000;

const FIRST_DELAY_MS = 50;
const LAST_DELAY_MS = 5_000;

/** Notifications from all machines, received on one connection that the first listener opens. */
export interface Notifications {
  /** Calls back after a notification for `key`, and from time to time without one, in case one was lost. */
  listen(channel: Channel, key: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** `createClient` creates a connection outside the pool; `netMs` is how often all listeners are woken without a notification. */
export function createNotifications(createClient: () => DriverClient, netMs = NET_MS): Notifications {
  const wakers = createWakers();
  let client: DriverClient | undefined;
  let isClosed = false;
  let delay = FIRST_DELAY_MS;
  let retry: NodeJS.Timeout | undefined;
  let net: NodeJS.Timeout | undefined;

  function wakeAll(): void {
    for (const key of wakers.keys()) wakers.wake(key);
  }

  function connect(): void {
    const opened = createClient();
    client = opened;
    opened.on('notification', ({ channel, payload = '' }: { channel: string; payload?: string }) => {
      for (const key of readKeys(payload)) wakers.wake(`${channel} ${key}`);
    });
    opened.on('error', () => lose(opened));
    opened.on('end', () => lose(opened));
    void listenOn(opened).catch(() => lose(opened));
  }

  async function listenOn(opened: DriverClient): Promise<void> {
    await opened.connect();
    for (const channel of CHANNELS) await opened.query(`LISTEN ${channel}`);
    delay = FIRST_DELAY_MS;
    // Notifications sent before LISTEN took effect were missed.
    wakeAll();
  }

  function lose(lost: DriverClient): void {
    if (client !== lost) return;
    client = undefined;
    lost.removeAllListeners();
    // Without a listener a second error of the same connection would end the process.
    lost.on('error', () => undefined);
    void lost.end().catch(() => undefined);
    if (isClosed || wakers.keys().length === 0) return;
    retry = setTimeout(connect, delay).unref();
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }

  function lookAgain(): void {
    const asked = client;
    asked?.query('SELECT 1').catch(() => lose(asked));
    wakeAll();
  }

  function begin(): void {
    if (isClosed) return;
    delay = FIRST_DELAY_MS;
    net = setInterval(lookAgain, netMs).unref();
    connect();
  }

  function rest(): void {
    clearTimeout(retry);
    clearInterval(net);
    if (client !== undefined) lose(client);
  }

  return {
    listen(channel, key, wake) {
      const isFirst = wakers.keys().length === 0;
      const stop = wakers.watch(`${channel} ${key}`, wake);
      if (isFirst) begin();
      return () => {
        if (wakers.keys().length === 0) return;
        stop();
        if (wakers.keys().length === 0) rest();
      };
    },
    async close() {
      isClosed = true;
      const last = client;
      wakers.clear();
      rest();
      await last?.end().catch(() => undefined);
    },
  };
}
