import { Agent as HttpAgent, request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { SluiceError, getErrorCode, getErrorMessage, omitUndefined, type FromSchema } from '../../base/index.js';
import { parseJson } from '../../base/files/index.js';
import { StoreError } from '../../store/index.js';
import { WORKER_PROTOCOL, type workerCallSchema, type workerEndSchema } from '../api/index.js';
import type { EventPack } from '../../events/index.js';
import type { WorkerEnd } from '../../orders/index.js';

type WorkerCall = FromSchema<typeof workerCallSchema>;

/** A call without the claim that it belongs to, which is added when it is sent. */
export type WorkerRequest = WorkerCall extends infer One
  ? One extends WorkerCall
    ? Omit<One, 'worker_id'>
    : never
  : never;

/** Sends a call about a run that this process holds. */
export type CallServer = <T>(id: string, request: WorkerRequest) => Promise<T>;

interface ConnectionOptions {
  /** `https://…`; plain HTTP only on loopback. */
  readonly url: string;
  readonly token: string;
  /** Certificates of a private authority, in PEM format. */
  readonly ca?: string | undefined;
}

export interface OpenStream {
  close(): void;
}

/** Requests to a server, over a few connections that are kept open. */
export type Connection = ReturnType<typeof connect>;

/** The maximum number of concurrent requests, so that one worker cannot exhaust a server. */
const MAX_SOCKETS = 8;
/** A connection without traffic for this long is broken; streams have a heartbeat every 15 seconds. */
const IDLE_MS = 45_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Connects to a server; sends nothing yet. Throws `INVALID_OPTION` for an address that would expose the token. */
export function connect({ url, token, ca }: ConnectionOptions) {
  const base = readUrl(url);
  const isSecure = base.protocol === 'https:';
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, timeout: IDLE_MS };
  const agent = isSecure ? new HttpsAgent({ ...options, ...(ca === undefined ? {} : { ca }) }) : new HttpAgent(options);
  // Not pooled: a stream must not wait for a free connection.
  const streamAgent = isSecure ? new HttpsAgent(ca === undefined ? {} : { ca }) : new HttpAgent();
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'sluice-protocol': WORKER_PROTOCOL,
  };
  const prefix = base.pathname.replace(/\/+$/, '');

  function start(path: string, text: string, pool: HttpAgent | HttpsAgent) {
    const init: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(text) },
      agent: pool,
      timeout: IDLE_MS,
    };
    const request = (isSecure ? requestHttps : requestHttp)(new URL(`${prefix}${path}`, base), init);
    request.on('timeout', () => request.destroy(new Error(`no response within ${IDLE_MS / 1000} seconds`)));
    request.end(text);
    return request;
  }

  async function sendOnce(path: string, text: string): Promise<{ readonly status: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
      const request = start(path, text, agent);
      request.once('error', (error) => reject(new ConnectionError(error, request.reusedSocket)));
      request.once('response', (response) => {
        // Servers keep the connections of workers longer than those of others.
        delete response.headers['keep-alive'];
        readText(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, body }),
          (error: unknown) => reject(new ConnectionError(error, false)),
        );
      });
    });
  }

  return {
    /**
     * Sends a request. A server that cannot be reached or is overloaded is reported as `STORE_UNAVAILABLE`, so callers
     * treat it like a database that is down.
     */
    async send(path: string, body: unknown): Promise<unknown> {
      const text = JSON.stringify(body);
      const response = await sendOnce(path, text)
        // The server had closed the idle connection: it has not seen the request.
        .catch(async (error: unknown) => {
          if (error instanceof ConnectionError && error.isStale) return sendOnce(path, text);
          throw error;
        })
        .catch((error: unknown) => {
          throw createOutage(base.origin, error);
        });
      return readResponse(base.origin, response);
    },
    /** Opens a stream; calls `onEnd` once, when it has ended for any reason but `close`. */
    open(
      path: string,
      body: unknown,
      on: { readonly line: (line: unknown) => void; readonly end: () => void },
    ): OpenStream {
      const request = start(path, JSON.stringify(body), streamAgent);
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        request.destroy();
        on.end();
      };
      request.once('error', end);
      request.once('close', end);
      request.once('response', (response) => {
        if (response.statusCode !== 200) return end();
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          const parts = (rest + chunk).split('\n\n');
          rest = parts.pop() ?? '';
          for (const part of parts) if (part.startsWith('data: ') && !isOver) on.line(JSON.parse(part.slice(6)));
        });
        response.once('close', end);
        return undefined;
      });
      return {
        close() {
          isOver = true;
          request.destroy();
        },
      };
    },
    close() {
      agent.destroy();
      streamAgent.destroy();
    },
  };
}

