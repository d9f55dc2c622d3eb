import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../../orders/dispatch/start-worker.js';
import { readJson, openServer } from '../fixtures/open-server.js';
import type { ServerChanges } from '../fixtures/open-server.js';
import {
  NOW,
  sampleItem,
  sampleSettlement,
  sampleSubmission,
  sampleWorker,
} from '../../store/contract/fixtures/order-samples.js';

const AGENT = fileURLToPath(new URL('../../orders/dispatch/fixtures/worker.mjs', import.meta.url));
const ISSUE = 'acme/shop#12';
const PATH = `/v1/issues/${encodeURIComponent(ISSUE)}`;

async function openOrders(changes: ServerChanges = {}) {
  const wrappers = { scripted: { type: 'script', command: [process.execPath, AGENT] } };
  const server = await openServer({ ...changes, wrappers });
  const { store, lead, data, post, get, work } = server;
  const order = (instructions: object, extraFields: object = {}) => ({
    issue_ref: ISSUE,
    role: 'qa',
    repo_dir: work,
    worker: 'scripted',
    instructions: JSON.stringify(instructions),
    ...extraFields,
  });
  const submit = async (instructions: object, headers = {}) =>
    readJson(post('/v1/orders', order(instructions), headers));
  const startWork = (): void => {
    const worker = startWorker({ store, lead, runs: { data }, pollMs: 50 });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
  };
  /** Waits for the first inbox item. */
  const waitForItem = async (headers = {}): Promise<Record<string, unknown>> => {
    await expect.poll(async () => ((await readJson(get('/v1/inbox', headers)))['items'] as unknown[]).length).toBe(1);
    return ((await readJson(get('/v1/inbox', headers)))['items'] as Record<string, unknown>[])[0] ?? {};
  };
  return { ...server, order, submit, startWork, waitForItem };
}

