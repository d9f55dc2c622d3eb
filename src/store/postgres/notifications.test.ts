import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../test/postgres/eventually.js';
import { makeSite } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW, sampleClaim } from '../contract/fixtures/order-samples.js';
import { createRunResult, sampleFcmp, sampleSpec } from '../contract/fixtures/run-samples.js';
import type { Store } from '../store.js';
import type { PostgresDatabase } from './database.js';
import { openPlain } from './fixtures/open-plain.js';
import { createNotifications } from './notifications.js';

/** An interval longer than any test, so every wake-up is caused by a notification. */
const NO_FALLBACK_MS = 3_600_000;

function listenTo(database: PostgresDatabase, fallbackMs = NO_FALLBACK_MS) {
  const notifications = createNotifications(database, fallbackMs);
  onTestFinished(async () => notifications.close());
  return notifications;
}

/** Counts the connections that listen for notifications. */
async function countListeners(database: PostgresDatabase): Promise<number> {
  const { rows } = await database.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
  );
  return rows.length;
}

async function terminateListeners(database: PostgresDatabase): Promise<void> {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
  );
}

async function notify(database: PostgresDatabase, key: string): Promise<void> {
  await database.query(
    `SELECT pg_notify('sluice_' || listener, 'run ' || run_id) FROM sluice.followers WHERE run_id = $1`,
    [key],
  );
}

/** Waits until the only running listener has registered. */
async function waitForListener(database: PostgresDatabase): Promise<void> {
  await eventually(async () => {
    const { rows } = await database.query(
      `SELECT FROM sluice.followers WHERE NOT pg_try_advisory_xact_lock_shared(listener)`,
    );
    expect(rows).toHaveLength(1);
  });
}

/** Waits until this many followed runs are registered. */
async function waitForFollowed(database: PostgresDatabase, count: number): Promise<void> {
  await eventually(async () => expect((await database.query(`SELECT FROM sluice.followers`)).rows).toHaveLength(count));
}

describe('notifications', () => {
  it("reach a key's listeners on one connection, which closes with the last of them", async () => {
    const database = await openPlain(await makeSite());
    const notifications = listenTo(database);
    const [one, two] = [vi.fn<() => void>(), vi.fn<() => void>()];
    const stops = [notifications.follow('one', one), notifications.follow('two', two)];
    await waitForFollowed(database, 2);
    // Every follower is called when listening starts, when it is registered, and once more for earlier writes.
    await eventually(() => expect([one.mock.calls.length, two.mock.calls.length]).toEqual([3, 3]));
    await notify(database, 'two');
    await eventually(() => expect(two).toHaveBeenCalledTimes(4));
    expect(one).toHaveBeenCalledTimes(3);
    expect(await countListeners(database)).toBe(1);
    for (const stop of stops) stop();
    await eventually(async () => expect(await countListeners(database)).toBe(0));
  });

  it('resume after the connection is lost, and wake listeners that might have missed some', async () => {
    const database = await openPlain(await makeSite());
    const wake = vi.fn<() => void>();
    listenTo(database).follow('run', wake);
    for (let round = 0; round < 3; round++) {
      await eventually(async () => expect(await countListeners(database)).toBe(1));
      await waitForListener(database);
      await eventually(() => expect(wake).toHaveBeenCalled());
      wake.mockClear();
      await notify(database, 'run');
      await eventually(() => expect(wake).toHaveBeenCalled());
      wake.mockClear();
      await terminateListeners(database);
    }
    // The call for missed notifications.
    await eventually(() => expect(wake).toHaveBeenCalled());
  });

  it('are backed up by a periodic wake-up', async () => {
    const database = await openPlain(await makeSite());
    const wake = vi.fn<() => void>();
    listenTo(database, 20).follow('run', wake);
    await eventually(() => expect(wake.mock.calls.length).toBeGreaterThan(5));
  });

  it('reach a run that is followed again after its registration was removed and the next statement failed', async () => {
    const database = await openPlain(await makeSite());
    let isFailing = false;
    const query: PostgresDatabase['query'] = async (text, values) => {
      if (isFailing && text.includes('INTO sluice.queue_watchers')) throw new Error('no connection');
      return database.query(text, values);
    };
    const notifications = listenTo({ ...database, query });
    const stop = notifications.follow('one', () => undefined);
    notifications.follow('two', () => undefined);
    await waitForFollowed(database, 2);
    isFailing = true;
    // While the third run is being registered, so both changes are in the next update.
    notifications.follow('three', () => undefined);
    stop();
    notifications.watchQueue({ worker: 'w1' }, () => undefined);
    await eventually(async () =>
      expect((await database.query(`SELECT run_id FROM sluice.followers ORDER BY run_id`)).rows).toEqual([
        { run_id: 'three' },
        { run_id: 'two' },
      ]),
    );
    isFailing = false;
    notifications.follow('one', () => undefined);
    await waitForFollowed(database, 3);
  });

  it('go to the newer of two watchers with the same name, even after the older watcher is removed', async () => {
    const database = await openPlain(await makeSite());
    const notifications = listenTo(database);
    const stopOlder = notifications.watchQueue({ worker: 'w1', kinds: ['orders'] }, () => undefined);
    const readWatchers = async () =>
      (await database.query(`SELECT worker, takes_orders, takes_runs FROM sluice.queue_watchers`)).rows;
    await eventually(async () => expect(await readWatchers()).toHaveLength(1));
    const wake = vi.fn<() => void>();
    onTestFinished(notifications.watchQueue({ worker: 'w1', kinds: ['runs'] }, wake));
    stopOlder();
    await eventually(async () =>
      expect(await readWatchers()).toEqual([{ worker: 'w1', takes_orders: false, takes_runs: true }]),
    );
    await eventually(() => expect(wake).toHaveBeenCalled());
  });

  it('are replaced by periodic wake-ups while the server is unreachable', async () => {
    const unreachable = await openPlain('postgres://nobody@127.0.0.1:1/nothing');
    const wake = vi.fn<() => void>();
    const notifications = listenTo(unreachable, 20);
    notifications.follow('run', wake);
    await eventually(() => expect(wake.mock.calls.length).toBeGreaterThan(5));
    await notifications.close();
  });
});

