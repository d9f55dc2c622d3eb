import { randomInt } from 'node:crypto';
import { createClosedError } from '../store-error.js';
import { listLabelSets } from '../queue-rules.js';
import type { QueueWatcher, QueueWork } from '../driver.js';
import { createWakers } from '../wakers.js';
import type { PostgresDatabase } from './database.js';
import type { Client } from 'pg';

/** How often followers are woken without a notification, in case one was lost. */
const FALLBACK_MS = 20_000;
/** A connection without followers is checked only every third interval. */
const CHECK_EVERY = 3;

/** A transaction that started before a follower was registered has committed after this time. */
const SECOND_WAKE_MS = 250;

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;

/** Runs with a longer id cause no notifications; their followers are woken at intervals. */
const MAX_ID_LENGTH = 1000;

/** A queue watcher, with the worker id that its claims use, and its callback. */
interface WatcherEntry {
  readonly watcher: QueueWatcher & { readonly worker: string };
  readonly wake: (work?: QueueWork) => void;
}

/**
 * Receives notifications from all hosts on one connection, which is opened for the first watcher. It receives only
 * what this process follows: the tables `followers` and `queue_watchers` record the listeners, by connection number.
 */
export function createNotifications(
  database: Pick<PostgresDatabase, 'query' | 'createClient'>,
  fallbackMs: number = FALLBACK_MS,
) {
  const followers = createWakers();
  const requests = createWakers();
  const watchers = new Map<string, WatcherEntry>();
  let client: Client | undefined;
  /** The number of the current connection, once it listens. */
  let listener: string | undefined;
  /** The runs, and the watchers by name, that are registered in the tables. */
  let followed = new Set<string>();
  let registered = new Map<string, WatcherEntry>();
  /** Whether the tables must be updated. */
  let isStale = false;
  /** Whether the rows of closed connections have been removed. */
  let isCleanedUp = false;
  let registering: Promise<void> | undefined;
  let isClosed = false;
  let delay = FIRST_DELAY_MS;
  let retry: NodeJS.Timeout | undefined;
  let fallback: NodeJS.Timeout | undefined;
  let intervals = 0;

  const isIdle = (): boolean => followers.keys().length + requests.keys().length + watchers.size === 0;

  function wakeAll(): void {
    for (const wakers of [followers, requests]) for (const key of wakers.keys()) wakers.wake(key);
    wakeWatchers();
  }

  /** Calls back in a microtask, like all wake-ups, so a callback that throws does not close the connection. */
  function wakeWatchers(work?: QueueWork, chosen: Iterable<WatcherEntry> = watchers.values()): void {
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
    const newClient = database.createClient();
    client = newClient;
    newClient.on('notification', ({ channel, payload = '' }) => receive(channel, payload));
    newClient.on('error', () => reconnect(newClient));
    newClient.on('end', () => reconnect(newClient));
    void listenOn(newClient).catch(() => reconnect(newClient));
  }

  async function listenOn(newClient: Client): Promise<void> {
    await newClient.connect();
    // A new number for each connection, because the server might not have noticed yet that the previous connection is
    // gone.
    const number = String(randomInt(1, 2 ** 47));
    await newClient.query(`SELECT pg_advisory_lock(${number})`);
    await newClient.query(`LISTEN sluice_requests; LISTEN sluice_${number}`);
    if (client !== newClient) return;
    delay = FIRST_DELAY_MS;
    listener = number;
    [followed, registered, isCleanedUp] = [new Set(), new Map<string, WatcherEntry>(), false];
    register();
    // Notifications sent before LISTEN took effect were missed.
    wakeAll();
  }

  function reconnect(lostClient: Client): void {
    if (client !== lostClient) return;
    client = undefined;
    listener = undefined;
    lostClient.removeAllListeners();
    // Without a listener, a second error on the same connection would crash the process.
    lostClient.on('error', () => undefined);
    void lostClient.end().catch(() => undefined);
    if (isClosed || isIdle()) return;
    retry = setTimeout(connect, delay).unref();
    delay = Math.min(delay * 2, MAX_DELAY_MS);
  }

  /** Updates the tables, one statement at a time; after a failure, the next interval retries. */
  function register(): void {
    isStale = true;
    registering ??= update()
      .catch(() => {
        isStale = true;
      })
      .finally(() => {
        registering = undefined;
      });
  }

  async function update(): Promise<void> {
    for (;;) {
      const number = listener;
      if (!isStale || number === undefined || isClosed) return;
      isStale = false;
      await updateOnce(number);
    }
  }

  async function updateOnce(number: string): Promise<void> {
    const wanted = new Set(followers.keys().filter((key) => key.length <= MAX_ID_LENGTH));
    const added = [...wanted].filter((key) => !followed.has(key));
    const removed = [...followed].filter((key) => !wanted.has(key));
    const removedWatchers = [...registered.keys()].filter((worker) => !watchers.has(worker));
    const addedWatchers = [...watchers.values()].filter((entry) => registered.get(entry.watcher.worker) !== entry);
    if (!isCleanedUp && added.length + addedWatchers.length > 0) await database.query(DELETE_STALE_LISTENERS);
    isCleanedUp ||= added.length + addedWatchers.length > 0;
    // The sets change after each statement, so they still match the tables if a later statement fails.
    if (added.length + removed.length > 0) {
      await database.query(FOLLOW, [number, removed, added]);
      if (listener !== number) return;
      followed = wanted;
      wakeTwice(() => {
        for (const key of added) followers.wake(key);
      });
    }
    if (removedWatchers.length > 0) {
      await database.query(UNWATCH, [number, removedWatchers]);
      if (listener !== number) return;
      for (const worker of removedWatchers) registered.delete(worker);
    }
    for (const entry of addedWatchers) {
      const { worker, workerTypes, kinds = ['orders', 'runs'], labels } = entry.watcher;
      const takes = [kinds.includes('orders'), kinds.includes('runs'), listLabelSets(labels)];
      const values = [number, worker, workerTypes ?? null, ...takes];
      await database.query(WATCH, values);
      if (listener !== number) return;
      registered.set(worker, entry);
      wakeTwice(() => wakeWatchers(undefined, [entry]));
    }
  }

  function wakeAgain(): void {
    intervals += 1;
    const hasFollowers = followers.keys().length > 0;
    const checked = client;
    if (hasFollowers || intervals % CHECK_EVERY === 0) checked?.query('SELECT 1').catch(() => reconnect(checked));
    for (const key of followers.keys()) followers.wake(key);
    if (isStale) register();
  }

  function startListening(): void {
    delay = FIRST_DELAY_MS;
    // Processes that were started together must not query simultaneously.
    fallback = setInterval(wakeAgain, fallbackMs * (0.75 + Math.random() / 2)).unref();
    connect();
  }

  /** Closes the connection, which releases its lock, so its remaining rows count as stale. */
  function stopListening(): void {
    clearTimeout(retry);
    clearInterval(fallback);
    fallback = undefined;
    if (client !== undefined) reconnect(client);
  }

  /** Adds a listener of any kind; returns the function that removes it. */
  function add(watch: () => () => void): () => void {
    if (isClosed) throw createClosedError();
    const isFirst = isIdle();
    const stop = watch();
    if (isFirst) startListening();
    register();
    return () => {
      if (isIdle()) return;
      stop();
      if (isIdle()) stopListening();
      else register();
    };
  }

  return {
    /** Calls back after a run's new events and its end, and also at intervals. */
    follow: (runId: string, wake: () => void) => add(() => followers.watch(runId, wake)),
    /** Calls back after a request to a run. */
    watchRequests: (runId: string, wake: () => void) => add(() => requests.watch(runId, wake)),
    /** Calls back when this watcher is chosen. It replaces an earlier one with the same name. */
    watchQueue: (watcher: WatcherEntry['watcher'], wake: WatcherEntry['wake']) =>
      add(() => {
        const entry = { watcher, wake };
        watchers.set(watcher.worker, entry);
        return () => {
          if (watchers.get(watcher.worker) === entry) watchers.delete(watcher.worker);
        };
      }),
    /** The number that this process's watchers are registered with; null while they are not registered. */
    get listener() {
      return listener ?? null;
    },
    async close(): Promise<void> {
      isClosed = true;
      const currentClient = client;
      followers.clear();
      requests.clear();
      watchers.clear();
      stopListening();
      await registering;
      await currentClient?.end().catch(() => undefined);
    },
  };
}

/** Wakes new listeners, because earlier writes sent them no notification. */
function wakeTwice(wake: () => void): void {
  wake();
  setTimeout(wake, SECOND_WAKE_MS).unref();
}

/** Closed connections no longer hold their lock. */
const DELETE_STALE_LISTENERS = `
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
  INSERT INTO sluice.queue_watchers (listener, worker, worker_types, takes_orders, takes_runs, label_sets)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (listener, worker) DO UPDATE SET worker_types = excluded.worker_types,
    takes_orders = excluded.takes_orders, takes_runs = excluded.takes_runs, label_sets = excluded.label_sets`;

const UNWATCH = `DELETE FROM sluice.queue_watchers WHERE listener = $1 AND worker = ANY ($2::text[])`;
