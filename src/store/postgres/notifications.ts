import { randomInt } from 'node:crypto';
import type { QueueWatcher, QueueWork } from '../store.js';
import { createWakers } from '../wakers.js';
import type { Database } from './database.js';
import type { DriverClient } from './driver.js';

/** Wakes the worker that executes the run in this column, as part of a statement: it takes effect when that is committed. */
export function notifyRequests(column: string): string {
  return `pg_notify('sluice_requests', ${column})`;
}

/** Wakes one worker for messages that are due, as part of a statement. */
export const WAKE_DELIVERER = `sluice.wake_deliverer()`;

/** A watcher of the queue, under the name that its claims have too. */
export type NamedWatcher = QueueWatcher & { readonly worker: string };

/** How often followers are woken without a notification, in case one was lost. */
const NET_MS = 20_000;
/** A connection without followers is checked only every this many times. */
const CHECK_EVERY = 3;

/** A writer that began before a follower was registered does not see it; it has committed by then. */
const SECOND_LOOK_MS = 250;

const FIRST_DELAY_MS = 50;
const LAST_DELAY_MS = 5_000;

/** A longer id is not announced: a notification can carry 8,000 bytes. Its followers are woken every so often. */
const MAX_ID_LENGTH = 1000;

/**
 * Notifications from all machines, received on one connection that the first listener opens. Only what someone here follows is
 * sent to it: the tables `followers` and `queue_watchers` say who listens, under a number for each connection.
 */
export interface Notifications {
  /** Calls back after new events of a run and after its end, and from time to time without either. */
  follow(runId: string, wake: () => void): () => void;
  /** Calls back after a request to a run. */
  watchRequests(runId: string, wake: () => void): () => void;
  /** Calls back when there is work and this watcher was chosen. */
  watchQueue(watcher: NamedWatcher, wake: (work?: QueueWork) => void): () => void;
  /** The number under which the watchers of this process are known; null while they are not. */
  readonly listener: string | null;
  close(): Promise<void>;
}

interface Watching {
  readonly watcher: NamedWatcher;
  readonly wake: (work?: QueueWork) => void;
}

