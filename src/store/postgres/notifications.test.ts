import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../test/postgres/eventually.js';
import { createDatabase, makeSite } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';
import type { Store } from '../store.js';
import type { Database } from './database.js';
import { openPlain } from './fixtures/open-plain.js';
import { createNotifications, joinKeys, type Notifications } from './notifications.js';

/** Longer than any test: what is heard was announced. */
const NO_NET = 3_600_000;

function listenTo(database: Database, netMs = NO_NET): Notifications {
  const notifications = createNotifications(() => database.createClient(), netMs);
  onTestFinished(async () => notifications.close());
  return notifications;
}

/** The connections that wait for announcements. */
async function countListeners(database: Database): Promise<number> {
  const { rows } = await database.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
  );
  return rows.length;
}

async function cutListeners(database: Database): Promise<void> {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
  );
}

async function announce(database: Database, key: string): Promise<void> {
  await database.query(`SELECT pg_notify('sluice_events', $1)`, [key]);
}

describe('notifications', () => {
  it('reach the listeners of a key on one connection, which closes with the last of them', async () => {
    const database = await openPlain(await createDatabase());
    const notifications = listenTo(database);
    const [one, two] = [vi.fn<() => void>(), vi.fn<() => void>()];
    const stops = [
      notifications.listen('sluice_events', 'one', one),
      notifications.listen('sluice_events', 'two', two),
    ];
    // Everyone is called when listening begins, for what was announced before.
    await eventually(() => expect([one.mock.calls.length, two.mock.calls.length]).toEqual([1, 1]));
    await announce(database, 'two');
    await eventually(() => expect(two).toHaveBeenCalledTimes(2));
    expect(one).toHaveBeenCalledTimes(1);
    expect(await countListeners(database)).toBe(1);
    for (const stop of stops) stop();
    await eventually(async () => expect(await countListeners(database)).toBe(0));
  });

  it('resume after the connection was lost, and wake every listener once', async () => {
    const database = await openPlain(await createDatabase());
    const wake = vi.fn<() => void>();
    listenTo(database).listen('sluice_events', 'run', wake);
    for (let round = 0; round < 3; round++) {
      await eventually(async () => expect(await countListeners(database)).toBe(1));
      await eventually(() => expect(wake).toHaveBeenCalled());
      wake.mockClear();
      await announce(database, 'run');
      await eventually(() => expect(wake).toHaveBeenCalled());
      wake.mockClear();
      await cutListeners(database);
    }
    // The call for what was missed.
    await eventually(() => expect(wake).toHaveBeenCalled());
  });

  it('are backed up by a periodic wake-up', async () => {
    const database = await openPlain(await createDatabase());
    const wake = vi.fn<() => void>();
    listenTo(database, 20).listen('sluice_events', 'run', wake);
    await eventually(() => expect(wake.mock.calls.length).toBeGreaterThan(5));
  });

  it('wait for an unreachable server without an error', async () => {
    const away = await openPlain('postgres://nobody@127.0.0.1:1/nothing');
    const wake = vi.fn<() => void>();
    const notifications = listenTo(away, 20);
    notifications.listen('sluice_events', 'run', wake);
    await eventually(() => expect(wake.mock.calls.length).toBeGreaterThan(5));
    await notifications.close();
  });
});

describe('keys that are announced together', () => {
  it('are few payloads, each within the limit of PostgreSQL', () => {
    expect(joinKeys(['a', 'b'])).toEqual(['["a","b"]']);
    expect(joinKeys([])).toEqual([]);
    const keys = Array.from({ length: 500 }, (_, index) => `${index} \u0001"`.repeat(10));
    const payloads = joinKeys([...keys, 'x'.repeat(8000)]);
    expect(payloads.flatMap((payload) => JSON.parse(payload) as string[])).toEqual(keys);
    expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8000);
  });

  it('each wake their listeners', async () => {
    const database = await openPlain(await createDatabase());
    const notifications = listenTo(database);
    const [one, two] = [vi.fn<() => void>(), vi.fn<() => void>()];
    notifications.listen('sluice_events', '["odd', one);
    notifications.listen('sluice_events', 'two', two);
    await eventually(() => expect([one.mock.calls.length, two.mock.calls.length]).toEqual([1, 1]));
    for (const payload of joinKeys(['two', '["odd'])) await announce(database, payload);
    await eventually(() => expect([one.mock.calls.length, two.mock.calls.length]).toEqual([2, 2]));
  });
});

describe('the events of a run', () => {
  /** Follows a run as a server does: reads on whenever it is woken. */
  function follow(store: Store, runId: string): number[] {
    const seen: number[] = [];
    let reading = Promise.resolve();
    const readOn = async (): Promise<void> => {
      const events = await store.read({ runId, protocol: 'fcmp', after: seen.at(-1) ?? 0, limit: 1000 });
      seen.push(...events.map(({ event }) => event.seq));
    };
    onTestFinished(
      store.watch(runId, () => {
        reading = reading.then(readOn, readOn);
      }),
    );
    return seen;
  }

  it('reach another machine live, without loss or duplicates, while connections break', async () => {
    const url = await makeSite();
    const [writer, reader, control] = [await openSite(url), await openSite(url), await openPlain(url)];
    const seen = follow(reader, 'run');
    for (let seq = 1; seq <= 60; seq++) {
      await writer.append('run', [sampleFcmp(seq)]);
      if (seq % 20 === 10) await cutListeners(control);
    }
    await eventually(() => expect(seen).toHaveLength(60));
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });
});
