import { ENDPOINTS } from '../api/index.js';
import type { AnswerOf, BodyOf, Endpoint, EndpointName, ParametersOf } from '../api/index.js';
import type { FromSchema, Schema } from '../base/index.js';
import { followRun } from './follow-run.js';
import type { FollowInput, ProtocolEvents } from './follow-run.js';
import { createSendRequest, readJson } from './send-request.js';
import type { ClientOptions, SendRequest } from './send-request.js';

/** Endpoints with a JSON response, by name. */
type JsonName = {
  [Name in EndpointName]: (typeof ENDPOINTS)[Name] extends { readonly answer: { readonly schema: Schema } }
    ? Name
    : never;
}[EndpointName];

/** The input of an endpoint: its parameters by name, and a query or body where it has one. */
export type InputOf<E extends Endpoint> = { readonly [Name in ParametersOf<E['path']>]: string } & (E extends {
  readonly query: infer Query extends Readonly<Record<string, Schema>>;
}
  ? { readonly query?: { readonly [Name in keyof Query]?: FromSchema<Query[Name]> } }
  : unknown) &
  (E extends { readonly body: Schema } ? { readonly body: BodyOf<E> } : unknown) & { readonly signal?: AbortSignal };

type Call<E extends Endpoint> =
  Record<never, never> extends InputOf<E>
    ? (input?: InputOf<E>) => Promise<AnswerOf<E>>
    : (input: InputOf<E>) => Promise<AnswerOf<E>>;

/** The bytes of a stream: all, or from `from` to before `to`, as in a `raw_ref`. */
export interface RawInput {
  readonly id: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr' | 'pty' | 'stdin';
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** A preview of a file: the first MiB, or the requested part. */
export interface FilePreview {
  /** Invalid UTF-8 is replaced. */
  readonly text: string;
  /** The size of the file. */
  readonly totalBytes: number;
}

/** Part of a file: from `from` to before `to`, at most a MiB of it. */
export interface PreviewInput {
  readonly id: string;
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** All endpoints of the server as methods. */
export type Client = { readonly [Name in JsonName]: Call<(typeof ENDPOINTS)[Name]> } & {
  /** The events of a run as they arrive, until it has ended; broken connections are resumed. */
  followRun<Protocol extends keyof ProtocolEvents = 'fcmp'>(
    input: FollowInput<Protocol>,
  ): AsyncGenerator<ProtocolEvents[Protocol], void>;
  /** The bytes behind an event. */
  readRaw(input: RawInput): Promise<Uint8Array>;
  /** A file of evidence, by its name from `listRunFiles`. */
  readEvidence(input: PreviewInput & { readonly name: string }): Promise<FilePreview>;
  /** A file that a run changed, by its path from `listRunFiles`. */
  readArtifact(input: PreviewInput & { readonly path: string }): Promise<FilePreview>;
  /** The executions as a stream. */
  exportExecutions(input?: InputOf<(typeof ENDPOINTS)['exportExecutions']>): Promise<ReadableStream<Uint8Array>>;
  /** The run folder as a stream of a tar archive. */
  exportRun(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>>;
  /** A run as one HTML file. */
  reportRun(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<string>;
  /** A run as a case of a suite: a tar archive. */
  exportRunCase(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<Uint8Array<ArrayBuffer>>;
  /** A text as a case of a suite: a tar archive. */
  exportTextCase(input: InputOf<(typeof ENDPOINTS)['exportTextCase']>): Promise<Uint8Array<ArrayBuffer>>;
  /** The metrics in Prometheus' text format. */
  metrics(input?: { readonly signal?: AbortSignal }): Promise<string>;
};

/**
 * A client of the server, in browsers and in Node.js.
 *
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:7171' })
 * const { id } = await client.startRun({ body: { engine: 'codex', prompt: 'Fix the test.', workdir } })
 * for await (const event of client.followRun({ id })) console.log(event.type)
 */
export function createClient(options: ClientOptions = {}): Client {
  const send = createSendRequest(options);
  const calls = Object.entries<Endpoint>(ENDPOINTS)
    .filter(([, { answer }]) => answer.schema !== undefined)
    .map(([name, endpoint]) => [name, createCall(send, endpoint)] as const);
  return {
    // The types above are derived from the same table.
    ...(Object.fromEntries(calls) as unknown as { readonly [Name in JsonName]: Call<(typeof ENDPOINTS)[Name]> }),
    followRun: (input) => followRun(send, input),
    async readRaw({ id, attempt, stream, from, to, signal }) {
      if (from !== undefined && from === to) return new Uint8Array();
      const params = { id, attempt: String(attempt), stream };
      const answer = await send(ENDPOINTS.readRaw, { params, headers: formatRange({ from, to }), signal });
      return new Uint8Array(await answer.arrayBuffer());
    },
    readEvidence: async ({ name, ...part }) => readPreview(send, ENDPOINTS.readEvidence, part, { name }),
    readArtifact: async ({ path, ...part }) => readPreview(send, ENDPOINTS.readArtifact, part, { path }),
    exportExecutions: async ({ query = {}, signal } = {}) =>
      readBody(await send(ENDPOINTS.exportExecutions, { query, signal })),
    exportRun: async ({ id, signal }) => readBody(await send(ENDPOINTS.exportRun, { params: { id }, signal })),
    reportRun: async ({ id, signal }) => (await send(ENDPOINTS.reportRun, { params: { id }, signal })).text(),
    exportRunCase: async ({ id, signal }) =>
      new Uint8Array(await (await send(ENDPOINTS.exportRunCase, { params: { id }, signal })).arrayBuffer()),
    exportTextCase: async ({ body, signal }) =>
      new Uint8Array(await (await send(ENDPOINTS.exportTextCase, { body, signal })).arrayBuffer()),
    async metrics({ signal } = {}) {
      return (await send(ENDPOINTS.metrics, { signal })).text();
    },
  };
}

async function readPreview(
  send: SendRequest,
  endpoint: Endpoint,
  { id, from, to, signal }: PreviewInput,
  query: Readonly<Record<string, string>>,
): Promise<FilePreview> {
  const answer = await send(endpoint, { params: { id }, query, headers: formatRange({ from, to }), signal });
  return { text: await answer.text(), totalBytes: Number(answer.headers.get('x-total-bytes')) };
}

/** The Range header; none for all bytes. */
function formatRange({ from, to }: { readonly from: number | undefined; readonly to: number | undefined }) {
  if (from === undefined && to === undefined) return {};
  return { range: `bytes=${from ?? 0}-${to === undefined ? '' : to - 1}` };
}

function readBody({ body }: Response): ReadableStream<Uint8Array> {
  return body ?? new ReadableStream({ start: (controller) => controller.close() });
}

type AnyInput = Readonly<Record<string, unknown>> & {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

function createCall(send: SendRequest, endpoint: Endpoint): (input?: AnyInput) => Promise<unknown> {
  return async ({ query = {}, body, signal, ...params } = {}) => {
    const words = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
    return readJson(await send(endpoint, { params: words, query, body, signal }));
  };
}