export function createNotifications(
  database: Pick<Database, 'query' | 'createClient'>,
  netMs: number = NET_MS,
): Notifications {
  const followers = createWakers();
  const requests = createWakers();
  const watchers = new Map<string, Watching>();
  let client: DriverClient | undefined;
  /** Of the present connection, once it listens. */
  let listener: string | undefined;
  let followed = new Set<string>();
  let watching = new Set<string>();
  let isStale = false;
  /** Whether what ended connections left was removed. */
  let isTidy = false;
  let registering: Promise<void> | undefined;
  let isClosed = false;
  let delay = FIRST_DELAY_MS;
  let retry: NodeJS.Timeout | undefined;
  let net: NodeJS.Timeout | undefined;
  let rounds = 0;

  const isIdle = (): boolean => followers.keys().length + requests.keys().length + watchers.size === 0;

  function wakeAll(): void {
    for (const wakers of [followers, requests]) for (const key of wakers.keys()) wakers.wake(key);
    wakeWatchers();
  }

  /** In a microtask, as all wake-ups: a callback that throws does not end the connection. */
  function wakeWatchers(work?: QueueWork, chosen: Iterable<Watching> = watchers.values()): void {
    for (const entry of chosen) {
      queueMicrotask(() => {
        if (watchers.get(entry.watcher.worker) === entry) entry.wake(work);
      });
    }
  }

  function receive(channel: string, payload: string): void {
    if (channel === 'sluice_requests') requests.wake(payload);
    else if (payload.startsWith('run ')) followers.wake(payload.slice('run '.length));
    else wakeWatchers(payload === 'messages' ? 'messages' : 'runs');
  }

  function connect(): void {
    const opened = database.createClient();
    client = opened;
    opened.on('notification', ({ channel, payload = '' }: { channel: string; payload?: string }) =>
      receive(channel, payload),
    );
    opened.on('error', () => reconnect(opened));
    opened.on('end', () => reconnect(opened));
    void listenOn(opened).catch(() => reconnect(opened));
  }

  async function listenOn(opened: DriverClient): Promise<void> {
    await opened.connect();
    // A new number for each connection: the server may not have noticed yet that the one before is gone.
    const number = String(randomInt(1, 2 ** 47));
    await opened.query(`SELECT pg_advisory_lock(${number})`);
    await opened.query(`LISTEN sluice_requests; LISTEN sluice_${number}`);
    if (client !== opened) return;
    delay = FIRST_DELAY_MS;
    listener = number;
    [followed, watching, isTidy] = [new Set(), new Set(), false];
    register();
    // Notifications sent before LISTEN took effect were missed.
    wakeAll();
  }

  function reconnect(lost: DriverClient): void {
    if (client !== lost) return;
    client = undefined;
    listener = undefined;
    lost.removeAllListeners();
    // Without a listener a second error of the same connection would end the process.
    lost.on('error', () => undefined);
    void lost.end().catch(() => undefined);
    if (isClosed || isIdle()) return;
    retry = setTimeout(connect, delay).unref();
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }

  /** Brings the tables up to date, one statement at a time; a failure is repaired with the next look. */
  function register(): void {
    isStale = true;
    registering ??= update()
      .catch(() => undefined)
      .finally(() => {
        registering = undefined;
      });
  }

  async function update(): Promise<void> {
    for (;;) {
      const number = listener;
      if (!isStale || number === undefined || isClosed) return;
      isStale = false;
      try {
        await updateOnce(number);
      } catch (error) {
        isStale = true;
        throw error;
      }
    }
  }

  async function updateOnce(number: string): Promise<void> {
    const wanted = new Set(followers.keys().filter((key) => key.length <= MAX_ID_LENGTH));
    const added = [...wanted].filter((key) => !followed.has(key));
    const removed = [...followed].filter((key) => !wanted.has(key));
    const left = [...watching].filter((worker) => !watchers.has(worker));
    const come = [...watchers.values()].filter(({ watcher }) => !watching.has(watcher.worker));
    if (!isTidy && added.length + come.length > 0) await database.query(FORGET_GONE);
    isTidy ||= added.length + come.length > 0;
    if (added.length + removed.length > 0) await database.query(FOLLOW, [number, removed, added]);
    if (left.length > 0) await database.query(LEAVE, [number, left]);
    for (const { watcher } of come) {
      const { worker, workerTypes, takes = ['orders', 'runs'] } = watcher;
      const values = [number, worker, workerTypes ?? null, takes.includes('orders'), takes.includes('runs')];
      await database.query(WATCH, values);
    }
    if (listener !== number) return;
    followed = wanted;
    for (const worker of left) watching.delete(worker);
    for (const { watcher } of come) watching.add(watcher.worker);
    // Earlier writes are not announced.
    const wakeAdded = (): void => {
      for (const key of added) followers.wake(key);
      wakeWatchers(undefined, come);
    };
    wakeAdded();
    if (added.length + come.length > 0) setTimeout(wakeAdded, SECOND_LOOK_MS).unref();
  }

  function wakeAgain(): void {
    rounds += 1;
    const hasFollowers = followers.keys().length > 0;
    const checked = client;
    if (hasFollowers || rounds % CHECK_EVERY === 0) checked?.query('SELECT 1').catch(() => reconnect(checked));
    for (const key of followers.keys()) followers.wake(key);
    if (isStale) register();
  }

  function begin(): void {
    if (isClosed) return;
    delay = FIRST_DELAY_MS;
    // Processes that were started together must not look together.
    net = setInterval(wakeAgain, netMs * (0.75 + Math.random() / 2)).unref();
    connect();
  }

  /** Closing the connection releases its lock, so its remaining rows count as gone. */
  function rest(): void {
    clearTimeout(retry);
    clearInterval(net);
    net = undefined;
    if (client !== undefined) reconnect(client);
  }

  /** Adds a listener of any kind; the function that removes it. */
  function add(watch: () => () => void): () => void {
    const isFirst = isIdle();
    const stop = watch();
    if (isFirst) begin();
    register();
    return () => {
      if (isIdle()) return;
      stop();
      if (isIdle()) rest();
      else register();
    };
  }

  return {
    follow: (runId, wake) => add(() => followers.watch(runId, wake)),
    watchRequests: (runId, wake) => add(() => requests.watch(runId, wake)),
    watchQueue: (watcher, wake) =>
      add(() => {
        watchers.set(watcher.worker, { watcher, wake });
        return () => void watchers.delete(watcher.worker);
      }),
    get listener() {
      return listener ?? null;
    },
    async close() {
      isClosed = true;
      const last = client;
      followers.clear();
      requests.clear();
      watchers.clear();
      rest();
      await registering;
      await last?.end().catch(() => undefined);
    },
  };
}

/** Connections that have ended hold no lock. */
const FORGET_GONE = `
  WITH gone AS MATERIALIZED (
    SELECT listener FROM (
      SELECT listener FROM sluice.queue_watchers UNION SELECT listener FROM sluice.followers
    ) AS known
    WHERE pg_try_advisory_xact_lock_shared(listener)
  ), unfollowed AS (
    DELETE FROM sluice.followers WHERE listener IN (SELECT listener FROM gone)
  )
  DELETE FROM sluice.queue_watchers WHERE listener IN (SELECT listener FROM gone)`;

const FOLLOW = `
  WITH unfollowed AS (
    DELETE FROM sluice.followers WHERE listener = $1 AND run_id = ANY ($2::text[])
  )
  INSERT INTO sluice.followers (run_id, listener) SELECT run_id, $1 FROM unnest($3::text[]) AS run_id ON CONFLICT DO NOTHING`;

const WATCH = `
  INSERT INTO sluice.queue_watchers (listener, worker, worker_types, takes_orders, takes_runs) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT DO NOTHING`;

const LEAVE = `DELETE FROM sluice.queue_watchers WHERE listener = $1 AND worker = ANY ($2::text[])`;
