import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WaitingEntry } from '../api/index.js';
import type { FcmpEvent } from '../../events/index.js';
import { createSignedPost, isSignedWebhook } from '../../orders/sinks/webhook-sink.js';
import { sampleMessage, sampleSettlement, sampleSubmission } from '../../store/contract/fixtures/order-samples.js';
import { openStore } from '../../store/open-store.js';
import { openServer, readJson } from '../fixtures/open-server.js';
import { createRound, notify, toNotification, createQuestionReader, updateQuestions } from './waiting-list.js';
import type { OpenQuestion } from './waiting-list.js';

const NOW_ISO = '2026-11-15T06:30:00.000Z';
const NOW = Date.parse(NOW_ISO);

function createEvent(seq: number, type: FcmpEvent['type'], data: object, attempt = 1): FcmpEvent {
  const event = {
    protocol_version: '1.0',
    run_id: 'r1',
    seq,
    ts: NOW_ISO,
    engine: 'codex',
    type,
    data,
    meta: { attempt },
    raw_ref: null,
  };
  return event as unknown as FcmpEvent;
}

/** An event with a question; each later question is asked a millisecond later. */
function ask(seq: number, type: OpenQuestion['type'], data: object): OpenQuestion {
  return { ...createEvent(seq, type, data), ts: new Date(NOW + seq).toISOString() } as OpenQuestion;
}

const QUESTION = { interaction_id: 'q1', prompt: 'Green or blue?', options: ['green', 'blue'] };
const PERMISSION = {
  interaction_id: 'px_1_1',
  tool_call_id: 't1',
  tool: 'bash',
  input: { command: 'rm -r dist' },
  options: [{ id: 'yes', label: 'Allow', kind: 'allow_once' }],
};
const createOutputEvent = (seq: number, attempt = 1) => createEvent(seq, 'raw.stdout', { text: 'x' }, attempt);

describe('open questions', () => {
  it('are questions that no later event answers', () => {
    const question = ask(1, 'user.input.required', QUESTION);
    expect(updateQuestions([], [question])).toEqual([question]);
    expect(updateQuestions([question], [createOutputEvent(2)])).toEqual([]);
  });

  it('are all unanswered permission requests of the attempt', () => {
    const first = ask(1, 'permission.required', PERMISSION);
    const second = ask(2, 'permission.required', { ...PERMISSION, interaction_id: 'px_1_2' });
    const reply = createEvent(4, 'permission.replied', { interaction_id: 'px_1_1', decision: 'allow' });
    expect(updateQuestions([], [first, second, createOutputEvent(3)])).toEqual([first, second]);
    expect(updateQuestions([first, second], [reply])).toEqual([second]);
    expect(updateQuestions([second], [createOutputEvent(5, 2)])).toEqual([]);
  });

  it('are found at the end of a long log, and after that only new events are read', async () => {
    const store = await openStore('memory:');
    onTestFinished(async () => store.close());
    const events = Array.from({ length: 5000 }, (_, index) => createOutputEvent(index + 1));
    const question = ask(5001, 'user.input.required', QUESTION);
    await store.append(
      'r1',
      [...events, question].map((event) => ({ protocol: 'fcmp', event })),
    );
    let count = 0;
    const reader = createQuestionReader({
      async read(query) {
        const page = await store.read(query);
        count += page.length;
        return page;
      },
    });
    expect(await reader.read('r1')).toEqual([question]);
    expect(count).toBeLessThan(1500);
    count = 0;
    expect(await reader.read('r1')).toEqual([question]);
    expect(count).toBe(0);
    await store.append('r1', [{ protocol: 'fcmp', event: createOutputEvent(5002) }]);
    expect(await reader.read('r1')).toEqual([]);
    expect(count).toBe(1);
  });
});

