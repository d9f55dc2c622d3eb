import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { getErrorMessage, SluiceError } from '../../../base/index.js';
import { parseJson } from '../../../base/files/index.js';
import type { KubernetesSettings } from './settings.js';

/** The cluster's answer to a request that it refused. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  readonly status: number;
  /** The cluster's own word, such as `AlreadyExists` or `Expired`. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Requests to the API server of a cluster, with the credentials of the kubeconfig or of the service account. */
export interface Cluster {
  /** The namespace of the runs. */
  readonly namespace: string;
  /** Sends a request. Throws `ClusterError` if the cluster refuses it, and any other error if it does not answer. */
  send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<unknown>;
  /** Reads the lines of a watch until it ends or the signal aborts it. Throws as `send` does. */
  follow(path: string, onLine: (line: unknown) => void, signal: AbortSignal): Promise<void>;
}

/** The part of the class `KubeConfig` of `@kubernetes/client-node` that is used. */
interface KubeConfig {
  loadFromDefault(): void;
  loadFromFile(file: string): void;
  setCurrentContext(name: string): void;
  getCurrentContext(): string;
  getCurrentCluster(): { readonly server: string } | null;
  getContextObject(name: string): { readonly namespace?: string } | null;
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** Loads `@kubernetes/client-node`, which might not be where Sluice is installed. */
export type LoadClient = () => Promise<unknown>;

const PACKAGE: string = '@kubernetes/client-node';
const ANSWER_MS = 30_000;
/** The API server sends a bookmark about once a minute, so a silent connection is broken. */
const SILENCE_MS = 150_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Connects to the cluster: with `kubeconfig`, or as `kubectl` would (`KUBECONFIG`, `~/.kube/config`), or inside a pod as
 * its service account. Sends nothing yet.
 */
export async function openCluster(
  { kubeconfig, context, namespace }: Pick<KubernetesSettings, 'kubeconfig' | 'context' | 'namespace'>,
  load: LoadClient = async () => import(PACKAGE) as Promise<unknown>,
): Promise<Cluster> {
  const config = await loadConfig(load);
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) {
    const named = context === undefined ? 'has no current context' : `has no context "${context}"`;
    throw new SluiceError(
      'INVALID_CONFIG',
      `Cannot connect to Kubernetes: the kubeconfig ${named}. Name one that exists.`,
    );
  }
  const open = async (method: string, path: string, body?: object, signal?: AbortSignal): Promise<IncomingMessage> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options: RequestOptions = { method, headers: { accept: 'application/json' }, timeout: ANSWER_MS };
    await config.applyToHTTPSOptions(options);
    if (signal !== undefined) options.signal = signal;
    if (text !== undefined)
      options.headers = {
        ...(options.headers as Record<string, string>),
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      };
    const url = new URL(`${server.replace(/\/+$/, '')}${path}`);
    return new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
      request.on('timeout', () => request.destroy(new Error(`no answer within ${ANSWER_MS / 1000} s`)));
      request.once('error', reject);
      request.end(text);
    });
  };
  return {
    namespace: namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    async send(method, path, body) {
      return readAnswer(await open(method, path, body));
    },
    async follow(path, onLine, signal) {
      // One signal per request: Node.js would leave a listener of each one on the caller's.
      const ended = new AbortController();
      const end = (): void => ended.abort();
      signal.addEventListener('abort', end, { once: true });
      try {
        const response = await open('GET', path, undefined, ended.signal);
        if (response.statusCode !== 200) await readAnswer(response);
        response.socket.setTimeout(SILENCE_MS, end);
        await readLines(response, onLine);
      } finally {
        signal.removeEventListener('abort', end);
        end();
      }
    },
  };
}

async function loadConfig(load: LoadClient): Promise<KubeConfig> {
  let loaded: unknown;
  try {
    loaded = await load();
  } catch (error) {
    throw new SluiceError(
      'PACKAGE_MISSING',
      `Cannot place runs on Kubernetes: the package "${PACKAGE}" is not installed. Run "npm install ${PACKAGE}@1.4".`,
      { cause: error },
    );
  }
  const { KubeConfig } = loaded as { readonly KubeConfig: new () => KubeConfig };
  return new KubeConfig();
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const { statusCode = 0 } = response;
  const value = parseJson(text);
  if (statusCode >= 200 && statusCode < 300) return value;
  const { reason = '', message = text.slice(0, 500) } = (value ?? {}) as { reason?: string; message?: string };
  throw new ClusterError(statusCode, reason, message);
}

async function readLines(response: IncomingMessage, onLine: (line: unknown) => void): Promise<void> {
  let rest = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_ANSWER_BYTES) throw new Error('a line of the watch is too long');
      for (const line of lines) onLine(parseJson(line));
    }
  } catch (error) {
    // Ended by the signal, by silence, or by the network: the reader lists again in all cases.
    if (error instanceof ClusterError) throw error;
  }
}

/** Describes a failed request in one sentence, without a full stop. */
export function describeClusterProblem(error: unknown): string {
  if (!(error instanceof ClusterError)) return `the cluster does not answer: ${getErrorMessage(error)}`;
  return error.message.replace(/[.\s]+$/, '');
}
