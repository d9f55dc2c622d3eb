import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { openStore } from '../../store/open-store.js';
import type { Store } from '../../store/store.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';
import { keepOpen, type ReaderConnection } from './reader-connection.js';
import { createStreamHub } from './stream-hub.js';
import { parsePosition } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';

/** A connection whose reader accepts bytes when the test allows it. */
function createManualClient() {
  let text = '';
  let waiting: Uint8Array[] = [];
  let closings: (() => void)[] = [];
  let drains: (() => void)[] = [];
  let isClosed = false;
  let isEnding = false;
  let isOpen = true;

  function close(): void {
    isClosed = true;
    for (const resolve of drains) resolve();
    for (const callback of closings) callback();
    drains = [];
    closings = [];
  }
  function flush(): void {
    if (!isOpen || isClosed) return;
    for (const bytes of waiting) text += Buffer.from(bytes).toString();
    waiting = [];
    for (const resolve of drains) resolve();
    drains = [];
    if (isEnding) close();
  }
  const connection: ReaderConnection = {
    get unsent() {
      return waiting.reduce((sum, { length }) => sum + length, 0);
    },
    get isClosed() {
      return isClosed || isEnding;
    },
    write(bytes) {
      waiting.push(bytes);
      flush();
    },
    drained: async () =>
      new Promise((resolve) => {
        drains.push(resolve);
        flush();
      }),
    onClose: (callback) => void closings.push(callback),
    end() {
      isEnding = true;
      flush();
    },
    destroy: close,
  };
  return {
    connection,
    read: () => text,
    open() {
      isOpen = true;
      flush();
    },
    shut() {
      isOpen = false;
    },
  };
}

function openHub(store: Store) {
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);
  const hub = createStreamHub({ store, log: store, logger: silentLogger });
  return {
    end: () => shutdown.abort(),
    async follow(runId: string, protocol: StreamProtocol = 'fcmp', after?: string) {
      const run = await store.findRun(runId);
      if (run === undefined) throw new Error('no run');
      const start = await hub.prepare({ run, protocol, after: parsePosition(protocol, after) });
      const client = createManualClient();
      keepOpen(client.connection, shutdown.signal);
      start?.(client.connection);
      return client;
    },
  };
}

const listEventIds = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
const rangeAfter = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index + 1);

it('sends every reader every event once and in order, no matter when it connects and how slow it is', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 20 }), pause: fc.nat(12) }),
    fc.record({ kind: fc.constant('join' as const), back: fc.oneof(fc.nat(5), fc.nat(200)) }),
    fc.record({ kind: fc.constantFrom('shut' as const, 'open' as const), reader: fc.nat(9) }),
    fc.record({ kind: fc.constant('leave' as const), reader: fc.nat(9) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 15, maxLength: 40 }),
      fc.constantFrom('fcmp' as const, 'agui' as const),
      async (steps, protocol) => {
        const store = await openStore('memory:');
        const run = await startScriptedRun(store, 'run-1', 200);
        const hub = openHub(store);
        const readers: { client: Awaited<ReturnType<typeof hub.follow>>; from: number; isDisconnected: boolean }[] = [];
        let published = 0;
        const all = run.events.filter((emitted) => emitted.protocol === 'fcmp').length;
        for (const one of [{ kind: 'join', back: 0 } as const, ...steps]) {
          switch (one.kind) {
            case 'publish':
              await run.publish(one.count);
              published = (await store.read({ runId: 'run-1', protocol: 'fcmp', limit: 10_000 })).length;
              await wait(one.pause);
              break;
            case 'join': {
              const from = Math.max(0, published - one.back);
              const client = await hub.follow('run-1', protocol, from === 0 ? undefined : String(from));
              readers.push({ client, from, isDisconnected: false });
              break;
            }
            case 'shut':
            case 'open':
              readers[one.reader]?.client[one.kind]();
              break;
            case 'leave': {
              const reader = readers[one.reader];
              if (reader !== undefined) reader.isDisconnected = true;
              reader?.client.connection.destroy();
              break;
            }
          }
        }
        await run.publish();
        await run.end();
        for (const { client } of readers) client.open();
        const open = readers.filter(({ isDisconnected }) => !isDisconnected);
        await vi.waitFor(() => {
          for (const { client } of open) expect(client.read()).toMatch(/event: end[\r\n]/);
        }, 10_000);
        for (const { client, from } of open) expect(listEventIds(client.read())).toEqual(rangeAfter(from, all));
        for (const { client, from } of readers) {
          const seen = listEventIds(client.read());
          expect(seen).toEqual(rangeAfter(from, from + seen.length));
        }
        await store.close();
      },
    ),
    { numRuns: 15 },
  );
}, 60_000);