/** A store with one waiting item of each kind. */
async function addWaitingItems(store: Awaited<ReturnType<typeof openServer>>['store']): Promise<void> {
  const spec = { engine: 'codex', prompt: 'Paint the shed.', workdir: '/w' } as const;
  for (const [id, event] of [
    ['r1', ask(1, 'user.input.required', QUESTION)],
    ['r2', ask(2, 'permission.required', PERMISSION)],
  ] as const) {
    await store.createRun({ id, spec, state: 'running', workerId: 'w1', leaseMs: 60_000, now: NOW });
    await store.append(id, [{ protocol: 'fcmp', event }]);
    await store.setWaiting({ id, workerId: 'w1', now: NOW });
  }
  const { record } = await store.submitOrder(sampleSubmission());
  const message = sampleMessage(record, { sink: 'hook' });
  await store.settleOrder(sampleSettlement(record, 'advance', { outbox: [message] }));
  await store.claimOutbox({ workerId: 'w1', leaseMs: 1000, now: NOW, limit: 1 });
  await store.markFailed({ id: message.id, workerId: 'w1', error: 'hook answered 401', retryAt: null });
}

it('GET /v1/waiting lists questions, permission requests and broken sinks with their text', async () => {
  const { get, store } = await openServer({ clock: () => NOW });
  await addWaitingItems(store);
  expect(await readJson(get('/v1/waiting'))).toMatchObject({
    items: [
      {
        kind: 'question',
        id: 'r1/q1',
        run: 'r1',
        text: 'Green or blue?',
        options: ['green', 'blue'],
        task: 'Paint the shed.',
      },
      {
        kind: 'permission',
        id: 'r2/px_1_1',
        seq: 2,
        text: 'Allow bash? {"command":"rm -r dist"}',
        command: 'rm -r dist',
        changes: [],
        held_until: new Date(NOW + 2 + 60_000).toISOString(),
        expires_at: new Date(NOW + 2 + 24 * 3_600_000).toISOString(),
        options: [{ id: 'yes' }],
      },
      { kind: 'sink', sink: 'hook', state: 'broken', dead: 1, text: 'hook answered 401' },
    ],
    complete: true,
  });
});

it('GET /v1/waiting counts the lines that a tool would change, and says when the wait ends', async () => {
  const { get, store } = await openServer({ clock: () => NOW });
  const spec = { engine: 'codex', prompt: 'Add.', workdir: '/w', limits: { wait_s: 30 } } as const;
  await store.createRun({ id: 'r1', spec, state: 'running', workerId: 'w1', leaseMs: 60_000, now: NOW });
  const diff = [
    { path: 'a.ts', old_text: 'one\ntwo\n', new_text: 'one\n2\n3\n' },
    { path: 'b.ts', new_text: 'x'.repeat(300_000) },
  ];
  const event = ask(1, 'permission.required', { ...PERMISSION, input: {}, diff });
  await store.append('r1', [{ protocol: 'fcmp', event }]);
  await store.setWaiting({ id: 'r1', workerId: 'w1', now: NOW });
  expect(await readJson(get('/v1/waiting'))).toMatchObject({
    items: [
      {
        command: null,
        changes: [
          { path: 'a.ts', added: 2, removed: 1 },
          { path: 'b.ts', added: null, removed: null },
        ],
        held_until: new Date(NOW + 1 + 30_000).toISOString(),
        expires_at: new Date(NOW + 1 + 30_000).toISOString(),
      },
    ],
  });
});

const entry = (id: string): WaitingEntry => ({
  kind: 'result',
  id,
  at: NOW_ISO,
  text: 'No result.',
  run: 'r1',
  run_id: '2026-11-15-dev-0001',
  issue_ref: 'acme/shop#1',
  code: 'output_missing',
  next: '',
  acceptable: false,
});

