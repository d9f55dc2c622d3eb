import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sampleClaim, sampleSettlement, sampleSubmission } from '../../src/store/contract/fixtures/order-samples.js';
import { openStore, type Store } from '../../src/store/index.js';
import { eventually } from './eventually.js';
import { queryServer } from './measure-load.js';
import { createPostgresServer, SURVIVES_KILLS, type PostgresServer } from './postgres-server.js';
import { FOLDER_PREFIX } from './sweep-leftovers.js';

const ORDERS = 20;

/** A database with tables and a streaming replica, both running. */
async function openPair(): Promise<{ readonly primary: PostgresServer; readonly replica: PostgresServer }> {
  const folders = [await makeFolder(), await makeFolder()] as const;
  const primary = await createPostgresServer(folders[0], SURVIVES_KILLS);
  onTestFinished(async () => primary.kill());
  await primary.start();
  await (await openStore(primary.url)).close();
  await primary.stop();
  const replica = await primary.createReplica(folders[1]);
  onTestFinished(async () => replica.kill());
  await primary.start();
  await replica.start();
  const countReplicas = async () =>
    queryServer(primary.url, `SELECT count(*)::int AS replicas FROM pg_stat_replication WHERE state = 'streaming'`);
  await eventually(async () => expect(await countReplicas()).toEqual({ replicas: 1 }));
  return { primary, replica };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(server: PostgresServer): Promise<Store> {
  const store = await openStore(server.url);
  onTestFinished(async () => store.close());
  return store;
}

/** Makes the replica the database that is written to. */
async function promote(replica: PostgresServer): Promise<Store> {
  expect(await queryServer(replica.url, 'SELECT pg_promote() AS promoted')).toEqual({ promoted: true });
  return open(replica);
}

const submit = async (store: Store, number: number) =>
  store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, request_id: `request ${number}` }));

describe('a failover', () => {
  it('to a synchronous replica loses nothing that was acknowledged', async () => {
    const { primary, replica } = await openPair();
    // It returns no row, which counts as an error here.
    await queryServer(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`).catch(() => undefined);
    await queryServer(primary.url, 'SELECT pg_reload_conf()');
    const isSynchronous = async () =>
      queryServer(primary.url, `SELECT sync_state FROM pg_stat_replication WHERE sync_state = 'sync'`);
    await eventually(async () => expect(await isSynchronous()).toEqual({ sync_state: 'sync' }));
    const store = await open(primary);
    for (let number = 1; number <= ORDERS; number += 1) await submit(store, number);
    await primary.kill();
    const after = await promote(replica);
    expect((await after.listOrders({ limit: 100 })).items).toHaveLength(ORDERS);
    expect((await submit(after, 1)).repeated).toBe(true);
  });

  it('to a replica that lags loses what it lacks: a settled order is queued again, and its worker has lost its claim', async () => {
    const { primary, replica } = await openPair();
    const store = await open(primary);
    const { record } = await submit(store, 1);
    const written = await queryServer<{ readonly position: string }>(
      primary.url,
      'SELECT pg_current_wal_lsn() AS position',
    );
    const isReplayed = `SELECT pg_last_wal_replay_lsn() >= '${written.position}' AS replayed`;
    await eventually(async () => expect(await queryServer(replica.url, isReplayed)).toEqual({ replayed: true }));
    await replica.stop();
    const claimed = await store.claimRun(sampleClaim());
    await store.settleOrder(sampleSettlement(record));
    await submit(store, 2);
    await primary.kill();
    await replica.start();
    const after = await promote(replica);
    expect((await after.listOrders({})).items).toMatchObject([{ order: { issue_ref: 'local#1' }, state: 'queued' }]);
    const { worker, leaseMs } = sampleClaim();
    const renewal = { id: claimed?.record.id ?? '', workerId: worker.worker_id, leaseMs, now: after.now() };
    expect(await after.renewRun(renewal)).toMatchObject({ held: false });
  });
});
