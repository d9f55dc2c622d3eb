import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { getErrorMessage, SluiceError } from '../../base/index.js';
import type { ArchiveSettings } from './archive-settings.js';

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'HEAD' | 'DELETE';
  /** Relative to the prefix; undefined for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The maximum length of the response body. */
  readonly maxBytes?: number;
}

export interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The S3 error code, such as `NoSuchKey`. */
  readonly code: string | undefined;
}

export type S3Client = Awaited<ReturnType<typeof createS3Client>>;

/** The number of attempts per request, the pause after the first attempt, and the timeout of each. */
const DEFAULT_RETRY = { maxAttempts: 4, firstPauseMs: 250, timeoutMs: 30_000 };
export type S3RetryOptions = Partial<typeof DEFAULT_RETRY>;
/** The slowest accepted connection: long bodies get more time than `timeoutMs`. */
const BYTES_PER_MS = 100;
/** The default maximum length of a response: error documents and lists are small. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** A list of this many keys, of at most 1,024 bytes each, fits into {@link MAX_RESPONSE_BYTES}. */
const MAX_LISTED = 100;

/**
 * Creates a client for S3-compatible stores. Transient failures (connections, timeouts, 429, 5xx) are retried with
 * increasing delays, then reported as an `ArchiveError`. Requests are signed with `aws4fetch`; no message or log
 * contains a credential.
 */
export async function createS3Client(settings: ArchiveSettings, retry: S3RetryOptions = {}) {
  const { AwsV4Signer } = await import('aws4fetch').catch((cause: unknown) => {
    const message = 'Cannot use the archive: the package "aws4fetch" is not installed. Run "npm install aws4fetch".';
    throw new ArchiveError('ARCHIVE_PACKAGE_MISSING', message, { cause });
  });
  const { maxAttempts, firstPauseMs, timeoutMs } = { ...DEFAULT_RETRY, ...retry };
  const { location, region, credentials } = settings;

  async function sendOnce(request: S3Request): Promise<S3Response> {
    const { method, body, headers = {}, maxBytes = MAX_RESPONSE_BYTES } = request;
    const signer = new AwsV4Signer({
      ...credentials,
      region,
      service: 's3',
      method,
      url: formatUrl(settings, request),
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
    });
    const signed = await signer.sign();
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs + Math.ceil(((body?.length ?? 0) + maxBytes) / BYTES_PER_MS)),
      ...(body === undefined ? {} : { body }),
    });
    const bytes = await readBody(response, response.ok ? maxBytes : MAX_RESPONSE_BYTES, location);
    const code = response.ok ? undefined : /<Code>([A-Za-z]{1,64})<\/Code>/u.exec(bytes.toString('latin1'))?.[1];
    return { status: response.status, headers: response.headers, body: bytes, code };
  }

  /** Returns the response even if its status is 404, 412 or 416; throws an `ArchiveError` for any other failure. */
  async function send(request: S3Request): Promise<S3Response> {
    let lastFailure = '';
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await sendOnce(request);
        if (!isTransient(response)) return checkResponse(request, response, settings);
        lastFailure = `it responded with ${response.status} ${response.code ?? ''}`.trimEnd();
      } catch (error) {
        if (error instanceof ArchiveError) throw error;
        lastFailure = describeFailure(error);
      }
      if (attempt >= maxAttempts) break;
      await pause(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
    }
    const message = `The archive ${location} is unavailable: ${lastFailure}. Check the endpoint and the network. Uploads are retried automatically.`;
    throw new ArchiveError('ARCHIVE_UNAVAILABLE', message);
  }

  return {
    location,
    send,
    /** Lists the names of the objects in a folder, at most {@link MAX_LISTED} of them. */
    async listNames(folder: string): Promise<readonly string[]> {
      const prefix = `${settings.prefix === '' ? '' : `${settings.prefix}/`}${folder}/`;
      const query = { prefix, 'max-keys': String(MAX_LISTED) };
      const { status, body } = await send({ method: 'GET', query });
      const text = Buffer.from(body).toString('utf8');
      if (status !== 200 || !text.includes('<ListBucketResult')) {
        const message = `Cannot list "${folder}" in the archive ${location}: the store did not return a list. Check that the store supports ListObjects.`;
        throw new ArchiveError('ARCHIVE_REFUSED', message);
      }
      return [...text.matchAll(/<Key>[^<]*\/([^<>&/]+)<\/Key>/gu)].flatMap(([, name]) => name ?? []);
    },
  };
}

