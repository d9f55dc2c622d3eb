import { ENDPOINTS } from '../api/index.js';
import type { AnswerOf, BodyOf, Endpoint, EndpointName, ParametersOf } from '../api/index.js';
import type { FromSchema, Schema } from '../base/index.js';
import { followRun } from './follow-run.js';
import type { FollowInput, ProtocolEvents } from './follow-run.js';
import { createSendRequest, readJson } from './send-request.js';
import type { ClientOptions, SendRequest } from './send-request.js';

/** Endpoints that answer with JSON: those called by their name in the table. */
type JsonName = {
  [Name in EndpointName]: (typeof ENDPOINTS)[Name] extends { readonly answer: { readonly schema: Schema } }
    ? Name
    : never;
}[EndpointName];

/** What an endpoint is called with: its parameters by name, and a query or a body where it takes one. */
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

/** Which bytes of a stream: all of them, or those from `from` to before `to`, as a `raw_ref` has them. */
export interface RawInput {
  readonly id: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr' | 'pty' | 'stdin';
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** A file as far as it is shown: the first MiB, or the part that was asked for. */
export interface FilePreview {
  /** Bytes that are no UTF-8 are replaced. */
  readonly text: string;
  /** How large the whole file is. */
  readonly totalBytes: number;
}

/** Part of a file: from `from` to before `to`, at most a MiB of it. */
export interface PreviewInput {
  readonly id: string;
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** Everything the server can be asked. */
export type Client = { readonly [Name in JsonName]: Call<(typeof ENDPOINTS)[Name]> } & {
  /** The events of a run, as they come, until it has ended; connections that break are opened again. */
  followRun<Protocol extends keyof ProtocolEvents = 'fcmp'>(
    input: FollowInput<Protocol>,
  ): AsyncGenerator<ProtocolEvents[Protocol], void>;
  /** The bytes behind an event. */
  readRaw(input: RawInput): Promise<Uint8Array>;
  /** A file that tells what happened in a run, by the name that `listRunFiles` gives. */
  readEvidence(input: PreviewInput & { readonly name: string }): Promise<FilePreview>;
  /** A file that a run changed, by the path that `listRunFiles` gives. */
  readArtifact(input: PreviewInput & { readonly path: string }): Promise<FilePreview>;
  /** The audit as a file, to be read as it comes. */
  exportExecutions(input?: InputOf<(typeof ENDPOINTS)['exportExecutions']>): Promise<ReadableStream<Uint8Array>>;
  /** The folder of a run as a tar archive, to be read as it comes. */
  exportRun(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>>;
  /** Figures, as Prometheus reads them. */
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
    // The types above are made from the same table.
    ...(Object.fromEntries(calls) as unknown as { readonly [Name in JsonName]: Call<(typeof ENDPOINTS)[Name]> }),
    followRun: (input) => followRun(send, input),
    async readRaw({ id, attempt, stream, from, to, signal }) {
      if (from !== undefined && from === to) return new Uint8Array();
      const params = { id, attempt: String(attempt), stream };
      const answer = await send(ENDPOINTS.readRaw, { params, headers: rangeOf({ from, to }), signal });
      return new Uint8Array(await answer.arrayBuffer());
    },
    readEvidence: async ({ name, ...part }) => readPreview(send, ENDPOINTS.readEvidence, part, { name }),
    readArtifact: async ({ path, ...part }) => readPreview(send, ENDPOINTS.readArtifact, part, { path }),
    exportExecutions: async ({ query = {}, signal } = {}) =>
      bodyOf(await send(ENDPOINTS.exportExecutions, { query, signal })),
    exportRun: async ({ id, signal }) => bodyOf(await send(ENDPOINTS.exportRun, { params: { id }, signal })),
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
  const answer = await send(endpoint, { params: { id }, query, headers: rangeOf({ from, to }), signal });
  return { text: await answer.text(), totalBytes: Number(answer.headers.get('x-total-bytes')) };
}

/** The header that asks for some bytes; none for all of them. */
function rangeOf({ from, to }: { readonly from: number | undefined; readonly to: number | undefined }) {
  if (from === undefined && to === undefined) return {};
  return { range: `bytes=${from ?? 0}-${to === undefined ? '' : to - 1}` };
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
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