describe('an order over HTTP', () => {
  it('may name only configured repositories by URL', async () => {
    const url = 'https://git.example.org/shop.git';
    const { post, order, work } = await openOrders({ repos: [{ url, push: true, maxBytes: 1 }] });
    const request = { ...order({}), repo_dir: undefined };
    const response = await readJson(post('/v1/orders', { ...request, repo: url }));
    expect(response).toMatchObject({ state: 'queued', order: { repo: url, repo_dir: url } });
    const unknownRepo = post('/v1/orders', { ...request, repo: 'https://elsewhere.example.org/x.git' });
    expect(await readJson(unknownRepo)).toMatchObject({ status: 400, code: 'UNKNOWN_REPO' });
    expect(await readJson(post('/v1/orders', request))).toMatchObject({ status: 400, code: 'INVALID_WORK_REQUEST' });
    // A path in the field `repo` must also be under the roots.
    expect(await readJson(post('/v1/orders', { ...request, repo: '/etc' }))).toMatchObject({
      code: 'FOLDER_NOT_ALLOWED',
    });
    const path = await readJson(post('/v1/orders', { ...request, repo: work }));
    expect(path).toMatchObject({ order: { repo_dir: work } });
  });

  it('becomes a decision, a comment and an execution', async () => {
    const { submit, startWork, get } = await openOrders();
    const submitted = await submit({ result: 'ok' });
    expect(submitted).toMatchObject({
      issue_ref: ISSUE,
      state: 'queued',
      worker: 'scripted',
      worker_type: 'script',
      decision: null,
    });
    expect(await readJson(get(PATH))).toMatchObject({ issue: { state: 'doing', active_run_id: submitted['run_id'] } });
    startWork();
    await expect
      .poll(async () => readJson(get(PATH)))
      .toMatchObject({
        issue: { state: 'review' },
        orders: [{ state: 'settled', decision: { action: 'advance', result_code: 'none' }, result: { status: 'ok' } }],
        inbox: [],
        needs_attention: false,
      });
    await expect
      .poll(async () => readJson(get(`/v1/outbox?state=delivered&issue_ref=${encodeURIComponent(ISSUE)}`)), {
        timeout: 60_000,
      })
      .toMatchObject({ items: [{ sink: 'markdown', trigger: `workrun:${String(submitted['run_id'])}`, tries: 1 }] });
    expect(await readJson(get('/v1/executions?decision=advance&worker=scripted&since=2020-01-01'))).toMatchObject({
      items: [{ issue_ref: ISSUE, decision: 'advance', who: null, exit_code: 0 }],
    });
    expect(await readJson(get('/v1/executions?until=2020-01-01'))).toMatchObject({ items: [] });
    expect(await readJson(get('/v1/issues?state=review'))).toMatchObject({ items: [{ issue_ref: ISSUE }] });
    expect(await readJson(get('/v1/issues?state=todo'))).toMatchObject({ items: [] });
    expect(await readJson(get('/v1/issues?search=SHOP%20acme'))).toMatchObject({ items: [{ issue_ref: ISSUE }] });
    expect(await readJson(get('/v1/issues?search=bakery'))).toMatchObject({ items: [], next_cursor: null });
  });

  it('can be a race: its runs are shown side by side, and a human chooses if none is proven', async () => {
    const { order, post, get, work, startWork } = await openOrders();
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', work, ...args]);
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
    const refused = await post('/v1/orders', order({ result: 'ok' }, { race: 1 }));
    expect([refused.status, await readJson(refused)]).toMatchObject([400, { code: 'INVALID_BODY' }]);
    const submitted = await readJson(post('/v1/orders', order({ result: 'ok' }, { race: 2 })));
    expect(submitted).toMatchObject({ group: submitted['run_id'], rivals: [{ group: submitted['run_id'] }] });
    expect(await readJson(get(`${PATH}/race`))).toMatchObject({ group: submitted['run_id'], winner: null });
    startWork();
    await expect
      .poll(async () => readJson(get(`${PATH}/race`)))
      .toMatchObject({ runs: [{ decision: { action: 'needs-human' } }, { decision: { action: 'needs-human' } }] });
    const race = await readJson(get(`${PATH}/race`));
    const [, second] = race['runs'] as { readonly run_id: string; readonly inbox_id: string }[];
    const acceptance = { action: 'accept', why: 'the better one', who: 'Ada' };
    expect((await post(`/v1/inbox/${second?.inbox_id}/resolve`, acceptance)).status).toBe(200);
    expect(await readJson(get(`${PATH}/race`))).toMatchObject({ winner: second?.run_id });
    expect((await get('/v1/issues/unknown%231/race')).status).toBe(404);
  });

  it('with the same request id returns the same order', async () => {
    const { post, order } = await openOrders();
    const first = await readJson(post('/v1/orders', order({}, { request_id: 'r1' })));
    expect(await readJson(post('/v1/orders', order({}, { request_id: 'r1' })))).toEqual(first);
  });

  it('with a known request id and a different request is refused', async () => {
    const { post, order, get } = await openOrders();
    const first = await readJson(post('/v1/orders', order({}, { request_id: 'r1' })));
    const other = order({ result: 'ok' }, { request_id: 'r1' });
    expect(await readJson(post('/v1/orders', other))).toMatchObject({
      status: 409,
      code: 'REQUEST_ID_REUSED',
      detail: expect.stringContaining('Repeat that request unchanged, or use a new request_id') as string,
    });
    expect(await readJson(get(PATH))).toMatchObject({ issue: { active_run_id: first['run_id'] } });
  });

  it.each([
    ['an invalid issue', { issue_ref: '../../etc' }, 400, 'INVALID_BODY'],
    ['an unknown wrapper', { worker: 'unknown' }, 400, 'UNKNOWN_WORKER'],
    ['a command', { command: ['sh'] }, 400, 'INVALID_BODY'],
    ['an issue that waits for itself', { depends_on: [ISSUE] }, 400, 'INVALID_WORK_REQUEST'],
    ['a folder outside the roots', { repo_dir: '/etc' }, 403, 'FOLDER_NOT_ALLOWED'],
  ])('is refused for %s', async (_, fields, status, code) => {
    const { post, order, store } = await openOrders();
    const response = await post('/v1/orders', order({}, fields));
    expect({ status: response.status, code: (await readJson(response))['code'] }).toEqual({ status, code });
    expect((await store.listOrders({})).items).toEqual([]);
  });

  it('of an unknown issue is not found', async () => {
    const { get } = await openOrders();
    expect(await readJson(get('/v1/issues/acme%2Fshop%2399'))).toMatchObject({ status: 404, code: 'ISSUE_NOT_FOUND' });
  });
});

