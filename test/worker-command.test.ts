import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { WORKER_PROTOCOL } from '../src/server/api/index.js';
import { probeSandbox } from '../src/runs/sandbox/index.js';
import { probePodman, TEST_IMAGE } from './install-podman.js';
import { startCommand, type StartedCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

const getFixture = (name: string): string => fileURLToPath(new URL(`fixtures/tls/${name}`, import.meta.url));
const CA = getFixture('ca.pem');
const FLEET_TOKEN = 'fleet-token-0123456789abcdef0123456789';
const ADMIN_TOKEN = 'admin-token-0123456789abcdef0123456789';

/** Reports its start, waits for a file, then reports success. */
const AGENT = `echo started >> "$SLUICE_REPO_DIR/started"
while [ ! -e "$SLUICE_REPO_DIR/go" ]; do echo waiting; sleep 0.05; done
echo finished
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"
`;

const SEARCH = readFileSync(getFixture('../search-token.mjs'), 'utf8');
/** Server and worker name the same images. */
const PLACEMENTS = { container: { image: TEST_IMAGE } };
/** How the tokens start that are created for one run with the token `fleet`. */
const RUN_TOKEN = `slr_${Buffer.from('fleet').toString('base64url')}.`;
const canSandbox = (await probeSandbox()).works;
const canContain = (await probePodman()).works;
/** The findings of an agent that found nothing. */
const NOTHING = { environment: 0, processes: 0, descriptors: 0, memory: 0, files: 0, sockets: 0 };

/** A server with TLS and without its own worker, in a new folder. */
async function makeSite({ lease_s = 2 } = {}) {
  const worker = JSON.stringify({ placements: PLACEMENTS });
  const files = {
    'repository/search.mjs': SEARCH,
    'agent.sh': AGENT,
    'worker/x': '',
    'worker.json': worker,
  };
  const folder = await makeFolder(files);
  const config = (port: number) => ({
    data: join(folder, 'data'),
    server: { port, tls: { cert: getFixture('cert.pem'), key: getFixture('key.pem') }, grace_s: 0, allow_bypass: true },
    roots: [folder],
    commands: ['node'],
    placements: PLACEMENTS,
    lease_s,
    retries: { worker_lost: 1 },
    wrappers: {
      scripted: { type: 'script', command: ['/bin/sh', join(folder, 'agent.sh')], inject: 'env', sandbox: 'off' },
    },
    tokens: [
      { name: 'fleet', scopes: ['worker'], value: FLEET_TOKEN },
      { name: 'admin', scopes: ['read', 'run', 'decide'], value: ADMIN_TOKEN },
    ],
  });
  const file = join(folder, 'server.json');
  let port = 0;
  async function start(): Promise<StartedCommand> {
    await writeFile(file, JSON.stringify(config(port)));
    const server = startCommand(['serve', '--no-demo', '--no-worker', '--config', file], folder);
    await expect.poll(() => server.printed.stdout, { timeout: 60_000 }).toMatch(/^https:\/\/127\.0\.0\.1:\d+\n$/);
    port = Number(new URL(server.printed.stdout.trim()).port);
    return server;
  }
  const startWorker = (args: readonly string[] = [], env: NodeJS.ProcessEnv = { SLUICE_WORKER_TOKEN: FLEET_TOKEN }) =>
    startCommand(
      [
        'worker',
        '--server',
        `https://localhost:${port}`,
        '--ca',
        CA,
        '--data',
        join(folder, 'worker'),
        '--config',
        join(folder, 'worker.json'),
        ...args,
      ],
      folder,
      env,
    );
  async function call(path: string, body?: unknown, token = ADMIN_TOKEN): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'sluice-protocol': WORKER_PROTOCOL,
      };
      const options = { method: text === undefined ? 'GET' : 'POST', headers, ca: readFileSync(CA) };
      const sent = request(`https://localhost:${port}${path}`, options, (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
        response.on('end', () => resolve(JSON.parse(answer) as Record<string, unknown>));
      });
      sent.on('error', reject).end(text);
    });
  }
  const repository = join(folder, 'repository');
  /** Requests a run of an agent that searches everywhere for a token, or only in a process. */
  const search = (token: string, spec: object, only: readonly string[] = []) => {
    const hex = Buffer.from(token.slice(0, 40)).toString('hex');
    const command = ['node', 'search.mjs', hex, 'found.json', ...only];
    return call('/v1/runs', { engine: 'command', command, workdir: repository, ...spec });
  };
  const readFound = async (run: unknown): Promise<unknown> => {
    const find = async () => call(`/v1/runs/${String(run)}`);
    await expect.poll(find).toMatchObject({ state: 'ended' });
    const { result } = (await find()) as { readonly result: { readonly status: string; readonly error?: unknown } };
    expect([result.status, result.error]).toEqual(['success', undefined]);
    return JSON.parse(await readFile(join(repository, 'found.json'), 'utf8'));
  };
  return { folder, repository, start, startWorker, call, search, readFound };
}

