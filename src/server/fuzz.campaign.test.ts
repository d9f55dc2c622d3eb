import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import type { Endpoint } from './api/endpoint.js';
import { ENDPOINTS } from './api/endpoints.js';
import { arbitraryFromSchema, oddText, oddValue } from './fixtures/arbitrary-from-schema.js';
import { checkResponse } from './fixtures/check-response.js';
import { readJson, openServer } from './fixtures/open-server.js';

/** `npm run torture` sends more. */
const REQUESTS = Number(process.env['REQUESTS'] ?? 500);
const TIMEOUT_MS = 20_000 + 20 * REQUESTS;

interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A lone surrogate cannot be encoded in a URL. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Generates requests to one endpoint: most are valid, the rest nearly so. */
function generateRequests(endpoint: Endpoint, known: readonly string[], example: object): fc.Arbitrary<RandomRequest> {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const parameter = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...known).map(encodeURIComponent) },
    { weight: 1, arbitrary: oddText.map((text) => encodeURIComponent(wellFormed(text))) },
    { weight: 1, arbitrary: fc.constantFrom('%', '%ff', '%2e%2e', '1', 'stdout', 'stderr') },
  );
  const query = Object.entries(endpoint.query ?? {}).map(([name, schema]) =>
    fc
      .option(fc.oneof({ weight: 4, arbitrary: arbitraryFromSchema(schema) }, { weight: 1, arbitrary: oddText }))
      .map((value) => [name, typeof value === 'string' || value === null ? value : JSON.stringify(value)] as const),
  );
  const unknown = fc.option(fc.tuple(oddText, oddText), { freq: 10 });
  const body = endpoint.body === undefined ? fc.constant('{}') : generateBodies(endpoint.body, example);
  return fc
    .record({
      parameters: fc.tuple(...names.map(() => parameter)),
      query: fc.tuple(...query),
      unknown,
      // If all headers were odd, every request would be refused before its body was checked.
      headers: fc.oneof(fc.constant({ 'content-type': 'application/json' }), oddHeaders),
      body,
    })
    .map((parts) => {
      const search = new URLSearchParams();
      for (const [name, value] of parts.query) if (value !== null) search.set(name, wellFormed(value));
      if (parts.unknown !== null) search.set(...parts.unknown);
      const path = names.reduce(
        (text, name, index) => text.replace(`{${name}}`, parts.parameters[index] ?? ''),
        endpoint.path,
      );
      return {
        method: endpoint.method,
        path: search.size === 0 ? path : `${path}?${search}`,
        headers: parts.headers,
        ...(endpoint.method === 'POST' ? { body: parts.body } : {}),
      };
    });
}

/** Generates valid bodies, bodies that would start work, bodies with one wrong field, and random values. */
function generateBodies(schema: NonNullable<Endpoint['body']>, example: object): fc.Arbitrary<string> {
  const valid = arbitraryFromSchema(schema) as fc.Arbitrary<object>;
  const startsWork = valid.chain((value) =>
    fc.subarray(Object.entries(value)).map((fields) => ({ ...Object.fromEntries(fields), ...example })),
  );
  const shapes = schema.anyOf ?? [schema];
  const keys = shapes.flatMap(({ properties = {} }) => Object.keys(properties));
  const hasWrongField = fc
    .tuple(startsWork, fc.constantFrom(...keys, 'unknown'), oddValue)
    .map(([value, key, oddField]) => ({ ...value, [key]: oddField }));
  return fc.oneof(
    { weight: 2, arbitrary: valid.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.constant(JSON.stringify(example)) },
    { weight: 4, arbitrary: startsWork.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: hasWrongField.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: oddValue.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: oddText },
  );
}

const oddHeaders = fc
  .record(
    {
      'content-type': fc.constantFrom('application/json', 'application/json; charset=utf-8', 'text/plain', ''),
      'content-length': fc.constantFrom('0', '-1', 'x', '99999999999'),
      'last-event-id': fc.oneof(fc.constantFrom('1', '1:1', '999999999999999', '-1'), fc.string()),
      range: fc.constantFrom(
        'bytes=0-',
        'bytes=5-1',
        'bytes=-0',
        'bytes=a-b',
        'bytes=0-1,2-3',
        'items=1',
        'bytes=99999999999999999999-',
      ),
      accept: fc.constantFrom('text/event-stream', 'application/json', '*/*', ''),
      authorization: fc.constantFrom('Bearer x', 'Basic', 'Bearer'),
      cookie: fc.constantFrom('sluice_session=a.b.c', 'sluice_session=', '='),
    },
    { requiredKeys: [] },
  )
  .map((headers): Record<string, string> => {
    const entries = Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/[^\u0020-\u007e]/g, '?')]);
    return { 'content-type': 'application/json', ...(Object.fromEntries(entries) as Record<string, string>) };
  });

async function openPopulatedServer(database: string) {
  const server = await openServer({ database });
  const { post, work, store } = server;
  const order = { issue_ref: 'acme/shop#12', role: 'qa', repo_dir: work, worker: 'scripted', instructions: 'x' };
  const spec = { engine: 'codex', prompt: 'x', workdir: work };
  const { run } = await readJson(post('/v1/orders', order));
  const { id } = await readJson(post('/v1/runs', spec));
  const record = (await store.listOrders({})).items[0];
  await server.lead.settle({
    issueRef: order.issue_ref,
    runId: record?.order.run_id ?? '',
    exitCode: 1,
    signal: null,
    stdout: '',
    stderr: '',
  });
  const item = (await store.listInbox({})).items[0];
  const examples: Readonly<Record<string, object>> = {
    startRun: spec,
    submitOrder: { ...order, issue_ref: 'acme/shop#13' },
    resolveItem: { action: 'retry', why: 'x' },
    parse: { text: 'so: {a: [1, 2,]}' },
  };
  return { ...server, examples, known: [String(run), String(id), item?.id ?? '', order.issue_ref, work] };
}

describe('random requests', () => {
  it.each(['memory:', 'sqlite:'])(
    'cause no internal errors with %s',
    async (kind) => {
      const folder = await makeFolder({});
      const { app, known, examples } = await openPopulatedServer(
        kind === 'memory:' ? kind : `sqlite:${join(folder, 'fuzz.db')}`,
      );
      const anyRequest = fc.oneof(
        ...Object.entries<Endpoint>(ENDPOINTS).map(([name, endpoint]) => ({
          // Bodies have more cases than queries, and bodies that start work have the most.
          weight: endpoint.body === undefined ? 1 : Object.hasOwn(examples, name) ? 16 : 4,
          arbitrary: generateRequests(endpoint, known, examples[name] ?? {}),
        })),
      );
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(anyRequest, async ({ path, ...init }) => {
          const response = await app.request(path, init);
          statuses.add(response.status);
          expect(response.status).toBeLessThan(500);
          await checkResponse(init.method, path, response);
          await response.body?.cancel();
        }),
        { numRuns: REQUESTS / 2 },
      );
      // If every request were refused, the test would prove nothing.
      for (const status of [200, 201, 400, 404]) expect(statuses).toContain(status);
    },
    TIMEOUT_MS,
  );
});