it('notifies a reader that fell behind, buffers little for it, and reads the rest from the store', async () => {
  const store = await openStore('memory:');
  const run = await startScriptedRun(store, 'run-1', 1);
  const hub = openHub(store);
  const slow = await hub.follow('run-1');
  const steady = await hub.follow('run-1');
  slow.shut();
  const [sample] = run.events.flatMap((emitted) => (emitted.protocol === 'fcmp' ? [emitted.event] : []));
  if (sample === undefined) throw new Error('no event');
  const text = 'x'.repeat(50_000);
  for (let seq = 1; seq <= 40; seq++) {
    await store.append('run-1', [{ protocol: 'fcmp', event: { ...sample, seq, data: { text } } as never }]);
    await vi.waitFor(() => expect(listEventIds(steady.read())).toHaveLength(seq), { timeout: 15_000 });
  }
  expect(slow.connection.unsent).toBeLessThan(400_000);
  slow.open();
  await vi.waitFor(() => expect(listEventIds(slow.read())).toEqual(rangeAfter(0, 40)), { timeout: 15_000 });
  expect(slow.read()).toContain('event: lag\ndata: {"after":"');
  expect(steady.read()).not.toContain('event: lag');
  hub.end();
  await store.close();
});

/** Only what the hub waits with: the store waits for the event loop. */
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;

it('sends a heartbeat while nothing happens', async () => {
  vi.useFakeTimers({ toFake: [...TIMERS] });
  try {
    const store = await openStore('memory:');
    await startScriptedRun(store, 'run-1');
    const hub = openHub(store);
    const reader = await hub.follow('run-1');
    await vi.advanceTimersByTimeAsync(31_000);
    expect(reader.read()).toBe('retry: 1000\n\n:\n\n:\n\n');
    hub.end();
    await store.close();
  } finally {
    vi.useRealTimers();
  }
});

it('disconnects a reader that accepts no bytes', async () => {
  vi.useFakeTimers({ toFake: [...TIMERS] });
  try {
    const store = await openStore('memory:');
    const run = await startScriptedRun(store, 'run-1', 1000);
    await run.publish();
    const hub = openHub(store);
    const reader = await hub.follow('run-1');
    reader.shut();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(reader.connection.isClosed).toBe(false);
    expect(reader.connection.unsent).toBeLessThan(400_000);
    await vi.advanceTimersByTimeAsync(2000);
    expect(reader.connection.isClosed).toBe(true);
    hub.end();
    await store.close();
  } finally {
    vi.useRealTimers();
  }
});

it('closes every stream without an end event when the server shuts down, so readers reconnect elsewhere', async () => {
  const store = await openStore('memory:');
  const run = await startScriptedRun(store, 'run-1');
  await run.publish(4);
  const hub = openHub(store);
  const reader = await hub.follow('run-1');
  await vi.waitFor(() => expect(listEventIds(reader.read()).length).toBeGreaterThan(0), { timeout: 15_000 });
  hub.end();
  expect(reader.connection.isClosed).toBe(true);
  expect(reader.read()).not.toContain('event: end');
  await store.close();
});

it('sends a gap to a reader of past events if the rest has since been deleted', async () => {
  const store = await openStore('memory:');
  const run = await startScriptedRun(store, 'run-1', 1000);
  await run.publish();
  await run.end();
  let isPurged = false;
  const hub = openHub({ ...store, read: async (query) => (isPurged ? [] : store.read(query)) });
  const reader = await hub.follow('run-1');
  reader.shut();
  await vi.waitFor(() => expect(reader.connection.unsent).toBeGreaterThan(64 * 1024), { timeout: 15_000 });
  isPurged = true;
  reader.open();
  await vi.waitFor(() => expect(reader.read()).toContain('event: end\n'), { timeout: 15_000 });
  const last = listEventIds(reader.read()).length;
  expect(reader.read()).toContain(`event: gap\ndata: {"from":"${last + 1}","to":null}\n`);
  await store.close();
});