const order = (repo_dir: string) => ({
  issue_ref: 'local#1',
  role: 'backend',
  repo_dir,
  worker: 'scripted',
  instructions: 'Work.',
  expects: 'report',
});

describe('sluice worker --server', () => {
  it('finishes an order once though its server is killed and started again', async () => {
    // Longer than the server is away, however slow the host is.
    const { repository, start, startWorker, call } = await makeSite({ lease_s: 60 });
    const server = await start();
    const worker = startWorker();
    const { run } = (await call('/v1/orders', order(repository))) as { readonly run: string };
    const readStarts = async () => readFile(join(repository, 'started'), 'utf8').catch(() => '');
    await expect.poll(readStarts).toBe('started\n');
    server.child.kill('SIGKILL');
    await server.exitCode;
    await writeFile(join(repository, 'go'), '');
    await expect.poll(() => worker.printed.stderr).toContain('unavailable');
    await start();
    await expect
      .poll(async () => call('/v1/executions'))
      .toMatchObject({ items: [{ decision: 'advance', result_encoding: 'json' }] });
    expect(await readStarts()).toBe('started\n');
    const history = await call(`/v1/runs/${run}/history?limit=1000`);
    expect(JSON.stringify(history)).toContain('conversation.completed');
    const { evidence } = (await call(`/v1/runs/${run}/files`)) as { readonly evidence: readonly { name: string }[] };
    expect(evidence.map(({ name }) => name)).toContain('stdout.1.log');
    worker.child.kill('SIGTERM');
    expect(await worker.exitCode).toBe(0);
  });

  it('leaves the order of a killed worker to another one, after its agent is gone', async () => {
    const { repository, start, startWorker, call } = await makeSite();
    await start();
    const first = startWorker();
    await call('/v1/orders', order(repository));
    const readStarts = async () => readFile(join(repository, 'started'), 'utf8').catch(() => '');
    await expect.poll(readStarts).toBe('started\n');
    first.child.kill('SIGKILL');
    const second = startWorker();
    await expect.poll(readStarts).toBe('started\nstarted\n');
    await writeFile(join(repository, 'go'), '');
    await expect.poll(async () => call('/v1/executions?decision=advance')).toMatchObject({ items: [{ exit_code: 0 }] });
    second.child.kill('SIGTERM');
    expect(await second.exitCode).toBe(0);
  });

  it('finishes its runs after SIGTERM', async () => {
    const { repository, start, startWorker, call } = await makeSite();
    await start();
    const worker = startWorker();
    await call('/v1/orders', order(repository));
    await expect.poll(async () => readFile(join(repository, 'started'), 'utf8').catch(() => '')).toBe('started\n');
    worker.child.kill('SIGTERM');
    await expect.poll(() => worker.printed.stderr).toContain('worker shutting down');
    await writeFile(join(repository, 'go'), '');
    expect(await worker.exitCode).toBe(0);
    expect(await call('/v1/executions')).toMatchObject({ items: [{ decision: 'advance' }] });
  });

  it.each([
    ['from its environment', []],
    ['from a file', ['--token-file', '../token']],
  ])('hides its token %s from agents that search everywhere', async (_, args) => {
    const { folder, repository, start, startWorker, search, readFound } = await makeSite({ lease_s: 60 });
    await start();
    await writeFile(join(folder, 'token'), `${FLEET_TOKEN}\n`);
    const file = args.map((arg) => arg.replace('../token', join(folder, 'token')));
    const worker = startWorker(file, args.length === 0 ? { SLUICE_WORKER_TOKEN: FLEET_TOKEN } : {});
    const places = [
      ...(canSandbox ? [{ sandbox: 'required' }] : []),
      ...(canContain ? [{ placement: 'container' }] : []),
    ];
    for (const place of places) {
      const { id } = await search(FLEET_TOKEN, place);
      expect({ place, found: await readFound(id) }).toEqual({ place, found: NOTHING });
    }
    // Without a sandbox, its memory is readable where the kernel allows that.
    const { id } = await search(FLEET_TOKEN, { sandbox: 'off' }, [String(worker.child.pid)]);
    expect(await readFound(id)).toMatchObject({ ...NOTHING, memory: expect.any(Number) as unknown });
    await writeFile(join(repository, 'planted'), FLEET_TOKEN);
    // It finds what is there.
    for (const place of places) {
      const planted = await search(FLEET_TOKEN, place);
      expect(await readFound(planted['id'])).toEqual({ ...NOTHING, files: 1 });
    }
    worker.child.kill('SIGTERM');
    expect(await worker.exitCode).toBe(0);
  });

  it('executes one run with --run and exits, and its agent cannot find the token of the run', async () => {
    const { folder, start, startWorker, call, search, readFound } = await makeSite({ lease_s: 60 });
    await start();
    const { id } = await search(RUN_TOKEN, canSandbox ? { sandbox: 'required' } : {}, canSandbox ? [] : ['1']);
    const { placed } = await call('/v1/worker/place', {}, FLEET_TOKEN);
    const { run, token } = placed as { readonly run: string; readonly token: string };
    expect([run, token.startsWith(RUN_TOKEN)]).toEqual([id, true]);
    await writeFile(join(folder, 'token'), token);
    const args = ['--run', run, '--token-file', join(folder, 'token')];
    const worker = startWorker(args, {});
    expect([await worker.exitCode, worker.printed.stderr]).toEqual([0, expect.any(String)]);
    expect(await readFound(id)).toEqual(NOTHING);
    const again = startWorker(args, {});
    expect(await again.exitCode).toBe(2);
    expect(again.printed.stderr).toContain('RUN_NOT_FOUND');
  });

  it('claims nothing after SIGTERM: with a slot free, the next order is left to another worker', async () => {
    const { folder, repository, start, startWorker, call } = await makeSite();
    await start();
    const worker = startWorker(['--concurrency', '2']);
    await call('/v1/orders', order(repository));
    await expect.poll(async () => readFile(join(repository, 'started'), 'utf8').catch(() => '')).toBe('started\n');
    worker.child.kill('SIGTERM');
    await expect.poll(() => worker.printed.stderr).toContain('worker shutting down');
    const next = join(folder, 'next');
    await mkdir(next);
    await writeFile(join(next, 'go'), '');
    const { run } = (await call('/v1/orders', { ...order(next), issue_ref: 'local#2' })) as { readonly run: string };
    await expect
      .poll(async () => call('/v1/workers'))
      .toMatchObject({ items: [{ state: 'stopping', capacity: 2, busy: 1 }] });
    await writeFile(join(repository, 'go'), '');
    expect(await worker.exitCode).toBe(0);
    expect(await call('/v1/executions')).toMatchObject({ items: [{ issue_ref: 'local#1', decision: 'advance' }] });
    expect(await call(`/v1/runs/${run}`)).toMatchObject({ state: 'queued', started_at: null });
    expect(await readdir(next)).toEqual(['go']);
    const second = startWorker();
    await expect.poll(async () => call(`/v1/runs/${run}`)).toMatchObject({ state: 'ended' });
    second.child.kill('SIGTERM');
    expect(await second.exitCode).toBe(0);
  });

  it.each([
    ['a server without TLS', ['--server', 'http://sluice.example.org'], 'would send the token unencrypted'],
    ['a database besides', ['--database', 'memory:'], 'Use either --server or --database'],
    ['a missing token file', ['--token-file', 'missing'], 'Cannot read the token file "missing": no such file.'],
  ])('refuses %s', async (_, args, message) => {
    const { startWorker } = await makeSite();
    const worker = startWorker(args);
    expect(await worker.exitCode).toBe(2);
    expect(worker.printed.stderr).toContain(message);
  });

  it('refuses a server whose certificate it does not know, a token without the scope, and a damaged authority', async () => {
    const { folder, start, startWorker } = await makeSite();
    const server = await start();
    const url = server.printed.stdout.trim();
    const stranger = startCommand(['worker', '--server', url, '--data', folder], folder, {
      SLUICE_WORKER_TOKEN: FLEET_TOKEN,
    });
    expect(await stranger.exitCode).toBe(2);
    expect(stranger.printed.stderr).toMatch(/certificate/);
    await writeFile(join(folder, 'token'), `${ADMIN_TOKEN}\n`);
    const admin = startWorker(['--token-file', join(folder, 'token')], {});
    expect(await admin.exitCode).toBe(2);
    expect(admin.printed.stderr).toContain('lacks the scope "worker"');
    await writeFile(join(folder, 'ca.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    const mistaken = startWorker(['--ca', join(folder, 'ca.pem')]);
    expect(await mistaken.exitCode).toBe(2);
    expect(mistaken.printed.stderr).toContain('contains a damaged certificate');
  });
});
