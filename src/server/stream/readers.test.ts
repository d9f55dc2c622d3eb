import { connect } from 'node:net';
import { EventSource } from 'eventsource';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openStore } from '../../store/open-store.js';
import { readSse } from '../client/follow-run.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { listIds, readStream } from '../fixtures/read-stream.js';
import { DEFAULT_LIMITS } from '../server-settings.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';
import type { ScriptedRun } from '../fixtures/scripted-run.js';

const listNumbers = ({ events }: ScriptedRun): string[] =>
  events.flatMap(({ protocol, event }) => (protocol === 'fcmp' ? [String(event.seq)] : []));

describe("the browser's EventSource", () => {
  it('follows a run to its end', async () => {
    const { store, url } = await openListeningServer();
    const run = await startScriptedRun(store, 'run-1');
    await run.publish(4);
    const events: string[] = [];
    const source = new EventSource(`${url}/v1/runs/run-1/events`);
    onTestFinished(() => source.close());
    source.addEventListener('message', ({ lastEventId }) => void events.push(lastEventId));
    const end = new Promise<string>((resolve) => {
      source.addEventListener('end', ({ data }) => resolve(String(data)));
    });
    await vi.waitFor(() => expect(events.length).toBeGreaterThan(0), { timeout: 15_000 });
    await run.publish(2);
    await run.publish();
    await run.end();
    expect(await end).toBe('{"status":"success"}');
    expect(events).toEqual(listNumbers(run));
  });

  it('reconnects if its connection breaks, and stops when it has everything', async () => {
    const { store, url } = await openListeningServer();
    const run = await startScriptedRun(store, 'run-1');
    await run.publish(4);
    let connections = 0;
    const events: string[] = [];
    const source = new EventSource(`${url}/v1/runs/run-1/events`, {
      fetch: async (input, init) => {
        connections += 1;
        const response = await fetch(input, init);
        return connections === 1 ? truncateResponse(response) : response;
      },
    });
    onTestFinished(() => source.close());
    source.addEventListener('message', ({ lastEventId }) => void events.push(lastEventId));
    await vi.waitFor(() => expect(connections).toBe(2), 10_000);
    await run.publish();
    await run.end();
    await vi.waitFor(() => expect(source.readyState).toBe(EventSource.CLOSED), 10_000);
    expect(events).toEqual(listNumbers(run));
    expect(connections).toBe(3);
  }, 30_000);

  it('also receives gap and end events in AG-UI streams', async () => {
    const { store, url } = await openListeningServer();
    const run = await startScriptedRun(store, 'run-1');
    await run.end();
    const source = new EventSource(`${url}/v1/runs/run-1/events?protocol=agui`);
    onTestFinished(() => source.close());
    const notices = await Promise.all(
      ['gap', 'end'].map(
        async (name) =>
          new Promise((resolve) => {
            source.addEventListener(name, ({ data }: { data: unknown }) => resolve(data));
          }),
      ),
    );
    expect(notices).toEqual(['{"from":"1","to":null}', '{"status":"success"}']);
  });
});

describe('a server', () => {
  it('streams events that another process writes', async () => {
    const folder = await makeFolder({});
    const { store, url } = await openListeningServer({ database: `sqlite:${folder}/shared.db` });
    const run = await startScriptedRun(store, 'run-1');
    const otherStore = await openStore(`sqlite:${folder}/shared.db`);
    onTestFinished(async () => otherStore.close());
    const events = readStream(fetch(`${url}/v1/runs/run-1/events`));
    for (const event of run.events) await otherStore.append('run-1', [event]);
    await run.end();
    expect(listIds(await events)).toEqual(listNumbers(run));
  });
});

describe('a connection', () => {
  it('has the common response headers', async () => {
    const server = await openListeningServer({ settings: { origins: ['https://elsewhere.example'] } });
    const { store, url } = server;
    await startScriptedRun(store, 'run-1');
    const response = await fetch(`${url}/v1/runs/run-1/events`, { headers: { origin: 'https://elsewhere.example' } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/./) as string,
      'access-control-allow-origin': 'https://elsewhere.example',
    });
    server.end();
    expect(await response.text()).toBe('retry: 1000\n\n');
  });

  it('loses nothing while its reader pauses, and sends a lag event', async () => {
    const { store, url } = await openListeningServer();
    const run = await startScriptedRun(store, 'run-1');
    await run.publish();
    const { hostname, port } = new URL(url);
    const reader = connect(Number(port), hostname);
    onTestFinished(() => void reader.destroy());
    reader.setEncoding('latin1');
    reader.write(`GET /v1/runs/run-1/events HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    let text = '';
    reader.on('data', (piece: string) => (text += piece));
    await vi.waitFor(() => expect(text).toContain('conversation.completed'), { timeout: 15_000 });
    reader.pause();
    const before = listNumbers(run);
    const [sample] = run.events.flatMap((emitted) => (emitted.protocol === 'fcmp' ? [emitted.event] : []));
    // More than the system's buffers hold.
    const count = 100;
    const steady = readUntil(await fetch(`${url}/v1/runs/run-1/events`), String(before.length + count));
    for (let seq = before.length + 1; seq <= before.length + count; seq++) {
      const event = { ...sample, seq, data: { text: 'x'.repeat(200_000) } } as never;
      await store.append('run-1', [{ protocol: 'fcmp', event }]);
    }
    await steady;
    reader.resume();
    await run.end();
    await new Promise((resolve) => {
      reader.once('close', resolve);
    });
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: before.length + count }, (_, index) => index + 1));
    expect(text).toContain('event: lag\n');
    expect(text.trimEnd().endsWith('event: end\ndata: {"status":"success"}')).toBe(true);
  }, 30_000);

  it('sends only the headers for a HEAD request', async () => {
    const { store, url } = await openListeningServer();
    await startScriptedRun(store, 'run-1');
    const response = await fetch(`${url}/v1/runs/run-1/events`, { method: 'HEAD' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('');
  });

  it('releases its slot when its reader disconnects', async () => {
    const { store, url } = await openListeningServer({ settings: { limits: { ...DEFAULT_LIMITS, streamsAtOnce: 1 } } });
    await startScriptedRun(store, 'run-1');
    const { hostname, port } = new URL(url);
    const first = connect(Number(port), hostname);
    first.write(`GET /v1/runs/run-1/events HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    await new Promise((resolve) => {
      first.once('data', resolve);
    });
    expect((await fetch(`${url}/v1/runs/run-1/events`)).status).toBe(503);
    first.destroy();
    await vi.waitFor(async () => {
      const response = await fetch(`${url}/v1/runs/run-1/events`);
      await response.body?.cancel();
      expect(response.status).toBe(200);
    }, 10_000);
  });
});

/** A response whose connection breaks after the first bytes. */
async function truncateResponse({ body, headers }: Response): Promise<Response> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new Response(value ?? null, { headers });
}

/** Reads a stream up to an id. */
async function readUntil({ body }: Response, last: string): Promise<void> {
  for await (const { id } of readSse(body ?? new ReadableStream())) if (id === last) return;
}
