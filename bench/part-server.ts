import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer as createHttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, type Subject } from './measure.js';
import { atMost, formatMs, formatRatio, type PartResult } from './part-result.js';
import { createLead, getRequestListener, Hono, openStore, runServer } from './product.js';

const LIMIT = 1.9;
/** The number of concurrent requests, over connections that stay open. */
const CONCURRENCY = 16;
const WARM_UP = 4000;

/** A review as an agent writes it, 1.9 KB. */
const REVIEW = {
  summary:
    'The settings are read before the first start has written them, so a second start sees those of the one before. '.repeat(
      4,
    ),
  issues: Array.from({ length: 6 }, (_, index) => ({
    file: `src/server/config/load-${index}.ts`,
    line: 10 * index + 3,
    severity: 'warning',
    message:
      'This promise is not awaited, so an error in it is lost and the caller believes that all went well; await it, or return it.',
  })),
};
const SCHEMA = {
  type: 'object',
  properties: {
    summary: { type: 'string' },
    issues: { type: 'array', items: { type: 'object', properties: { line: { type: 'integer' } }, required: ['file'] } },
  },
  required: ['summary', 'issues'],
};

const TEXT = JSON.stringify(REVIEW);
const BODIES = {
  'clean JSON': { text: TEXT },
  'the same with a schema': { text: TEXT, schema: SCHEMA },
  'the same in prose and a fence': { text: `Here is the review:\n\n\`\`\`json\n${TEXT}\n\`\`\`\nAnything else?` },
};

/**
 * Measures a request, from the client's call to the end of the response, compared with a handler that reads the same JSON
 * and returns an empty object.
 */
export async function runServerPart(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const store = await openStore('memory:');
  const lead = createLead({ store, data: folder });
  const limits = {
    bodyBytes: 16 * 1024 * 1024,
    requestMs: 30_000,
    requestsAtOnce: 1024,
    streamsAtOnce: 1,
    requestsPerMinute: Number.MAX_SAFE_INTEGER,
    refusalsPerMinute: 1,
  };
  const own = await runServer({ store, lead, data: folder, port: 0, settings: { limits } });
  const bare = await startBare();
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  try {
    // Warms up: a server that has just started is slower.
    for (const content of Object.values(BODIES)) {
      for (const { url } of [bare, own]) await sendRequests(`${url}/v1/parse`, JSON.stringify(content), agent, WARM_UP);
    }
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (const [name, content] of Object.entries(BODIES)) {
      const body = JSON.stringify(content);
      const [base, measured] = await compare([
        createSubject('an empty handler', `${bare.url}/v1/parse`, body, agent),
        createSubject('POST /v1/parse', `${own.url}/v1/parse`, body, agent),
      ]);
      if (base === undefined || measured === undefined) throw new Error('Nothing was measured.');
      ratios.push(measured.ratio);
      rows.push([
        `${name}, ${body.length} bytes`,
        formatMs(base.milliseconds / CONCURRENCY),
        formatMs(measured.milliseconds / CONCURRENCY),
        formatRatio(measured.ratio),
      ]);
    }
    const [clean = Number.NaN] = ratios;
    return {
      title: 'Server',
      targets: [atMost('`POST /v1/parse` of 2 KB', clean, LIMIT, 'an empty hono handler that reads the same body')],
      tables: [
        {
          title: 'One request, including the client',
          columns: ['', 'empty handler', '`POST /v1/parse`', 'ratio'],
          rows,
        },
      ],
      groups: [],
    };
  } finally {
    agent.destroy();
    await own.stop();
    bare.close();
    await lead.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startBare(): Promise<{ readonly url: string; readonly close: () => void }> {
  const app = new Hono();
  app.post('/v1/parse', async (context) => {
    await context.req.json();
    return context.json({});
  });
  const listener = getRequestListener(app.fetch);
  const server = createHttpServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

function createSubject(name: string, url: string, body: string, agent: Agent): Subject {
  return { name, run: async () => sendRequests(url, body, agent, CONCURRENCY) };
}

/** Sends `count` requests, one per connection at a time. */
async function sendRequests(url: string, body: string, agent: Agent, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => post(url, body, agent)));
}

async function post(url: string, body: string, agent: Agent): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  await new Promise<void>((resolve, reject) => {
    const sentCount = request(url, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The response has status ${response.statusCode}.`));
      response.resume().once('end', resolve);
    });
    sentCount.once('error', reject).end(body);
  });
}