describe('a followed run', () => {
  it('notifies only its followers, including of its end', async () => {
    const url = await makeSite();
    const [store, other] = [await openSite(url), await openPlain(url)];
    const [followed, unfollowed] = [vi.fn<() => void>(), vi.fn<() => void>()];
    const listener = listenTo(other);
    onTestFinished(listener.follow('r1', followed));
    onTestFinished(listener.follow('elsewhere', unfollowed));
    await waitForFollowed(other, 2);
    await eventually(() => expect(unfollowed.mock.calls.length).toBeGreaterThan(2));
    const callsBefore = [followed.mock.calls.length, unfollowed.mock.calls.length];
    await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
    await store.claimRun(sampleClaim());
    await store.append('r2', [sampleFcmp(1)]);
    await store.append('r1', [sampleFcmp(1)]);
    await eventually(() => expect(followed).toHaveBeenCalledTimes((callsBefore[0] ?? 0) + 1));
    await store.endRun({ id: 'r1', workerId: 'w1', now: NOW, result: createRunResult() });
    await eventually(() => expect(followed).toHaveBeenCalledTimes((callsBefore[0] ?? 0) + 2));
    expect(unfollowed).toHaveBeenCalledTimes(callsBefore[1] ?? 0);
  });

  it("is no longer followed once its follower's connection is gone", async () => {
    const url = await makeSite();
    const [database, crashed] = [await openPlain(url), await openPlain(url)];
    const closedListener = createNotifications(crashed, NO_FALLBACK_MS);
    closedListener.follow('run', () => undefined);
    closedListener.watchQueue({ worker: 'w1' }, () => undefined);
    await waitForFollowed(database, 1);
    await terminateListeners(database);
    await closedListener.close();
    const listener = listenTo(database);
    onTestFinished(listener.watchQueue({ worker: 'w2' }, () => undefined));
    await eventually(async () => {
      const { rows } = await database.query(`SELECT worker FROM sluice.queue_watchers`);
      expect(rows).toEqual([{ worker: 'w2' }]);
    });
    expect((await database.query(`SELECT FROM sluice.followers`)).rows).toEqual([]);
  });
});

describe('the events of a run', () => {
  /** Follows a run as a server does: reads new events whenever it is woken. */
  function follow(store: Store, runId: string): number[] {
    const seen: number[] = [];
    let reading = Promise.resolve();
    const readNewEvents = async (): Promise<void> => {
      const events = await store.read({ runId, protocol: 'fcmp', after: seen.at(-1) ?? 0, limit: 1000 });
      seen.push(...events.map(({ event }) => event.seq));
    };
    onTestFinished(
      store.watch(runId, () => {
        reading = reading.then(readNewEvents, readNewEvents);
      }),
    );
    return seen;
  }

  it('reach another host live, without loss or duplicates, while connections break', async () => {
    const url = await makeSite();
    const [writer, reader, control] = [await openSite(url), await openSite(url), await openPlain(url)];
    const seen = follow(reader, 'run');
    for (let seq = 1; seq <= 60; seq++) {
      await writer.append('run', [sampleFcmp(seq)]);
      if (seq % 20 === 10) await terminateListeners(control);
    }
    await eventually(() => expect(seen).toHaveLength(60));
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });
});
