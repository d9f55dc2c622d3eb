import { mkdir, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest';
import type { FcmpEvent, RaspEvent } from '../../events/index.js';
import type { Endpoint } from '../api/index.js';
import { ENDPOINTS } from '../api/endpoints.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { openServer } from '../fixtures/open-server.js';
import type { ServerChanges } from '../fixtures/open-server.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';
import { createClient } from './index.js';
import type { EventGap } from './index.js';

/** Creates a client for an in-process server without a port. */
async function openClient(changes: ServerChanges & { readonly token?: string } = {}) {
  const { token, ...rest } = changes;
  const server = await openServer(rest);
  onTestFinished(() => server.end());
  const fetchInProcess: typeof fetch = async (input, init) => server.app.request(input, init);
  const client = createClient({
    url: 'http://localhost/',
    fetch: fetchInProcess,
    ...(token === undefined ? {} : { token }),
  });
  return { ...server, client, fetchInProcess };
}

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a client', () => {
  it('has a method for every endpoint', async () => {
    const { client } = await openClient();
    // The POST variant is for other clients, and workers have their own.
    const names = Object.entries<Endpoint>(ENDPOINTS)
      .filter(([name, { scope }]) => name !== 'followRunByPost' && scope !== 'worker')
      .map(([name]) => name);
    expect(Object.keys(client).toSorted()).toEqual(names.toSorted());
  });

  it('returns the response of the endpoint', async () => {
    const { client, work } = await openClient();
    const parsed = await client.parse({ body: { text: '{"a":1,}' } });
    expect(parsed).toMatchObject({ status: 'success', value: { a: 1 } });
    const { id } = await client.startRun({ body: { engine: 'codex', prompt: 'x', workdir: work } });
    expect(await client.getRun({ id })).toMatchObject({ id, state: 'queued' });
    const { items } = await client.listRuns({ query: { limit: 1, state: 'queued' } });
    expectTypeOf(items[0]?.state).toEqualTypeOf<'queued' | 'running' | 'waiting' | 'ended' | undefined>();
    expect(items).toHaveLength(1);
    expect(await client.health()).toEqual({ status: 'ok' });
  });

  it('can repeat a run request whose response was lost', async () => {
    const { client, fetchInProcess, work } = await openClient();
    const loseResponse: typeof fetch = async (input, init) => {
      await fetchInProcess(input, init);
      throw new TypeError('the connection broke');
    };
    const body = { engine: 'codex', prompt: 'x', workdir: work, request_id: 'q1' } as const;
    const losingClient = createClient({ url: 'http://localhost/', fetch: loseResponse });
    await expect(losingClient.startRun({ body })).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' });
    const { id } = await client.startRun({ body });
    expect((await client.listRuns({})).items).toMatchObject([{ id }]);
    const htmlClient = client.startRun({ body: { ...body, prompt: 'y' } });
    await expect(htmlClient).rejects.toMatchObject({ code: 'REQUEST_ID_REUSED', status: 409 });
  });

  it('reads run files, completely or in part', async () => {
    const { client, store, data } = await openClient();
    await startScriptedRun(store, 'run-1');
    await mkdir(`${data}/runs/run-1/.audit`, { recursive: true });
    await writeFile(`${data}/runs/run-1/.audit/stdout.1.log`, 'hello, world');
    expect((await client.listRunFiles({ id: 'run-1' })).evidence).toEqual([{ name: 'stdout.1.log', size: 12 }]);
    const name = 'stdout.1.log';
    expect(await client.readEvidence({ id: 'run-1', name })).toEqual({ text: 'hello, world', totalBytes: 12 });
    expect(await client.readEvidence({ id: 'run-1', name, from: 7 })).toEqual({ text: 'world', totalBytes: 12 });
    expect(await client.readEvidence({ id: 'run-1', name, to: 5 })).toMatchObject({ text: 'hello' });
    for (const empty of [{ to: 0 }, { from: 5, to: 5 }, { from: 12, to: 12 }, { from: 7, to: 5 }]) {
      expect(await client.readEvidence({ id: 'run-1', name, ...empty })).toEqual({ text: '', totalBytes: 12 });
      expect(await client.readRaw({ id: 'run-1', attempt: 1, stream: 'stdout', ...empty })).toEqual(new Uint8Array());
    }
    const missing = client.readArtifact({ id: 'run-1', path: 'gone.txt', from: 1, to: 1 });
    await expect(missing).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('streams the audit export', async () => {
    const { client } = await openClient();
    const text = await new Response(await client.exportExecutions({ query: { format: 'csv' } })).text();
    expect(text).toMatch(/^at,issue_ref,.*\r\n$/);
    expect(await new Response(await client.exportExecutions()).text()).toBe(text);
  });

  it('encodes path parameters', async () => {
    const { client } = await openClient();
    await expect(client.getIssue({ ref: 'owner/repo#1?x' })).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' });
  });

  it('throws an error with the problem details when the server refuses a request', async () => {
    const { client } = await openClient();
    await expect(client.getRun({ id: 'unknown' })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      status: 404,
      problem: { request_id: expect.stringMatching(/./) as string },
    });
  });

  it('sends its token', async () => {
    const tokens = [{ name: 'ada', scopes: ['read'], value: 'secret-of-ada-0001' }] as const;
    const authorized = await openClient({ settings: { tokens }, token: 'secret-of-ada-0001' });
    expect(await authorized.client.getSession()).toMatchObject({ name: 'ada' });
    const unauthorized = await openClient({ settings: { tokens } });
    await expect(unauthorized.client.listRuns()).rejects.toMatchObject({ code: 'TOKEN_REFUSED', status: 401 });
  });

  it('reports a server that does not respond, or responds with something else', async () => {
    const unreachable = createClient({ url: 'http://127.0.0.1:9' });
    await expect(unreachable.health()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', status: null });
    const htmlClient = createClient({ fetch: async () => new Response('<html>', { status: 200 }) });
    await expect(htmlClient.health()).rejects.toMatchObject({ code: 'ANSWER_UNREADABLE' });
    const brokenClient = createClient({ fetch: async () => new Response('<html>', { status: 502 }) });
    await expect(brokenClient.health()).rejects.toMatchObject({ code: 'ANSWER_UNREADABLE', status: 502 });
  });

  it('reports a connection that breaks while the response arrives', async () => {
    const { fetchInProcess } = await openClient();
    const client = createClient({ fetch: async (input, init) => cutAfter(await fetchInProcess(input, init), 5) });
    await expect(client.health()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', status: 200 });
    await expect(client.metrics()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', status: 200 });
  });

  it('rejects an aborted call', async () => {
    const { client, fetchInProcess } = await openClient();
    const controller = new AbortController();
    const lateClient = createClient({
      fetch: async (input, init) => {
        const response = await fetchInProcess(input, init);
        controller.abort(new Error('too late'));
        return cutAfter(response, 5);
      },
    });
    await expect(lateClient.health({ signal: controller.signal })).rejects.toThrow('too late');
    const abortedSignal = AbortSignal.abort(new Error('enough'));
    const slowClient = createClient({
      fetch: async (_, init) => {
        init?.signal?.throwIfAborted();
        return new Response();
      },
    });
    await expect(slowClient.health({ signal: abortedSignal })).rejects.toThrow('enough');
    await expect(collect(client.followRun({ id: 'x', signal: abortedSignal }))).rejects.toThrow('enough');
  });
});

describe('following a run', () => {
  it('yields its events as they happen, until the end', async () => {
    const { store, url } = await openListeningServer();
    const run = await startScriptedRun(store, 'run-1');
    const client = createClient({ url });
    const seen: FcmpEvent[] = [];
    await run.publish(4);
    for await (const event of client.followRun({ id: 'run-1' })) {
      seen.push(event);
      if (seen.length === 1) {
        await run.publish();
        await run.end();
      }
    }
    expect(seen).toEqual(run.events.flatMap(({ protocol, event }) => (protocol === 'fcmp' ? [event] : [])));
  });

  it('resumes after a position', async () => {
    const { store, client } = await openClient();
    const run = await startScriptedRun(store, 'run-1');
    await run.publish();
    await run.end();
    let position = '';
    for await (const event of client.followRun({
      id: 'run-1',
      onPosition: (newPosition) => (position = newPosition),
    })) {
      if (event.seq === 2) break;
    }
    expect(position).toBe('2');
    const remainingEvents = await collect(client.followRun({ id: 'run-1', after: position }));
    expect(remainingEvents[0]?.seq).toBe(3);
    const rasp = await collect(client.followRun({ id: 'run-1', protocol: 'rasp', after: '1:2' }));
    expectTypeOf(rasp).toEqualTypeOf<RaspEvent[]>();
    expect(rasp[0]).toMatchObject({ protocol_version: 'rasp/1.1', seq: 3 });
  });

  it('yields every event once, wherever its connections break', async () => {
    const { store, fetchInProcess } = await openClient();
    const run = await startScriptedRun(store, 'run-1', 5);
    await run.publish();
    await run.end();
    const protocols = fc.constantFrom(...(['fcmp', 'rasp', 'agui', 'acp', 'fcmp,rasp'] as const));
    await fc.assert(
      fc.asyncProperty(protocols, fc.array(fc.nat(3000), { maxLength: 3 }), async (protocol, cuts) => {
        const stableClient = createClient({ fetch: fetchInProcess });
        const remainingCuts = [...cuts];
        const unstableClient = createClient({
          fetch: async (input, init) => cutAfter(await fetchInProcess(input, init), remainingCuts.shift()),
        });
        const all = await collect(stableClient.followRun({ id: 'run-1', protocol }));
        const received = await collect(unstableClient.followRun({ id: 'run-1', protocol }));
        // Each log is in order; how they are interleaved depends on where the connections broke.
        for (const isRasp of [true, false]) {
          const isFromLog = (event: object): boolean => 'attempt_number' in event === isRasp;
          expect(received.filter(isFromLog)).toEqual(all.filter(isFromLog));
        }
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  it('waits for a server that restarts, and fails if it stays down', async () => {
    const { store, fetchInProcess } = await openClient();
    const run = await startScriptedRun(store, 'run-1');
    await run.publish();
    await run.end();
    let tries = 0;
    const client = createClient({
      fetch: async (input, init) => {
        tries += 1;
        if (tries === 1) throw new TypeError('fetch failed');
        if (tries === 2) return new Response('{}', { status: 503 });
        return fetchInProcess(input, init);
      },
    });
    const states: string[] = [];
    const onConnection = (state: string): void => void states.push(state);
    expect(await collect(client.followRun({ id: 'run-1', onConnection }))).not.toHaveLength(0);
    expect(tries).toBe(3);
    expect(states).toEqual(['broken', 'broken', 'open']);
    await expect(collect(client.followRun({ id: 'unknown' }))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it('fails after the number of attempts stated in its error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let tries = 0;
    const client = createClient({
      async fetch() {
        tries += 1;
        throw new TypeError('fetch failed');
      },
    });
    const failure = collect(client.followRun({ id: 'run-1' })).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(20 * 10_000);
    expect(await failure).toMatchObject({
      code: 'STREAM_LOST',
      message: expect.stringContaining('failed 20 times in a row') as unknown,
    });
    expect(tries).toBe(20);
  });

  it('waits for the events of a quiet run, no matter how often a proxy closes its connections', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let connections = 0;
    const client = createClient({
      async fetch() {
        connections += 1;
        if (connections > 25) return new Response(null, { status: 204 });
        return new Response(
          new ReadableStream<Uint8Array>({
            start(controller) {
              setTimeout(() => controller.enqueue(Buffer.from(':\n\n')), 15_000);
              setTimeout(() => controller.close(), 30_000);
            },
          }),
        );
      },
    });
    const events = collect(client.followRun({ id: 'run-1' }));
    await vi.advanceTimersByTimeAsync(25 * 31_000);
    expect(await events).toEqual([]);
    expect(connections).toBe(26);
  });

  it('reports a gap', async () => {
    const { store, client } = await openClient();
    const run = await startScriptedRun(store, 'run-1');
    await store.append(
      'run-1',
      run.events.filter(({ protocol, event }) => protocol === 'fcmp' && event.seq > 3),
    );
    await run.end();
    await expect(collect(client.followRun({ id: 'run-1' }))).rejects.toMatchObject({ code: 'EVENTS_MISSING' });
    const gaps: EventGap[] = [];
    const remainingEvents = await collect(client.followRun({ id: 'run-1', onGap: (gap) => void gaps.push(gap) }));
    expect(gaps).toEqual([{ from: '1', to: '3' }]);
    expect(remainingEvents[0]?.seq).toBe(4);
  });
});

/** Fails a body after this many bytes. */
function cutAfter(response: Response, bytes: number | undefined): Response {
  if (bytes === undefined || response.body === null) return response;
  let remainingBytes = bytes;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, remainingBytes));
      remainingBytes -= chunk.length;
      if (remainingBytes <= 0) controller.error(new TypeError('terminated'));
    },
  });
  return new Response(response.body.pipeThrough(cut), { status: response.status, headers: response.headers });
}
