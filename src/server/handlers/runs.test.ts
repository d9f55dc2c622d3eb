import { sampleWorker } from '../../store/contract/fixtures/order-samples.js';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../../orders/dispatch/start-worker.js';
import { encodeReply } from '../../store/records/run-record.js';
import { sampleRasp, createRunResult } from '../../store/contract/fixtures/run-samples.js';
import { readJson, openServer } from '../fixtures/open-server.js';
import type { ServerChanges } from '../fixtures/open-server.js';

const NODE = process.execPath;
const openRuns = async (settings: ServerChanges['settings'] = {}) =>
  openServer({ settings: { commands: [NODE], ...settings } });
const print = (text: string) => ({
  engine: 'command',
  command: [NODE, '-e', `process.stdout.write(${JSON.stringify(text)})`],
});

describe('POST /v1/runs', () => {
  it('queues a run, which a worker then executes', async () => {
    const { post, get, work, store, lead, data } = await openRuns();
    const contract = { schema: { type: 'object', required: ['ok'] } };
    const started = await post('/v1/runs', { ...print('{"ok": true}'), workdir: work, contract });
    expect(started.status).toBe(201);
    const { id } = await readJson(started);
    expect(await readJson(get(`/v1/runs/${String(id)}`))).toMatchObject({ id, state: 'queued', result: null });

    const worker = startWorker({ store, lead, runs: { data }, pollMs: 50 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    await expect
      .poll(async () => readJson(get(`/v1/runs/${String(id)}`)), { timeout: 30_000 })
      .toMatchObject({ state: 'ended', result: { status: 'success', value: { ok: true }, repair_level: 'none' } });
    const { items } = (await readJson(get('/v1/runs?state=ended&engine=command'))) as { items: unknown[] };
    expect(items).toEqual([
      expect.objectContaining({ id, engine: 'command', spec: expect.objectContaining({ program: NODE }) }),
    ]);
    expect(JSON.stringify(items)).not.toContain('"ok"');
  });

  it('lists the repairs, at most the first hundred', async () => {
    const { post, get, work, store, lead, data } = await openRuns();
    const contract = { schema: { type: 'object' } };
    const text = `{"many": [${'1,,'.repeat(300)} 2]}`;
    const { id } = await readJson(post('/v1/runs', { ...print(text), workdir: work, contract }));
    const worker = startWorker({ store, lead, runs: { data }, pollMs: 50 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    await expect
      .poll(async () => readJson(get(`/v1/runs/${String(id)}`)), { timeout: 30_000 })
      .toMatchObject({ state: 'ended' });
    const { result } = await readJson(get(`/v1/runs/${String(id)}`));
    const { status, repairs } = result as { status: string; repairs: { kind: string; offset: number }[] };
    expect([status, repairs.length]).toEqual(['success', 100]);
    expect(repairs[0]).toMatchObject({ kind: 'extra_comma', offset: 12 });
  });

  it.each([
    ['an unknown engine', { engine: 'hal' }, 400, 'INVALID_RUN_SPEC'],
    ['a missing prompt', { engine: 'codex' }, 400, 'INVALID_RUN_SPEC'],
    ['an invalid schema', { engine: 'codex', prompt: 'x', contract: { schema: { type: 1 } } }, 400, 'INVALID_RUN_SPEC'],
    ['a file outside the folder', { engine: 'codex', prompt: 'x', input_files: ['../x'] }, 400, 'INVALID_RUN_SPEC'],
    [
      'a schema that is slow to compile',
      {
        engine: 'codex',
        prompt: 'x',
        contract: { schema: { enum: Array.from({ length: 9000 }, (_, index) => `x-${index}`) } },
      },
      400,
      'INVALID_RUN_SPEC',
    ],
    [
      'a command that is not listed',
      { engine: 'command', command: ['/bin/sh', '-c', 'id'] },
      403,
      'COMMAND_NOT_ALLOWED',
    ],
    ['a listed command under another name', { engine: 'command', command: ['node'] }, 403, 'COMMAND_NOT_ALLOWED'],
    [
      'a container without a configured image',
      { engine: 'codex', prompt: 'x', placement: 'container' },
      403,
      'COMMAND_NOT_ALLOWED',
    ],
    [
      'permissions that are not allowed',
      { engine: 'codex', prompt: 'x', permissions: 'bypass' },
      403,
      'PERMISSIONS_NOT_ALLOWED',
    ],
    [
      'a variable of the server',
      { engine: 'codex', prompt: 'x', env: ['SLUICE_TOKENS'] },
      403,
      'ENVIRONMENT_NOT_ALLOWED',
    ],
    ['an archive', { engine: 'codex', prompt: 'x', archive: 's3://planted' }, 400, 'INVALID_BODY'],
    ['all variables', { engine: 'codex', prompt: 'x', env: ['*'] }, 403, 'ENVIRONMENT_NOT_ALLOWED'],
  ])('refuses %s', async (_, spec, status, code) => {
    const { post, work, store } = await openRuns();
    const response = await post('/v1/runs', { workdir: work, ...spec });
    expect({ status: response.status, code: (await readJson(response))['code'] }).toEqual({ status, code });
    expect((await store.listRuns({})).items).toEqual([]);
  });

  it.each([
    { service_account: 'admin' },
    { secrets: ['database'] },
    { tolerations: [{ operator: 'Exists' }] },
    { labels: { app: 'database' } },
  ])('refuses a pod with access to more of the cluster: %j', async (more) => {
    const { post, work } = await openRuns({ placements: { kubernetes: { image: 'a' } } });
    const spec = { engine: 'codex', prompt: 'x', workdir: work, placement: 'kubernetes' };
    expect((await post('/v1/runs', spec)).status).toBe(201);
    expect(await readJson(post('/v1/runs', { ...spec, ...more }))).toMatchObject({ code: 'PERMISSIONS_NOT_ALLOWED' });
  });

  it.each(['team/../evil', 'team/./evil', 'team//evil', 'other/a', '-v/a'])('refuses the image %s', async (image) => {
    const { post, work } = await openRuns({ placements: { container: { image: 'a', images: ['team/*'] } } });
    const spec = { engine: 'codex', prompt: 'x', workdir: work, placement: 'container' };
    expect((await post('/v1/runs', { ...spec, image: 'team/agent:1' })).status).toBe(201);
    expect((await post('/v1/runs', { ...spec, image })).status).toBeOneOf([400, 403]);
  });

  it('records the trace context of its caller, and ignores an invalid context', async () => {
    const { post, get, work } = await openRuns();
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const start = async (header: string) => {
      const { id } = await readJson(post('/v1/runs', { ...print('x'), workdir: work }, { traceparent: header }));
      return (await readJson(get(`/v1/runs/${String(id)}`)))['spec'];
    };
    expect(await start(traceparent)).toMatchObject({ traceparent });
    expect(await start('nonsense')).not.toHaveProperty('traceparent');
  });

  it('returns the same run for the same request id', async () => {
    const { post, get, work } = await openRuns();
    const request = { ...print('x'), workdir: work, request_id: 'q1' };
    const first = await readJson(post('/v1/runs', request));
    expect(await readJson(post('/v1/runs', request))).toEqual(first);
    expect((await readJson(get('/v1/runs')))['items']).toHaveLength(1);
    const { spec } = await readJson(get(`/v1/runs/${String(first['id'])}`));
    expect(spec).not.toHaveProperty('request_id');
  });

  it('rejects a different request with a known request id', async () => {
    const { post, get, work } = await openRuns();
    const request = { workdir: work, request_id: 'q1' };
    const { id } = await readJson(post('/v1/runs', { ...print('x'), ...request }));
    expect(await readJson(post('/v1/runs', { ...print('y'), ...request }))).toMatchObject({
      status: 409,
      code: 'REQUEST_ID_REUSED',
      detail: expect.stringContaining(`"q1" belongs to run "${String(id)}"`) as string,
    });
    expect((await readJson(get('/v1/runs')))['items']).toHaveLength(1);
  });

  it('lists each problem with its location', async () => {
    const { post, work } = await openRuns();
    expect(await readJson(post('/v1/runs', { engine: 'codex', workdir: work, command: ['x'] }))).toMatchObject({
      issues: expect.arrayContaining([
        expect.objectContaining({ path: 'command' }),
        expect.objectContaining({ path: 'prompt' }),
      ]),
    });
  });

  it('accepts the schema at the top level, and works in the only root by default', async () => {
    const { post, get, work } = await openRuns();
    const schema = { type: 'object', required: ['ok'] };
    const { id } = await readJson(post('/v1/runs', { ...print('{}'), schema, contract: { align: true } }));
    const { spec } = await readJson(get(`/v1/runs/${String(id)}`));
    expect(spec).toMatchObject({ workdir: work, contract: { schema, align: true } });
    expect(spec).not.toHaveProperty('schema');
    expect(await readJson(post('/v1/runs', { ...print('{}'), schema, contract: { schema } }))).toMatchObject({
      status: 400,
      code: 'INVALID_BODY',
      detail: 'Invalid body: schema: is the same as contract.schema; send one of them.',
    });
  });

  it('needs a folder if there are several roots', async () => {
    const { post } = await openRuns({ roots: ['/tmp', '/var'] });
    expect(await readJson(post('/v1/runs', print('x')))).toMatchObject({
      code: 'INVALID_RUN_SPEC',
      issues: [{ path: 'workdir', message: 'required, but missing' }],
    });
  });

  it('names every unknown key with the nearest known one', async () => {
    const { post } = await openRuns();
    const body = { engine: 'codex', promt: 'x', workDir: '/', limits: { timeS: 3 }, zzz: 1 };
    const { detail, issues } = await readJson(post('/v1/runs', body));
    expect(detail).toMatch(
      /^Invalid body: promt: unknown key \(did you mean "prompt"\?\); workDir: unknown key \(did you mean "workdir"\?\); limits\.timeS: unknown key \(did you mean "time_s"\?\); zzz: unknown key \(use one of: engine, format, .*\); prompt: codex needs a prompt\.$/,
    );
    // The valid part of the request is checked too.
    expect(issues).toHaveLength(5);
    expect(issues).toContainEqual({ path: 'prompt', message: 'codex needs a prompt' });
  });

  it('names the object that has a key, lists the keys once, and shows how a list is written', async () => {
    const { post } = await openRuns();
    const body = { engine: 'command', command: 'echo hi', profile: 'tagged', zzz: 1, yyyyyyyyy: 2 };
    const { issues } = await readJson(post('/v1/runs', body));
    expect(issues).toEqual([
      { path: 'command', message: 'expected array, got string (a list is written ["one", "two"])' },
      { path: 'profile', message: 'unknown key (did you mean "contract.profile"?)' },
      { path: 'zzz', message: expect.stringMatching(/^unknown key \(use one of: engine, /) as string },
      { path: 'yyyyyyyyy', message: 'unknown key' },
    ]);
  });

  it('reports unknown keys, an invalid spec and what is not allowed at once, with the paths that were sent', async () => {
    const { post } = await openRuns();
    const wrong = { schema: { type: 'objct' }, workdir: '/etc', permissions: 'bypass' };
    const paths = async (body: object) => {
      const { code, issues } = await readJson(post('/v1/runs', body));
      return [code, ...(issues as { path: string }[]).map(({ path }) => path)];
    };
    expect(await paths({ engine: 'codexx', prompt: 'x', ...wrong })).toEqual([
      'INVALID_RUN_SPEC',
      'engine',
      'schema',
      'permissions',
      'workdir',
    ]);
    expect(await paths({ engine: 'codex', promt: 'x', mode: 1, ...wrong })).toEqual([
      'INVALID_BODY',
      'promt',
      'mode',
      'prompt',
      'schema',
      'permissions',
      'workdir',
    ]);
  });

  it('reports everything that is not allowed at once, with the next steps', async () => {
    const { post } = await openRuns();
    const request = { engine: 'command', command: ['echo', 'hi'], sandbox: 'off', env: ['HOME2'], workdir: '/' };
    const problem = await readJson(post('/v1/runs', request));
    expect(problem).toMatchObject({ status: 403, code: 'COMMAND_NOT_ALLOWED' });
    expect(problem['detail']).toContain('{ "commands": ["echo"] } in sluice.config.json');
    expect((problem['issues'] as { path: string }[]).map(({ path }) => path)).toEqual([
      'command',
      'sandbox',
      'env',
      'workdir',
    ]);
  });

  it('refuses folders outside the roots', async () => {
    const { post, folder, work } = await openRuns();
    for (const workdir of ['/', '.', join(folder, 'elsewhere'), `${work}/../elsewhere`]) {
      const response = await post('/v1/runs', { engine: 'codex', prompt: 'x', workdir });
      expect(await readJson(response)).toMatchObject({ status: 403, code: 'FOLDER_NOT_ALLOWED' });
    }
  });

  it('accepts the permissions and variables that the configuration allows', async () => {
    const { post, work } = await openRuns({ allowBypass: true, env: ['MY_FLAG', 'OPENAI_*'] });
    const spec = { engine: 'codex', prompt: 'x', workdir: work, permissions: 'bypass', env: ['MY_FLAG', 'OPENAI_*'] };
    expect((await post('/v1/runs', spec)).status).toBe(201);
    const request = async (name: string) => (await post('/v1/runs', { ...spec, env: [name] })).status;
    expect(await request('OPENAI_API_KEY')).toBe(201);
    for (const name of ['*', 'OPENAI*', '*_KEY', 'MY_FLAG2']) expect(await request(name)).toBe(403);
  });
});

describe('a run', () => {
  it('is listed newest first, page by page', async () => {
    const { post, get, work } = await openRuns();
    const ids: unknown[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.unshift((await readJson(post('/v1/runs', { ...print('1'), workdir: work })))['id']);
    }
    const first = await readJson(get('/v1/runs?limit=2'));
    const second = await readJson(get(`/v1/runs?limit=2&cursor=${String(first['next_cursor'])}`));
    const listed = [first, second].flatMap(({ items }) => (items as { id: string }[]).map(({ id }) => id));
    expect(listed).toEqual(ids);
    expect(second['next_cursor']).toBeNull();
    expect(await readJson(get('/v1/runs?cursor=junk'))).toMatchObject({ status: 400, code: 'INVALID_CURSOR' });
  });

  it('has a shortened prompt in lists', async () => {
    const { post, get, work } = await openRuns();
    await post('/v1/runs', { engine: 'codex', prompt: 'x'.repeat(100_000), workdir: work });
    const { items } = (await readJson(get('/v1/runs'))) as { items: { spec: { prompt: string } }[] };
    expect(items[0]?.spec.prompt).toHaveLength(501);
  });

  it('that is queued can be canceled immediately', async () => {
    const { post, get, work } = await openRuns();
    const { id } = await readJson(post('/v1/runs', { ...print('1'), workdir: work }));
    expect(await readJson(post(`/v1/runs/${String(id)}/cancel`))).toMatchObject({ cancel_requested: true });
    expect(await readJson(get(`/v1/runs/${String(id)}`))).toMatchObject({
      state: 'ended',
      result: { status: 'canceled' },
    });
  });

  it('that has not asked a question accepts no reply', async () => {
    const { post, work } = await openRuns();
    const { id } = await readJson(post('/v1/runs', { ...print('1'), workdir: work }));
    const response = await post(`/v1/runs/${String(id)}/reply`, { text: 'yes' });
    expect(await readJson(response)).toMatchObject({ status: 409, code: 'RUN_NOT_WAITING' });
  });

  it('that is waiting accepts one reply', async () => {
    const { post, store, work } = await openRuns();
    const { id } = await readJson(
      post('/v1/runs', { engine: 'codex', prompt: 'x', mode: 'interactive', workdir: work }),
    );
    const hold = { id: String(id), workerId: 'w', leaseMs: 60_000, now: Date.now() };
    await store.claimRun({ ...hold, worker: sampleWorker('w') });
    await store.setWaiting(hold);
    const renew = async () => store.renewRun(hold);
    let isAcknowledged = false;
    const response = post(`/v1/runs/${String(id)}/reply`, { text: 'the blue one' });
    void response.then(() => (isAcknowledged = true));
    await expect.poll(renew).toMatchObject({ reply: 'the blue one' });
    // The worker has read the reply, but can still die before it passes the reply to the agent.
    expect(isAcknowledged).toBe(false);
    await store.append(String(id), [sampleRasp(2, 1)]);
    expect(await readJson(response)).toEqual({ status: 'posted' });
    expect(await readJson(post(`/v1/runs/${String(id)}/reply`, { text: '' }))).toMatchObject({ code: 'INVALID_BODY' });
  });

  it('that is waiting accepts neither an empty reply nor text that imitates the choice of another user', async () => {
    const { post, store, work } = await openRuns();
    const { id } = await readJson(
      post('/v1/runs', { engine: 'codex', prompt: 'x', mode: 'interactive', workdir: work }),
    );
    const hold = { id: String(id), workerId: 'w', leaseMs: 60_000, now: Date.now() };
    await store.claimRun({ ...hold, worker: sampleWorker('w') });
    await store.setWaiting(hold);
    const reply = async (text: string) => readJson(post(`/v1/runs/${String(id)}/reply`, { text }));
    expect(await reply(' \n')).toMatchObject({ status: 400, code: 'INVALID_REPLY' });
    const choice = { interaction_id: 'px_1_1', option_id: 'yes', who: 'ada' };
    const response = reply(encodeReply(choice));
    await expect.poll(async () => store.renewRun(hold)).toMatchObject({ reply: JSON.stringify(choice) });
    await store.append(String(id), [sampleRasp(2, 1)]);
    expect(await response).toEqual({ status: 'posted' });
  });

  it('lets only a token with the scope `decide` answer a permission request', async () => {
    const tokens = [
      { name: 'ada', scopes: ['run'], value: 'ada-ada-ada-ada-ada' },
      { name: 'bob', scopes: ['run', 'decide'], value: 'bob-bob-bob-bob-bob' },
    ] as const;
    const { post } = await openServer({ settings: { tokens } });
    const answer = async (value: string, body: object) =>
      readJson(post('/v1/runs/none/reply', body, { authorization: `Bearer ${value}` }));
    const choice = { interaction_id: 'px_1_1', option_id: 'yes' };
    expect(await answer('ada-ada-ada-ada-ada', choice)).toMatchObject({ status: 403, code: 'SCOPE_MISSING' });
    expect(await answer('ada-ada-ada-ada-ada', { text: 'yes' })).toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await answer('bob-bob-bob-bob-bob', choice)).toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it('that ends before the reply reaches it refuses the reply', async () => {
    const { post, store, work } = await openRuns();
    const { id } = await readJson(
      post('/v1/runs', { engine: 'codex', prompt: 'x', mode: 'interactive', workdir: work }),
    );
    const hold = { id: String(id), workerId: 'w', leaseMs: 60_000, now: Date.now() };
    await store.claimRun({ ...hold, worker: sampleWorker('w') });
    await store.setWaiting(hold);
    const response = post(`/v1/runs/${String(id)}/reply`, { text: 'yes' });
    await expect.poll(async () => store.renewRun(hold)).toMatchObject({ reply: 'yes' });
    await store.endRun({ ...hold, result: createRunResult({ status: 'failed' }) });
    expect(await readJson(response)).toMatchObject({ status: 409, code: 'RUN_NOT_WAITING' });
  });

  it.each(['gone', '..', '%2e%2e%2f', '%00', '%', '%ff', 'a'.repeat(5000)])('named %j is not found', async (id) => {
    const { get, post } = await openRuns();
    for (const response of [
      get(`/v1/runs/${id}`),
      post(`/v1/runs/${id}/cancel`),
      post(`/v1/runs/${id}/reply`, { text: 'x' }),
    ]) {
      expect((await response).status).toBe(404);
    }
  });
});
