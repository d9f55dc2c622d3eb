import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sampleClaim, sampleSettlement, sampleSubmission } from '../../src/store/contract/fixtures/order-samples.js';
import { openStore, type QueueWork } from '../../src/store/index.js';
import { createPostgresServer, findFreePort, UNSAFE_BUT_FAST } from '../postgres/postgres-server.js';
import { hasProgram } from './install-deploy-tools.js';

/** Starts PgBouncer with its defaults, in session mode, before a new server; returns the URL. */
async function openPooled(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pooler-'));
  const server = await createPostgresServer(folder, UNSAFE_BUT_FAST);
  await server.start();
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const url = new URL(server.url);
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`);
  const listened = await findFreePort();
  const settings = join(folder, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
* = host=${url.hostname} port=${url.port}
[pgbouncer]
pool_mode = session
listen_addr = 127.0.0.1
listen_port = ${listened}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
`,
  );
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  await chmod(folder, 0o755);
  const pooler = spawn('pgbouncer', [...account, settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    const exited = once(pooler, 'exit');
    pooler.kill('SIGTERM');
    await exited;
  });
  let log = '';
  pooler.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  await expect.poll(() => log).toContain('process up');
  url.port = String(listened);
  return url.href;
}

it.runIf(await hasProgram('pgbouncer'))(
  'a store works through PgBouncer in session mode: it wakes workers, claims and settles',
  async () => {
    const store = await openStore(await openPooled(), { pool: 3 });
    onTestFinished(async () => store.close());
    const woken: (QueueWork | undefined)[] = [];
    store.watchQueue((work) => woken.push(work), { worker: 'w' });
    // Once it is registered.
    await expect.poll(() => woken.length).toBeGreaterThan(1);
    const { record } = await store.submitOrder(sampleSubmission());
    await expect.poll(() => woken).toContain('runs');
    const claimed = await store.claimRun(sampleClaim('w', { watcher: 'w', now: store.now() }));
    expect(claimed?.record.id).toBe(record.run);
    expect(await store.settleOrder(sampleSettlement(record))).toMatchObject({ repeated: false });
  },
);
