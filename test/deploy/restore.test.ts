import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../scripts/run-tool.js';
import { openS3Server, type S3Server } from '../../src/runs/archive/fixtures/open-s3-server.js';
import { createPostgresServer, UNSAFE_BUT_FAST } from '../postgres/postgres-server.js';
import { startCommand } from '../start-command.js';
import { makeFolder } from '../temporary-folder.js';
import { findPostgres } from './install-deploy-tools.js';

const TOKEN = 'a-token-for-the-tests-0123456789';
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const postgresPrograms = findPostgres();

/** Reports success, or something that a person must decide if there is no result. */
const AGENT = `echo "working on $SLUICE_ISSUE_REF"
[ "$SLUICE_ISSUE_REF" = 'local#2' ] && exit 0
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \\
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"
`;

/** The PostgreSQL server of the current test. */
async function openPostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-restore-'));
  const server = await createPostgresServer(folder, UNSAFE_BUT_FAST, postgresPrograms);
  await server.start();
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    /** Creates an empty database and returns its URL. */
    async create(name: string): Promise<string> {
      const client = new pg.Client(server.url);
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return server.url.replace(/postgres$/, name);
    },
    /** Runs a program of PostgreSQL; throws if it fails. */
    async call(program: string, args: readonly string[]): Promise<void> {
      const { exitCode, stderr } = await run(join(postgresPrograms ?? '', program), args, folder);
      if (exitCode !== 0) throw new Error(`${program}: ${stderr}`);
    },
  };
}

const s3 = new AwsClient({ ...KEYS, service: 's3', region: 'us-east-1' });

/** Lists the names of all objects in an archive. */
async function listArchive({ endpoint }: S3Server): Promise<string> {
  const list = await (await s3.fetch(`${endpoint}/runs?list-type=2`)).text();
  return [...list.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name]) => name).join('\n');
}

/** Copies all objects from one archive to another, as `aws s3 sync` does. */
async function copyArchive(from: S3Server, to: S3Server): Promise<void> {
  for (const name of (await listArchive(from)).split('\n')) {
    const body = await (await s3.fetch(`${from.endpoint}/runs/${name}`)).arrayBuffer();
    const { ok } = await s3.fetch(`${to.endpoint}/runs/${name}`, { method: 'PUT', body });
    if (!ok) throw new Error(`cannot copy ${name}`);
  }
}

