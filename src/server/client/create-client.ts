import { ENDPOINTS } from '../api/index.js';
import type { ResponseOf, BodyOf, Endpoint, EndpointName, ParametersOf } from '../api/index.js';
import type { FromSchema, Schema } from '../../base/index.js';
import { followRun, type FollowInput, type ProtocolEvents } from './follow-run.js';
import { createSendRequest, readJson, receive, type ClientOptions, type SendRequest } from './send-request.js';

/** Endpoints with a JSON response, by name; those of workers have their own client. */
type JsonName = {
  [Name in EndpointName]: (typeof ENDPOINTS)[Name] extends { readonly scope: 'worker' }
    ? never
    : (typeof ENDPOINTS)[Name] extends { readonly response: { readonly schema: Schema } }
      ? Name
      : never;
}[EndpointName];

/** An endpoint's input: its parameters by name, and its query or body, if any. */
export type EndpointInput<E extends Endpoint> = { readonly [Name in ParametersOf<E['path']>]: string } & (E extends {
  readonly query: infer Query extends Readonly<Record<string, Schema>>;
}
  ? { readonly query?: { readonly [Name in keyof Query]?: FromSchema<Query[Name]> } }
  : unknown) &
  (E extends { readonly body: Schema } ? { readonly body: BodyOf<E> } : unknown) & { readonly signal?: AbortSignal };

type Call<E extends Endpoint> =
  Record<never, never> extends EndpointInput<E>
    ? (input?: EndpointInput<E>) => Promise<ResponseOf<E>>
    : (input: EndpointInput<E>) => Promise<ResponseOf<E>>;

/**
 * The bytes of a stream to read: all, or from `from` up to but not including `to`, as in a `raw_ref`. Empty if `to` is
 * not after `from`.
 */