describe('notifications', () => {
  it('are sent once for each entry, and again if sending failed', async () => {
    const sentIds: string[] = [];
    let isDown = true;
    let now = NOW;
    const round = createRound(
      async ({ id }) => {
        if (id === 'b' && isDown) throw new Error('down');
        sentIds.push(id);
      },
      () => (now += 3000),
    );
    const list = { items: [entry('a'), entry('b')], complete: true };
    expect(await round(list)).toHaveLength(1);
    isDown = false;
    expect(await round(list)).toEqual([]);
    await round(list);
    expect(sentIds).toEqual(['a', 'b']);
    await round({ items: [], complete: true });
    await round({ items: [entry('a')], complete: true });
    expect(sentIds).toEqual(['a', 'b', 'a']);
  });

  it('are bounded: a few per round, new entries first, and dropped after too many failures', async () => {
    const attemptedIds: string[] = [];
    let now = NOW;
    const round = createRound(
      async ({ id }) => {
        attemptedIds.push(id);
        throw new Error('down');
      },
      () => (now += 3_600_000),
    );
    const items = Array.from({ length: 15 }, (_, index) => entry(`e${index}`));
    await round({ items, complete: true });
    expect(attemptedIds).toHaveLength(10);
    await round({ items, complete: true });
    expect(attemptedIds.slice(10, 15)).toEqual(items.slice(10).map(({ id }) => id));
    for (let turn = 0; turn < 60; turn += 1) await round({ items, complete: true });
    expect(attemptedIds).toHaveLength(15 * 20);
  });

  it('are still sent if the receiver was unreachable for hours', async () => {
    let now = NOW;
    const sentTimes: number[] = [];
    const round = createRound(
      async () => {
        if (now < NOW + 4 * 3_600_000) throw new Error('down');
        sentTimes.push(now);
      },
      () => now,
    );
    for (; now < NOW + 6 * 3_600_000; now += 3000) await round({ items: [entry('a')], complete: true });
    expect(sentTimes).toHaveLength(1);
  });

  it('are sent concurrently, so a slow receiver does not delay the others', async () => {
    let waiting = 0;
    let resolve = (): void => undefined;
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    const round = createRound(async () => {
      waiting += 1;
      if (waiting === 3) resolve();
      await promise;
    });
    expect(await round({ items: [entry('a'), entry('b'), entry('c')], complete: true })).toEqual([]);
  });

  it('name what is waiting and where to answer it', () => {
    expect(toNotification(entry('i1'), 'https://sluice.example.org/')).toEqual({
      event: 'waiting',
      id: 'i1',
      kind: 'result',
      at: NOW_ISO,
      text: 'No result.',
      issue_ref: 'acme/shop#1',
      url: 'https://sluice.example.org/inbox/i1',
    });
  });

  it('are signed when they reach the webhook', async () => {
    const { store, context } = await openServer({ clock: () => NOW });
    await addWaitingItems(store);
    const secret = 'webhook signing secret';
    const received: { readonly body: string; readonly isSigned: boolean; readonly key: unknown }[] = [];
    const shutdown = new AbortController();
    const webhookServer = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const timestamp = String(request.headers['sluice-timestamp']);
        const signature = String(request.headers['sluice-signature']);
        const key = request.headers['idempotency-key'];
        received.push({ body, isSigned: isSignedWebhook({ secret, body, timestamp, signature }), key });
        response.end();
        if (received.length === 3) shutdown.abort();
      });
    });
    await new Promise<void>((resolve) => {
      webhookServer.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void webhookServer.close());
    const url = `http://127.0.0.1:${(webhookServer.address() as AddressInfo).port}/`;
    const post = createSignedPost({ url, secret, allowPrivateAddresses: true });
    const { logger } = context;
    await notify({ post, store, logger, shutdownSignal: shutdown.signal, consoleUrl: 'http://console' });
    expect(received.map(({ isSigned }) => isSigned)).toEqual([true, true, true]);
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      kind: 'question',
      text: 'Green or blue?',
      url: 'http://console/inbox?entry=r1%2Fq1',
      idempotency_key: `${await store.readInstallation()} waiting r1%2Fq1`,
    });
    expect(received.map(({ key }) => key)).toEqual(
      received.map(({ body }) => (JSON.parse(body) as { idempotency_key: string }).idempotency_key),
    );
  });
});