/** A server that executes runs, with a new data folder; `comments` and `work` outlive it. */
async function startInstallation(database: string, archive: S3Server, shared: string) {
  const folder = await makeFolder({ 'data/x': '' });
  const file = join(folder, 'sluice.json');
  const config = {
    data: join(folder, 'data'),
    database,
    archive: `s3://runs/team?endpoint=${archive.endpoint}&keep_local=false&copy_every_s=1`,
    packing: { after_s: 0 },
    lease_s: 2,
    roots: [shared],
    commands: ['/bin/sh'],
    sandbox: { use: 'off' },
    sinks: [{ type: 'markdown', dir: join(shared, 'comments') }],
    wrappers: { scripted: { type: 'script', command: ['/bin/sh', join(shared, 'agent.sh')], inject: 'env' } },
    tokens: [{ name: 'admin', scopes: ['read', 'run', 'decide'], value: TOKEN }],
  };
  await writeFile(file, JSON.stringify(config));
  const env = { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey };
  const server = startCommand(['serve', '--port', '0', '--config', file], folder, env);
  await expect.poll(() => server.printed.stdout + server.printed.stderr).toMatch(/^http:\/\/\S+\n/);
  const address = server.printed.stdout.trim();
  const send = async (path: string, body?: unknown): Promise<Response> =>
    fetch(address + path, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const read = async (path: string, body?: unknown) =>
    (await (await send(path, body)).json()) as Record<string, unknown> & { readonly items: readonly { id: string }[] };
  const waitFor = async (path: string, part: object) => {
    await expect.poll(async () => read(path), { interval: 100 }).toMatchObject(part);
  };
  return {
    server,
    send,
    read,
    waitFor,
    /** Starts a run of a shell script, and returns its id. */
    async startRun(script: string, workdir = shared): Promise<string> {
      const { id } = await read('/v1/runs', { engine: 'command', command: ['/bin/sh', '-c', script], workdir });
      return String(id);
    },
    /** Executes an order; waits until it is settled and its run is archived. */
    async execute(issue: string): Promise<string> {
      const request = {
        issue_ref: issue,
        role: 'backend',
        repo_dir: shared,
        worker: 'scripted',
        instructions: 'Work.',
      };
      const { run: id } = await read('/v1/orders', { ...request, expects: 'report' });
      await waitFor(`/v1/runs/${String(id)}/files`, { source: 'archive' });
      return String(id);
    },
    /** Everything that must be the same after a restore. */
    async describe(runs: readonly string[]) {
      const texts = runs.flatMap((id) => [
        `/v1/runs/${id}`,
        `/v1/runs/${id}/history?limit=1000`,
        `/v1/runs/${id}/raw/1/stdout`,
      ]);
      const lists = ['/v1/issues', '/v1/executions', '/v1/inbox', '/v1/outbox?state=delivered'];
      return Promise.all([...texts, ...lists].map(async (path) => [path, await (await send(path)).text()]));
    },
  };
}

describe.runIf(postgresPrograms !== undefined)('the Job that migrates', () => {
  it('runs a command that creates the tables of an empty database', async () => {
    const database = await (await openPostgres()).create('empty');
    const folder = await makeFolder({});
    // As in deploy/chart/templates/migrate.yaml.
    const env = { SLUICE_DATABASE: database, SLUICE_DATA: join(folder, 'data') };
    expect(await startCommand(['workers'], folder, env).exitCode).toBe(0);
    const client = new pg.Client(database);
    await client.connect();
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'sluice'");
    await client.end();
    expect(rows.length).toBeGreaterThan(10);
  });
});

describe.runIf(postgresPrograms !== undefined)('a backup of PostgreSQL and the archive', () => {
  it('restores a whole installation into an empty database and another archive, up to the dump', async () => {
    const postgres = await openPostgres();
    const [archive, copy, earlyCopy] = await Promise.all([openS3Server(), openS3Server(), openS3Server()]);
    const shared = await makeFolder({ 'agent.sh': AGENT, 'comments/x': '', 'active/x': '' });
    const database = await postgres.create('first');
    const first = await startInstallation(database, archive, shared);

    const kept = [
      await first.startRun('echo before; echo more'),
      await first.execute('local#1'),
      await first.execute('local#2'),
    ];
    await first.waitFor(`/v1/runs/${kept[0]}/files`, { source: 'archive' });
    await copyArchive(archive, earlyCopy);
    const between = await first.startRun('echo between');
    await first.waitFor(`/v1/runs/${between}/files`, { source: 'archive' });
    // In another folder, because a folder has one run at a time.
    const active = await first.startRun(
      'echo started; while [ ! -e stop ]; do sleep 0.1; done',
      join(shared, 'active'),
    );
    await expect.poll(async () => listArchive(archive)).toContain(`growing/`);
    await first.waitFor('/v1/outbox?state=delivered', { items: [{}, {}] });
    const before = await first.describe([...kept, between]);

    const dump = join(shared, 'sluice.dump');
    await postgres.call('pg_dump', ['--format=custom', `--file=${dump}`, database]);
    const lost = await first.execute('local#3');
    await copyArchive(archive, copy);
    // The run that the dump does not know is in the copy, because the archive was copied after it.
    expect(await listArchive(copy)).toContain(`${lost}.zip`);
    first.server.child.kill('SIGKILL');
    await first.server.exitCode;
    await writeFile(join(shared, 'active/stop'), '');
    const comments = await readFile(join(shared, 'comments/local_1.md'), 'utf8');

    const restored = await postgres.create('second');
    await postgres.call('pg_restore', ['--exit-on-error', '--no-owner', `--dbname=${restored}`, dump]);
    const second = await startInstallation(restored, copy, shared);
    // The worker of the active run is gone; its recording is there as far as it was copied.
    await second.waitFor(`/v1/runs/${active}`, { state: 'ended', result: { error: { code: 'WORKER_GONE' } } });
    expect(await second.describe([...kept, between])).toEqual(before);
    expect(await (await second.send(`/v1/runs/${active}/raw/1/stdout`)).text()).toBe('started\n');
    expect((await second.send(`/v1/runs/${lost}`)).status).toBe(404);
    expect((await second.read('/v1/issues')).items).toHaveLength(2);
    expect(await readFile(join(shared, 'comments/local_1.md'), 'utf8')).toBe(comments);

    // It works on: a decision that was open, and new work.
    const [item] = (await second.read('/v1/inbox')).items;
    const resolved = await second.send(`/v1/inbox/${item?.id}/resolve`, {
      action: 'reject',
      why: 'No result.',
    });
    expect(resolved.status).toBe(200);
    await second.execute('local#4');
    second.server.child.kill('SIGTERM');
    await second.server.exitCode;

    // A copy of the archive from before the dump: the record and the events are there, the bytes are not.
    const third = await startInstallation(restored, earlyCopy, shared);
    expect((await third.send(`/v1/runs/${kept[0]}/raw/1/stdout`)).status).toBe(200);
    const history = await third.send(`/v1/runs/${between}/history?limit=1000`);
    expect(await history.text()).toContain('"text":"between"');
    const missing = await third.send(`/v1/runs/${between}/raw/1/stdout`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { code: 'FILE_NOT_FOUND' }]);
  });
});
