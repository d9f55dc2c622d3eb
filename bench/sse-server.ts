/** A server in a separate process for `part-sse.ts`: Sluice, or the bare fan-out it is compared with. */
import { createServer as createHttpServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type * as CreateLead from '../src/orders/lead/create-lead.js';
import { createRunResult } from '../src/store/contract/fixtures/create-run-result.js';
import type * as CreateServer from '../src/server/create-server.js';
import type * as RunServer from '../src/server/run-server.js';
import type * as Store from '../src/store/index.js';

/** Commands for the server. */
export interface SseCommand {
  readonly kind: 'sluice' | 'bare';
  readonly folder: string;
  readonly rate: number;
}

/** Messages from the server. */
export type SseReport = { readonly url: string } | { readonly emitted: number } | { readonly rss: number };

const RUN = 'bench';
const TICK_MS = 5;
/** How long the bare fan-out collects events for one write. */
const GATHER_MS = 50;
const TEXT = 'raw agent output in, validated results out '.repeat(8);

type Emit = (events: readonly object[]) => Promise<void>;

process.on('message', (order: SseCommand | 'go' | 'stop') => {
  if (order === 'go') source?.start();
  else if (order === 'stop') void source?.stop();
  else void serve(order);
});

let source: { start(): void; stop(): Promise<void> } | undefined;

async function serve({ kind, folder, rate }: SseCommand): Promise<void> {
  const { url, emit, end } = kind === 'sluice' ? await serveSluice(folder) : await serveBare();
  source = createSource(rate, emit, end);
  report({ url });
  setInterval(() => report({ rss: process.memoryUsage.rss() }), 250).unref();
}

/** Creates a source that keeps its rate even if timers are late. */
function createSource(rate: number, emit: Emit, end: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let seq = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    start() {
      const start = performance.now();
      timer = setInterval(() => {
        const due = Math.floor(((performance.now() - start) / 1000) * rate);
        const events: object[] = [];
        while (seq < due) events.push(makeEvent((seq += 1)));
        if (events.length > 0) last = emit(events);
      }, TICK_MS);
    },
    async stop() {
      clearInterval(timer);
      await last;
      report({ emitted: seq });
      await end();
    },
  };
}

function makeEvent(seq: number): object {
  return {
    protocol_version: 'fcmp/1.2',
    run_id: RUN,
    seq,
    ts: new Date().toISOString(),
    engine: 'codex',
    type: 'assistant.message.delta',
    data: { message_id: 'm_1_1', text: TEXT },
    meta: { attempt: 1 },
    correlation: {},
    raw_ref: null,
  };
}

async function serveSluice(folder: string) {
  const { openStore } = await load<typeof Store>('store/index');
  const { createLead } = await load<typeof CreateLead>('orders/lead/create-lead');
  const { createServer } = await load<typeof CreateServer>('server/create-server');
  const { listen } = await load<typeof RunServer>('server/run-server');
  const store = await openStore(`sqlite:${folder}/bench.db`);
  const lead = createLead({ store, data: folder, wrappers: {} });
  const server = createServer({ store, lead, data: folder });
  const { url } = await listen(server, { host: '127.0.0.1', port: 0 });
  const spec = { engine: 'codex', prompt: 'talk', workdir: folder } as const;
  await store.createRun({ id: RUN, spec, state: 'running', workerId: RUN, leaseMs: 3_600_000, now: Date.now() });
  return {
    url: `${url}/v1/runs/${RUN}/events`,
    emit: async (events: readonly object[]) =>
      store.append(RUN, events.map((event) => ({ protocol: 'fcmp', event })) as never),
    end: async () => {
      await store.endRun({ id: RUN, workerId: RUN, result: createRunResult(), now: Date.now() });
    },
  };
}

/** Serves a stream in the simplest way, except that it does not write every event separately to every reader. */
async function serveBare() {
  const readers = new Set<ServerResponse>();
  const server = createHttpServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    readers.add(response);
    response.once('close', () => readers.delete(response));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  let batch: string[] = [];
  setInterval(() => {
    if (batch.length === 0) return;
    const bytes = Buffer.from(batch.join(''));
    batch = [];
    for (const response of readers) response.write(bytes);
  }, GATHER_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    emit: async (events: readonly object[]) => {
      for (const event of events)
        batch.push(`id: ${(event as { seq: number }).seq}\ndata: ${JSON.stringify(event)}\n\n`);
    },
    end: async () => {
      setTimeout(() => {
        for (const response of readers) response.end('event: end\ndata: {}\n\n');
      }, 2 * GATHER_MS);
    },
  };
}

function report(message: SseReport): void {
  process.send?.(message);
}

async function load<T>(file: string): Promise<T> {
  return (await import(new URL(`../dist/${file}.js`, import.meta.url).href)) as T;
}