class ConnectionError extends Error {
  /** Whether the request was sent on an idle connection that the server had closed meanwhile. */
  readonly isStale: boolean;

  constructor(cause: unknown, isReused: boolean) {
    super(getErrorMessage(cause), { cause });
    this.isStale = isReused && ['ECONNRESET', 'EPIPE'].includes(getErrorCode(cause) ?? '');
  }
}

function readUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw new SluiceError('INVALID_OPTION', `Invalid server address "${text}". Use https://HOST[:PORT].`, {
      cause: error,
    });
  }
  const isLocal = url.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) {
    throw new SluiceError(
      'INVALID_OPTION',
      `"${text}" would send the token unencrypted. Use https; plain http is allowed only for a server on this host.`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new SluiceError('INVALID_OPTION', 'Invalid server address: omit user, password, query and fragment.');
  return url;
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Status codes that another try can change, besides those of 500 and more. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429]);

function readResponse(server: string, { status, body }: { readonly status: number; readonly body: string }): unknown {
  const value = parseJson(body);
  if (status >= 200 && status < 300 && value !== undefined) return value;
  const { code, detail } = (value ?? {}) as { readonly code?: unknown; readonly detail?: unknown };
  if (status >= 500 || TEMPORARY.has(status) || typeof code !== 'string' || typeof detail !== 'string') {
    throw createOutage(server, new Error(typeof detail === 'string' ? detail : `status ${status}`));
  }
  throw new SluiceError(code, detail);
}

/** Codes of certificates whose authority this host does not know. */
const UNKNOWN_AUTHORITY = /SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)/;

function createOutage(server: string, cause: unknown): StoreError {
  const reason = getErrorMessage(cause).replace(/\.?$/, '.');
  const code = cause instanceof ConnectionError ? getErrorCode(cause.cause) : undefined;
  const advice = UNKNOWN_AUTHORITY.test(code ?? '') ? ' Name the file of its authority with --ca.' : '';
  return new StoreError('STORE_UNAVAILABLE', `The server ${server} is unavailable: ${reason}${advice}`, { cause });
}

export function createNotHeldError(name: string): StoreError {
  return new StoreError('ORDER_NOT_FOUND', `This worker does not hold "${name}".`);
}

/** The characters of events in one request. */
const MAX_LINES_LENGTH = 4 * 1024 * 1024;

export function splitPacks(packs: readonly EventPack[]): readonly (readonly EventPack[])[] {
  const groups: EventPack[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const pack of packs) {
    if (length + pack.lines.length > MAX_LINES_LENGTH) {
      groups.push([]);
      length = 0;
    }
    groups.at(-1)?.push(pack);
    length += pack.lines.length;
  }
  return groups;
}

export function formatEnd(end: WorkerEnd, lastOutput: string): FromSchema<typeof workerEndSchema> {
  return {
    exit_code: end.exitCode,
    signal: end.signal ?? null,
    last_output: lastOutput,
    ...omitUndefined({
      has_ended: end.hasEnded,
      run_error: end.runError,
      start_error: end.startError,
      unresolved: end.unresolved,
      canceled: end.canceled,
      command: end.command,
      worker_version: end.workerVersion,
      note: end.note,
      run_result: end.runResult,
      reading: end.reading,
      evidence: end.evidence,
      changed_lines: end.changedLines,
    }),
  };
}
