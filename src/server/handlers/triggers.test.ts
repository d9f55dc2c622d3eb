import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openServer } from '../fixtures/open-server.js';

const SECRET = 'a-secret-of-the-webhook';

async function openWith(changes: object = {}) {
  const server = await openServer();
  const { work } = server;
  const trigger = {
    type: 'github',
    secret: SECRET,
    label: 'agent',
    repositories: { 'acme/shop': { repo_dir: work } },
    request: { role: 'backend', worker: 'scripted', instructions: 'Issue {ref}: {title}\n{body}' },
    ...changes,
  } as const;
  const { post, store } = await openServer({ settings: { roots: [work], triggers: { issues: trigger } } });
  return { post, store };
}

const PAYLOAD = {
  action: 'labeled',
  label: { name: 'agent' },
  issue: {
    number: 12,
    title: 'Broken {body}',
    body: 'It fails.',
    html_url: 'https://github.example/acme/shop/issues/12',
  },
  repository: { full_name: 'acme/shop' },
  sender: { login: 'ada' },
};

function github(body: string, { secret = SECRET, event = 'issues', delivery = '72d3162e-cc78-11e3' } = {}) {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return { 'x-github-event': event, 'x-github-delivery': delivery, 'x-hub-signature-256': signature };
}

describe('a GitHub webhook', () => {
  it('submits the configured order, only once even if it is delivered repeatedly', async () => {
    const { post, store } = await openWith();
    const body = JSON.stringify(PAYLOAD);
    const first = (await (await post('/v1/triggers/issues', body, github(body))).json()) as { run_id: string };
    expect(first).toMatchObject({ status: 'submitted', issue_ref: 'acme/shop#12', repeated: false });
    expect(await (await post('/v1/triggers/issues', body, github(body))).json()).toMatchObject({
      run_id: first.run_id,
      repeated: true,
    });
    const changedBody = JSON.stringify({ ...PAYLOAD, issue: { ...PAYLOAD.issue, title: 'Another' } });
    expect(await (await post('/v1/triggers/issues', changedBody, github(changedBody))).json()).toEqual({
      status: 'ignored',
      reason: 'repeated',
    });
    const { items } = await store.listOrders({});
    expect(items.map(({ order }) => order)).toMatchObject([
      { worker: 'scripted', instructions: 'Issue acme/shop#12: Broken {body}\nIt fails.' },
    ]);
    expect(await store.findRequest(items[0]?.run ?? '')).toMatchObject({ caller: 'trigger:issues' });
    const redelivery = github(body, { delivery: 'another-delivery' });
    expect(await (await post('/v1/triggers/issues', body, redelivery)).json()).toMatchObject({ repeated: false });
  });

  it('can be as large as the events of real repositories', async () => {
    const { post } = await openWith();
    const large = (length: number) =>
      JSON.stringify({ ...PAYLOAD, issue: { ...PAYLOAD.issue, body: 'x'.repeat(length) } });
    const body = large(200_000);
    expect(await (await post('/v1/triggers/issues', body, github(body))).json()).toMatchObject({ status: 'submitted' });
    const tooLarge = large(1024 * 1024);
    expect(await (await post('/v1/triggers/issues', tooLarge, github(tooLarge))).json()).toMatchObject({
      code: 'BODY_TOO_LARGE',
      detail: 'The body is larger than 1048576 bytes. Send a smaller body.',
    });
  });

  it.each([
    ['a wrong secret', 'issues', { secret: 'wrong' }],
    ['the name of an unknown trigger', 'other', {}],
    ['the name of an inherited property', 'constructor', {}],
  ])('is refused with %s', async (_, name, secret) => {
    const { post, store } = await openWith();
    const body = JSON.stringify(PAYLOAD);
    const response = await post(`/v1/triggers/${name}`, body, github(body, secret));
    expect(await response.json()).toMatchObject({ status: 401, code: 'SIGNATURE_REFUSED' });
    expect((await store.listOrders({})).items).toEqual([]);
  });

  it('is refused without a secret in the environment, and without a signature', async () => {
    const body = JSON.stringify(PAYLOAD);
    const withoutSecret = await openWith({ secret: undefined });
    expect((await withoutSecret.post('/v1/triggers/issues', body, github(body, { secret: '' }))).status).toBe(401);
    const { post } = await openWith();
    expect((await post('/v1/triggers/issues', body)).status).toBe(401);
  });

  it.each([
    ['another label', { label: { name: 'bug' } }],
    ['another action', { action: 'opened' }],
    ['another repository', { repository: { full_name: 'evil/shop' } }],
    ['missing fields', { issue: null, repository: 7, label: [] }],
  ])('is ignored with %s', async (_, change) => {
    const { post, store } = await openWith();
    const body = JSON.stringify({ ...PAYLOAD, ...change });
    expect(await (await post('/v1/triggers/issues', body, github(body))).json()).toMatchObject({ status: 'ignored' });
    expect((await store.listOrders({})).items).toEqual([]);
  });

  it('is ignored from a user who is not allowed to start work', async () => {
    const { post } = await openWith({ senders: ['grace'] });
    const body = JSON.stringify(PAYLOAD);
    expect(await (await post('/v1/triggers/issues', body, github(body))).json()).toMatchObject({
      status: 'ignored',
      reason: 'the sender is not allowed to start work',
    });
  });

  it('is rate limited', async () => {
    const { post } = await openWith({ per_minute: 1 });
    const body = JSON.stringify(PAYLOAD);
    await post('/v1/triggers/issues', body, github(body));
    expect(await (await post('/v1/triggers/issues', body, github(body))).json()).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
    });
  });
});

describe('a GitLab webhook', () => {
  const payload = {
    object_kind: 'issue',
    object_attributes: { iid: 3, title: 'T', description: 'D', action: 'update', url: 'https://gitlab.example/3' },
    project: { path_with_namespace: 'acme/shop' },
    labels: [{ title: 'agent' }],
    changes: { labels: { previous: [], current: [{ title: 'agent' }] } },
    user: { username: 'ada' },
  };

  it('submits an order when the label is added', async () => {
    const { post } = await openWith({ type: 'gitlab' });
    const headers = { 'x-gitlab-token': SECRET, 'idempotency-key': 'delivery-1' };
    expect(await (await post('/v1/triggers/issues', payload, headers)).json()).toMatchObject({
      status: 'submitted',
      issue_ref: 'acme/shop#3',
    });
    const withUnchangedLabels = {
      ...payload,
      changes: { labels: { previous: payload.labels, current: payload.labels } },
    };
    expect(await (await post('/v1/triggers/issues', withUnchangedLabels, headers)).json()).toMatchObject({
      status: 'ignored',
    });
    expect((await post('/v1/triggers/issues', payload, { 'x-gitlab-token': 'wrong' })).status).toBe(401);
  });
});