describe('the diff of an order over HTTP', () => {
  it('belongs to the active run by default, or to the run in the query', async () => {
    const { submit, get } = await openOrders();
    const { run_id } = await submit({ result: 'ok' });
    const change = {
      issue_ref: ISSUE,
      run_id,
      source: 'none',
      base_commit: null,
      files: [],
      why: 'The work has not started.',
    };
    expect(await readJson(get(`${PATH}/diff`))).toMatchObject(change);
    expect(await readJson(get(`${PATH}/diff?run_id=${String(run_id)}`))).toMatchObject(change);
    const unknown = { status: 404, code: 'ISSUE_NOT_FOUND' };
    expect(await readJson(get(`${PATH}/diff?run_id=2020-01-01-qa-0009`))).toMatchObject(unknown);
    expect(await readJson(get('/v1/issues/acme%2Fshop%2399/diff'))).toMatchObject(unknown);
  });
});

describe('an inbox item over HTTP', () => {
  it('accepts comments on lines with a decision, and stores them', async () => {
    const { submit, startWork, waitForItem, post } = await openOrders();
    await submit({ print: 'done' });
    startWork();
    const path = `/v1/inbox/${String((await waitForItem())['id'])}/resolve`;
    const comments = [{ path: 'a.ts', line: 3, side: 'new', text: 'Why?' }];
    const resolution = { action: 'reject', why: 'no', comments };
    const invalidResolution = { ...resolution, comments: [{ path: 'a.ts', line: -1, side: 'new', text: 'Why?' }] };
    expect(await readJson(post(path, invalidResolution))).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    expect(await readJson(post(path, resolution))).toMatchObject({ resolution: { action: 'reject', comments } });
  });

  it('has its evidence, and an exact preview of the comment', async () => {
    const { submit, startWork, waitForItem, get, post } = await openOrders();
    await submit({ print: 'done, trust me' });
    startWork();
    const item = await waitForItem();
    const path = `/v1/inbox/${String(item['id'])}`;
    expect(item).toMatchObject({ issue_ref: ISSUE, resolution: null, reading: { source: 'none' } });
    expect(await readJson(get(path))).toEqual(item);

    const resolution = { action: 'reject', why: 'nothing was done', who: 'Grace' };
    const { comment } = await readJson(post(`${path}/preview`, resolution));
    expect(await readJson(get(path))).toMatchObject({ resolution: null });
    expect(await readJson(get('/v1/inbox?settled=true'))).toMatchObject({ items: [] });
    expect(await readJson(post(`${path}/resolve`, resolution))).toMatchObject({
      resolution: { who: 'Grace (unverified local user)', action: 'reject' },
    });
    const { items } = (await readJson(get('/v1/outbox'))) as { items: { trigger: string; body: string }[] };
    expect(items.find(({ trigger }) => trigger.startsWith('resolve:'))?.body).toBe(comment);
    expect(await readJson(get('/v1/inbox'))).toMatchObject({ items: [] });
    expect(await readJson(get('/v1/inbox?open=false'))).toMatchObject({ items: [{ id: item['id'] }] });
    expect(await readJson(get('/v1/inbox?settled=true'))).toMatchObject({ items: [{ id: item['id'] }] });
    expect(await readJson(get(PATH))).toMatchObject({ issue: { state: 'blocked' } });
  });

  it('cannot be accepted without a result, in a preview or a decision', async () => {
    const { submit, startWork, waitForItem, post } = await openOrders();
    await submit({ print: 'done' });
    startWork();
    const { id } = await waitForItem();
    for (const action of ['preview', 'resolve']) {
      const response = await post(`/v1/inbox/${String(id)}/${action}`, { action: 'accept', why: 'x' });
      expect(await readJson(response)).toMatchObject({ status: 422, code: 'NOTHING_TO_ACCEPT' });
      const invalidResponse = await post(`/v1/inbox/${String(id)}/${action}`, {
        action: 'edit',
        why: 'x',
        result: { status: 'great' },
      });
      expect(await readJson(invalidResponse)).toMatchObject({ status: 400, code: 'INVALID_WORK_RESULT' });
      const unexpectedField = await post(`/v1/inbox/${String(id)}/${action}`, {
        action: 'reject',
        why: 'x',
        result: {},
      });
      expect(await readJson(unexpectedField)).toMatchObject({ status: 400, code: 'INVALID_RESOLUTION' });
    }
  });

  it('is resolved once; a later decision is refused, with the id of the active run', async () => {
    const { submit, startWork, waitForItem, post, get } = await openOrders();
    await submit({ print: 'done' });
    startWork();
    const { id } = await waitForItem();
    const path = `/v1/inbox/${String(id)}`;
    expect(await readJson(post(`${path}/preview`, { action: 'retry', why: 'again' }))).toMatchObject({
      action: 'retry',
    });
    expect(await readJson(post(`${path}/resolve`, { action: 'retry', why: 'again' }))).toMatchObject({
      resolution: { action: 'retry', who: 'local', new_run_id: expect.any(String) },
    });
    const { issue } = (await readJson(get(PATH))) as { issue: { active_run_id: string } };
    for (const action of ['preview', 'resolve']) {
      const lateResponse = await post(`${path}/${action}`, { action: 'reject', why: 'x' });
      expect(await readJson(lateResponse)).toMatchObject({
        status: 409,
        code: 'CONFLICT',
        active_run_id: issue.active_run_id,
      });
    }
  });

  it('is decided in the name of the token, which the request cannot override', async () => {
    const tokens = [{ name: 'ada', scopes: ['read', 'run', 'decide'], value: 'ada-value' }] as const;
    const authorization = { authorization: 'Bearer ada-value' };
    const { submit, startWork, waitForItem, post } = await openOrders({ settings: { tokens } });
    await submit({ print: 'done' }, authorization);
    startWork();
    const { id } = await waitForItem(authorization);
    const path = `/v1/inbox/${String(id)}/resolve`;
    const forgedResponse = await post(path, { action: 'reject', why: 'x', who: 'grace' }, authorization);
    expect(await readJson(forgedResponse)).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    expect(await readJson(post(path, { action: 'reject', why: 'x' }, authorization))).toMatchObject({
      resolution: { who: 'ada' },
    });
  });

  it('is not found under another id', async () => {
    const { get, post } = await openOrders();
    for (const id of ['gone', '%00', 'a'.repeat(3000)]) {
      const unknown = { status: 404, code: 'ITEM_NOT_FOUND' };
      expect(await readJson(get(`/v1/inbox/${id}`))).toMatchObject(unknown);
      expect(await readJson(post(`/v1/inbox/${id}/resolve`, { action: 'reject', why: 'x' }))).toMatchObject(unknown);
      expect(await readJson(post(`/v1/inbox/${id}/preview`, { action: 'reject', why: 'x' }))).toMatchObject(unknown);
    }
  });
});

it('orders, inbox items, runs and files name the host that executed the run', async () => {
  const { get, store } = await openServer();
  const { record } = await store.submitOrder({ ...sampleSubmission(), run: 'r1' });
  await store.claimRun({ worker: { ...sampleWorker('w1'), host: 'machine-7' }, leaseMs: 1000, now: NOW });
  await store.settleOrder(sampleSettlement(record, 'needs-human', { item: sampleItem(record, { id: 'i1' }) }));
  const ref = encodeURIComponent(record.order.issue_ref);
  expect(await readJson(get(`/v1/issues/${ref}`))).toMatchObject({
    orders: [{ run: 'r1', host: 'machine-7' }],
    inbox: [{ run: 'r1', host: 'machine-7' }],
  });
  expect(await readJson(get('/v1/inbox'))).toMatchObject({ items: [{ host: 'machine-7' }] });
  expect(await readJson(get('/v1/inbox/i1'))).toMatchObject({ host: 'machine-7' });
  expect(await readJson(get('/v1/runs/r1'))).toMatchObject({ host: 'machine-7' });
  expect(await readJson(get('/v1/runs/r1/files'))).toMatchObject({ evidence: [], host: 'machine-7' });
});