export interface RawInput {
  readonly id: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr' | 'pty' | 'stdin';
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** The start of a file, at most one MiB, or the requested part. */
export interface FilePreview {
  /** Invalid UTF-8 is replaced. */
  readonly text: string;
  /** The size of the file. */
  readonly totalBytes: number;
}

/** The part of a file to read: from `from` up to but not including `to`, at most one MiB. Empty if `to` is not after `from`. */
export interface PreviewInput {
  readonly id: string;
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** All of the server's endpoints as methods. */
export type Client = { readonly [Name in JsonName]: Call<(typeof ENDPOINTS)[Name]> } & {
  /** Yields a run's events as they arrive, until it has ended; resumes broken connections. */
  followRun<Protocol extends keyof ProtocolEvents = 'fcmp'>(
    input: FollowInput<Protocol>,
  ): AsyncGenerator<ProtocolEvents[Protocol], void>;
  /** Reads a run's raw bytes, for example the bytes of an event. */
  readRaw(input: RawInput): Promise<Uint8Array>;
  /** Reads an evidence file, by its name from `listRunFiles`. */
  readEvidence(input: PreviewInput & { readonly name: string }): Promise<FilePreview>;
  /** Reads a file that a run changed, by its path from `listRunFiles`. */
  readArtifact(input: PreviewInput & { readonly path: string }): Promise<FilePreview>;
  /** Exports executions as a stream. */
  exportExecutions(input?: EndpointInput<(typeof ENDPOINTS)['exportExecutions']>): Promise<ReadableStream<Uint8Array>>;
  /** Exports the run folder as a tar archive. */
  exportRun(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>>;
  /** Exports a run as one HTML file. */
  reportRun(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<string>;
  /** Exports a run as a suite case: a tar archive. */
  exportRunCase(input: { readonly id: string; readonly signal?: AbortSignal }): Promise<Uint8Array<ArrayBuffer>>;
  /** Exports parse input as a suite case: a tar archive. */
  exportTextCase(input: EndpointInput<(typeof ENDPOINTS)['exportTextCase']>): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns the metrics in the Prometheus text format. */
  metrics(input?: { readonly signal?: AbortSignal }): Promise<string>;
};

/**
 * Creates a client for a server, for use in browsers and Node.js.
 *
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:7171' })
 * const { id } = await client.startRun({ body: { engine: 'codex', prompt: 'Fix the test.', workdir } })
 * for await (const event of client.followRun({ id })) console.log(event.type)
 */
export function createClient(options: ClientOptions = {}): Client {
  const send = createSendRequest(options);
  const calls = Object.entries<Endpoint>(ENDPOINTS).flatMap(([name, endpoint]) => {
    const read = endpoint.response.schema === undefined ? READERS[name] : readJson;
    return read === undefined || endpoint.scope === 'worker' ? [] : [[name, createCall(send, endpoint, read)] as const];
  });
  return {
    // The types above are derived from the same table.
    ...(Object.fromEntries(calls) as unknown as Omit<
      Client,
      'followRun' | 'readRaw' | 'readEvidence' | 'readArtifact'
    >),
    followRun: (input) => followRun(send, input),
    async readRaw({ id, attempt, stream, from, to, signal }) {
      if (isEmptyRange({ from, to })) return new Uint8Array();
      const params = { id, attempt: String(attempt), stream };
      const response = await send(ENDPOINTS.readRaw, { params, headers: formatRange({ from, to }), signal });
      return readBytes(response, signal);
    },
    readEvidence: async ({ name, ...part }) => readPreview(send, ENDPOINTS.readEvidence, part, { name }),
    readArtifact: async ({ path, ...part }) => readPreview(send, ENDPOINTS.readArtifact, part, { path }),
  };
}

async function readPreview(
  send: SendRequest,
  endpoint: Endpoint,
  { id, from, to, signal }: PreviewInput,
  query: Readonly<Record<string, string>>,
): Promise<FilePreview> {
  const isEmpty = isEmptyRange({ from, to });
  const headers = isEmpty ? {} : formatRange({ from, to });
  const response = await send(endpoint, { params: { id }, query, headers, signal });
  // The request was sent only to get the file size.
  if (isEmpty) await response.body?.cancel();
  const text = isEmpty ? '' : await readText(response, signal);
  return { text, totalBytes: Number(response.headers.get('x-total-bytes')) };
}

interface Range {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Whether a range is empty. A Range header cannot express that, and the server ignores an invalid header. */
function isEmptyRange({ from = 0, to }: Range): boolean {
  return to !== undefined && to <= from;
}

/** Formats the Range header; omitted if all bytes are requested. */
function formatRange({ from, to }: Range) {
  if (from === undefined && to === undefined) return {};
  return { range: `bytes=${from ?? 0}-${to === undefined ? '' : to - 1}` };
}

type ReadResponse = (response: Response, signal: AbortSignal | undefined) => Promise<unknown>;

/** How to read the responses that are not JSON. */
const READERS: Readonly<Record<string, ReadResponse>> = {
  exportExecutions: readBody,
  exportRun: readBody,
  reportRun: readText,
  exportRunCase: readBytes,
  exportTextCase: readBytes,
  metrics: readText,
};

async function readText(response: Response, signal: AbortSignal | undefined): Promise<string> {
  return receive(response, signal, async () => response.text());
}

async function readBytes(response: Response, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await receive(response, signal, async () => response.arrayBuffer()));
}

async function readBody({ body }: Response): Promise<ReadableStream<Uint8Array>> {
  return body ?? new ReadableStream({ start: (controller) => controller.close() });
}

type AnyInput = Readonly<Record<string, unknown>> & {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

function createCall(send: SendRequest, endpoint: Endpoint, read: ReadResponse): (input?: AnyInput) => Promise<unknown> {
  return async ({ query = {}, body, signal, ...params } = {}) => {
    const pathParams = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
    return read(await send(endpoint, { params: pathParams, query, body, signal }), signal);
  };
}