function formatUrl({ bucket, prefix, endpoint, region }: ArchiveSettings, { key, query = {} }: S3Request): string {
  // Stores other than AWS rarely have a host name per bucket. AWS expects one unless the bucket name contains a dot,
  // because its certificate would not match.
  const isBucketInHost = endpoint === undefined && !bucket.includes('.');
  const base = endpoint ?? new URL(`https://${isBucketInHost ? `${bucket}.` : ''}s3.${region}.amazonaws.com`);
  const parts = [...(isBucketInHost ? [] : [bucket]), ...(key === undefined ? [] : [prefix, key])].filter(
    (part) => part !== '',
  );
  const path = parts.flatMap((part) => part.split('/').map(encodeURIComponent)).join('/');
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/u, '')}/${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // Stores expect a space as %20, as in the signature; a plus sign in a value is already encoded.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

/** The status of a request that the store does not support. */
const NOT_IMPLEMENTED = 501;

function isTransient({ status, code }: S3Response): boolean {
  return (
    status === 429 ||
    (status >= 500 && status !== NOT_IMPLEMENTED) ||
    status === 408 ||
    code === 'RequestTimeout' ||
    code === 'SlowDown'
  );
}

function checkResponse(
  { method, query }: S3Request,
  response: S3Response,
  { location, bucket }: ArchiveSettings,
): S3Response {
  const { status, code } = response;
  // Nothing else that is missing makes the writing of an object fail.
  if (code === 'NoSuchBucket' || (status === 404 && method === 'PUT' && query === undefined)) {
    const message = `The bucket "${bucket}" of the archive does not exist. Create it, or correct the setting "archive".`;
    throw new ArchiveError('ARCHIVE_BUCKET_MISSING', message);
  }
  if (status === 401 || status === 403) {
    const message = `The archive ${location} refused the request (${code ?? status}). Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions.`;
    throw new ArchiveError('ARCHIVE_REFUSED', message);
  }
  if (status < 300 || [404, 412, 416].includes(status)) return response;
  const message = `The archive ${location} rejected the request (${code ?? status}). Check the endpoint and the region.`;
  throw new ArchiveError('ARCHIVE_REFUSED', message);
}

async function readBody(response: Response, maxBytes: number, location: string): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (response.body === null) return Buffer.alloc(0);
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new ArchiveError(
        'ARCHIVE_DAMAGED',
        `The archive ${location} sent more than ${maxBytes} bytes, the maximum for this request. Check the endpoint.`,
      );
    }
    chunks.push(chunk);
  }
  const expected = response.headers.get('content-length');
  if (expected !== null && response.headers.get('content-encoding') === null && Number(expected) !== length) {
    throw new Error(`the response ended after ${length} of ${expected} bytes`);
  }
  return Buffer.concat(chunks);
}

/** Returns why `fetch` failed, which is in its error's cause. */
function describeFailure(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined;
  return code ?? (getErrorMessage(cause ?? error) || 'the connection failed');
}

/** Archive error codes. A closed list: `docs/errors.md` explains what to do about each. */
export const ARCHIVE_ERROR_CODES = [
  'ARCHIVE_UNAVAILABLE',
  'ARCHIVE_REFUSED',
  'ARCHIVE_BUCKET_MISSING',
  'ARCHIVE_DAMAGED',
  'ARCHIVE_PACKAGE_MISSING',
] as const;

/** The archive cannot be reached, rejects a request, or contains something other than what was uploaded. */
export class ArchiveError extends SluiceError<(typeof ARCHIVE_ERROR_CODES)[number]> {
  override readonly name = 'ArchiveError';
}
