import { createWakers } from '../wakers.js';
import type { DriverClient } from './driver.js';

/** What is announced: events of a run, requests to it (the payload is its id), or work for whoever is free. */
export type Channel = 'sluice_events' | 'sluice_requests' | 'sluice_queue';

const CHANNELS: readonly Channel[] = ['sluice_events', 'sluice_requests', 'sluice_queue'];

/** Wakes the worker that executes the run in this column, as part of a statement: it takes effect when that is committed. */
export function notifyRequests(column: string): string {
  return `pg_notify('sluice_requests', ${column})`;
}

/** A net under lost announcements: everyone looks again, and a connection that fell silent is noticed. */
const NET_MS = 5_000;

const FIRST_DELAY_MS = 50;
const LAST_DELAY_MS = 5_000;

/** Announcements of all machines, heard on one connection that is opened by the first listener. */
export interface Notifications {
  /** Calls back after something was announced for `key`, and now and then without reason: a missed call must not matter. */
  listen(channel: Channel, key: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** `createClient` makes a connection outside the pool; `netMs` is how often all listeners look without being told. */
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
      wakers.wake(`${channel} ${payload}`);
    });
    opened.on('error', () => lose(opened));
    opened.on('end', () => lose(opened));
    void listenOn(opened).catch(() => lose(opened));
  }

  async function listenOn(opened: DriverClient): Promise<void> {
    await opened.connect();
    for (const channel of CHANNELS) await opened.query(`LISTEN ${channel}`);
    delay = FIRST_DELAY_MS;
    // What was announced before LISTEN took hold was not heard.
    wakeAll();
  }

  function lose(lost: DriverClient): void {
    if (client !== lost) return;
    client = undefined;
    lost.removeAllListeners();
    // A second error of the same connection has nobody to tell.
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
