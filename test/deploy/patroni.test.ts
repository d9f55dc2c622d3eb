import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { isSluiceError } from '../../src/base/index.js';
import { sampleSubmission } from '../../src/store/contract/fixtures/order-samples.js';
import { openStore, type Store } from '../../src/store/index.js';
import { findFreePort } from '../postgres/postgres-server.js';
import { findPostgres, hasProgram } from './install-deploy-tools.js';

const CLIENTS = 3;
/** How long the lost primary keeps its role: Patroni's minimum. */
const TTL_S = 20;
const PASSWORD = 'only-for-this-test';

/** PostgreSQL refuses to run as root. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Starts a program that is killed at the end of the test. */
function start(program: string, args: readonly string[], cwd: string): ChildProcess {
  const child = spawn(program, args, {
    ...account,
    cwd,
    stdio: 'ignore',
    env: { ...process.env, HOME: cwd, LC_ALL: 'C' },
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

interface Member {
  readonly port: number;
  /** Of its REST interface. */
  readonly rest: number;
  readonly isPrimary: () => Promise<boolean>;
  /** Kills Patroni and PostgreSQL, as the loss of the host would. */
  kill(): Promise<void>;
}

/** Starts a member of a cluster, whose state is in etcd. */
async function startMember(name: string, folder: string, etcd: number): Promise<Member> {
  const [port, rest] = [await findFreePort(), await findFreePort()];
  const data = join(folder, name);
  const settings = join(folder, `${name}.yml`);
  const user = (username: string): object => ({ username, password: PASSWORD });
  await writeFile(
    settings,
    JSON.stringify({
      scope: 'sluice',
      name,
      restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
      etcd3: { host: `127.0.0.1:${etcd}` },
      bootstrap: {
        dcs: { ttl: TTL_S, loop_wait: 2, retry_timeout: 5, synchronous_mode: true, postgresql: {} },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'no-sync'],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: data,
        bin_dir: findPostgres(),
        authentication: { superuser: user('postgres'), replication: user('replica') },
        parameters: { unix_socket_directories: folder, fsync: 'off' },
        pg_hba: [
          'local all all trust',
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication all 127.0.0.1/32 scram-sha-256',
        ],
      },
    }),
  );
  const patroni = start('patroni', [settings], folder);
  const kill = async (): Promise<void> => {
    patroni.kill('SIGKILL');
    // Its first line is the server's process, which is not Patroni's child.
    const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (Number(pid) > 0) execFileSync('sh', ['-c', `kill -9 ${Number(pid)} 2>/dev/null || true`]);
  };
  onTestFinished(kill);
  const isPrimary = async (): Promise<boolean> => (await fetchStatus(rest, 'primary')) === 200;
  return { port, rest, isPrimary, kill };
}

/** Returns the status that a member answers; 0 if it does not. */
async function fetchStatus(port: number, path: string): Promise<number> {
  return fetch(`http://127.0.0.1:${port}/${path}`, { signal: AbortSignal.timeout(1000) }).then(
    ({ status }) => status,
    () => 0,
  );
}

/** Starts a cluster of two members with a synchronous replica, and a proxy that leads to the primary. */
async function startCluster(): Promise<{ readonly url: string; readonly members: readonly Member[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-patroni-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  await chmod(folder, 0o755);
  if (account.uid !== undefined) await chown(folder, account.uid, account.gid);
  const [client, peer, port, state] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  const etcdArgs = ['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl, '--unsafe-no-fsync'];
  etcdArgs.push('--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl);
  await mkdir(join(folder, 'etcd'), { mode: 0o700 });
  if (account.uid !== undefined) await chown(join(folder, 'etcd'), account.uid, account.gid);
  start('etcd', ['--data-dir', join(folder, 'etcd'), '--initial-cluster', `default=${peerUrl}`, ...etcdArgs], folder);
  await expect.poll(async () => fetchStatus(client, 'health')).toBe(200);
  const first = await startMember('a', folder, client);
  await expect.poll(first.isPrimary).toBe(true);
  const second = await startMember('b', folder, client);
  await expect.poll(async () => fetchStatus(second.rest, 'synchronous')).toBe(200);
  const members = [first, second];
  const servers = members.map(
    (member, index) => `  server m${index} 127.0.0.1:${member.port} check port ${member.rest}\n`,
  );
  await writeFile(
    join(folder, 'haproxy.cfg'),
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 60s
  timeout server 60s
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('')}listen state
  mode http
  bind 127.0.0.1:${state}
  stats enable
  stats uri /
`,
  );
  start('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], folder);
  // Until it has checked them, it takes every server for the primary.
  const readState = async (): Promise<string> =>
    fetch(`http://127.0.0.1:${state}/;csv`).then(
      async (response) => response.text(),
      () => '',
    );
  await expect.poll(readState).toMatch(/^primary,m0,.*,UP,[^]*^primary,m1,.*,DOWN,/m);
  return { url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`, members };
}

/** Submits orders, each until it is acknowledged, until `isOver`. */
async function submitOrders(store: Store, name: string, isOver: () => boolean) {
  const acknowledged: string[] = [];
  const refusals = new Set<string>();
  while (!isOver()) {
    const issue = `${name}#${acknowledged.length + 1}`;
    const submission = sampleSubmission({ issue_ref: issue, request_id: issue });
    const code = await store.submitOrder(submission).then(
      () => undefined,
      (error: unknown) => (isSluiceError(error) ? error.code : String(error)),
    );
    if (code === undefined) acknowledged.push(issue);
    else {
      refusals.add(code);
      await setTimeout(50);
    }
  }
  return { acknowledged, refusals };
}

async function listIssues(store: Store): Promise<string[]> {
  const issues: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.listOrders({ limit: 1000, ...(cursor === undefined ? {} : { cursor }) });
    issues.push(...page.items.map(({ order }) => order.issue_ref));
    cursor = page.next_cursor;
  }
  return issues;
}

const PROGRAMS = ['patroni', 'etcd', 'haproxy'];
const canRun = findPostgres() !== undefined && (await Promise.all(PROGRAMS.map(hasProgram))).every(Boolean);

it.runIf(canRun)(
  'a failover by Patroni loses no acknowledged order and makes none twice, and calls meanwhile fail as STORE_UNAVAILABLE',
  { timeout: 180_000 },
  async () => {
    const { url, members } = await startCluster();
    const [lost, heir] = members;
    await expect
      .poll(async () =>
        (await openStore(url)).close().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const store = await openStore(url);
    onTestFinished(async () => store.close());
    let isOver = false;
    const names = Array.from({ length: CLIENTS }, (_, number) => `local${number}`);
    const clients = names.map(async (name) => submitOrders(store, name, () => isOver));
    await expect.poll(async () => (await listIssues(store)).length).toBeGreaterThan(50);
    await lost?.kill();
    await expect.poll(async () => heir?.isPrimary(), { timeout: 60_000 }).toBe(true);
    // The proxy leads to it.
    let before = 0;
    await expect
      .poll(async () => (before = (await listIssues(store).catch(() => [])).length), { timeout: 20_000 })
      .toBeGreaterThan(50);
    await expect.poll(async () => (await listIssues(store)).length, { timeout: 20_000 }).toBeGreaterThan(before + 50);
    isOver = true;
    const results = await Promise.all(clients);
    const acknowledged = results.flatMap((result) => result.acknowledged);
    const issues = await listIssues(store);
    expect(issues.toSorted()).toEqual(acknowledged.toSorted());
    expect([...new Set(results.flatMap((result) => [...result.refusals]))]).toEqual(['STORE_UNAVAILABLE']);
  },
);
