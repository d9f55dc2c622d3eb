import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { getErrorMessage } from '../base/index.js';
import { ArchiveError } from './archive-error.js';
import type { ArchiveSettings } from './archive-settings.js';

/** A request to an object store that speaks S3. */
export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'HEAD' | 'DELETE';
  /** Below the prefix; undefined for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The longest answer that is read. */
  readonly maxBytes?: number;
}

/** An answer, read completely. */
export interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The code of an error: `NoSuchKey`. */
  readonly code: string | undefined;
}

/** Sends requests; see {@link createS3Client}. */
export interface S3Client {
  readonly place: string;
  /** Any answer that is neither refused nor a failure of the store, also `404`. */
  send(request: S3Request): Promise<S3Response>;
}

/** How often a request is tried, and its time-outs. */
export interface S3RetryOptions {
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly timeoutMs: number;
}

const DEFAULT_RETRY: S3RetryOptions = { tries: 4, firstPauseMs: 250, timeoutMs: 30_000 };
/** Long bodies get more time, for slow connections. */
const BYTES_PER_MS = 100;
/** Error documents and lists are small. */
const ANSWER_BYTES = 1024 * 1024;

/**
 * A client for S3-compatible stores. Failures that may be temporary (connections, timeouts, 429, 5xx) are retried with
 * growing pauses, then reported as an `ArchiveError`. Requests are signed with `aws4fetch`; no message or log contains a
 * credential.
 */
export async function createS3Client(
  settings: ArchiveSettings,
  retry: Partial<S3RetryOptions> = {},
): Promise<S3Client> {
  const { AwsV4Signer } = await import('aws4fetch').catch((cause: unknown) => {
    const message = 'Cannot use the archive: the package "aws4fetch" is not installed. Run "npm install aws4fetch".';
    throw new ArchiveError('ARCHIVE_PACKAGE_MISSING', message, { cause });
  });
  const { tries, firstPauseMs, timeoutMs } = { ...DEFAULT_RETRY, ...retry };
  const { place, region, credentials } = settings;

  async function sendOnce(request: S3Request): Promise<S3Response> {
    const { method, body, headers = {}, maxBytes = ANSWER_BYTES } = request;
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
    const answer = await fetch(signed.url, {
      method,
      headers: signed.headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs + Math.ceil(((body?.length ?? 0) + maxBytes) / BYTES_PER_MS)),
      ...(body === undefined ? {} : { body }),
    });
    const bytes = await readBody(answer, answer.ok ? maxBytes : ANSWER_BYTES);
    const code = answer.ok ? undefined : /<Code>([A-Za-z]{1,64})<\/Code>/u.exec(bytes.toString('latin1'))?.[1];
    return { status: answer.status, headers: answer.headers, body: bytes, code };
  }

  return {
    place,
    async send(request) {
      let last = '';
      for (let tried = 1; ; tried += 1) {
        try {
          const answer = await sendOnce(request);
          if (!isPassing(answer)) return checkAnswer(answer, settings);
          last = `it answered ${answer.status} ${answer.code ?? ''}`.trimEnd();
        } catch (error) {
          if (error instanceof ArchiveError) throw error;
          last = explain(error);
        }
        if (tried >= tries) break;
        await pause(firstPauseMs * 2 ** (tried - 1) * (0.5 + Math.random()));
      }
      const message = `The archive ${place} cannot be used: ${last}. Check the endpoint and the network; nothing is lost, the request is retried.`;
      throw new ArchiveError('ARCHIVE_UNAVAILABLE', message);
    },
  };
}

function formatUrl({ bucket, prefix, endpoint, region }: ArchiveSettings, { key, query = {} }: S3Request): string {
  // A store that is not AWS rarely has a host name per bucket; AWS wants one, except where a certificate could not match.
  const isInName = endpoint === undefined && !bucket.includes('.');
  const base = endpoint ?? new URL(`https://${isInName ? `${bucket}.` : ''}s3.${region}.amazonaws.com`);
  const parts = [...(isInName ? [] : [bucket]), ...(key === undefined ? [] : [prefix, key])].filter(
    (part) => part !== '',
  );
  const path = parts.flatMap((part) => part.split('/').map(encodeURIComponent)).join('/');
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/u, '')}/${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** Whether a failure is transient. */
function isPassing({ status, code }: S3Response): boolean {
  return status === 429 || status >= 500 || status === 408 || code === 'RequestTimeout' || code === 'SlowDown';
}

function checkAnswer(answer: S3Response, { place, bucket }: ArchiveSettings): S3Response {
  const { status, code } = answer;
  if (code === 'NoSuchBucket') {
    const message = `The bucket "${bucket}" of the archive does not exist. Create it, or correct "archive".`;
    throw new ArchiveError('ARCHIVE_BUCKET_MISSING', message);
  }
  if (status === 401 || status === 403) {
    const message = `The archive ${place} refused the request (${code ?? status}). Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions.`;
    throw new ArchiveError('ARCHIVE_REFUSED', message);
  }
  if (status < 300 || [404, 412, 416].includes(status)) return answer;
  const message = `The archive ${place} did not accept the request (${code ?? status}). Check the endpoint and the region.`;
  throw new ArchiveError('ARCHIVE_REFUSED', message);
}

async function readBody(answer: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (answer.body === null) return Buffer.alloc(0);
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new ArchiveError(
        'ARCHIVE_DAMAGED',
        `The archive sent more than the ${maxBytes} bytes that were requested.`,
      );
    }
    chunks.push(chunk);
  }
  const expected = answer.headers.get('content-length');
  if (expected !== null && answer.headers.get('content-encoding') === null && Number(expected) !== length) {
    throw new Error(`the answer ended after ${length} of ${expected} bytes`);
  }
  return Buffer.concat(chunks);
}

/** Returns the reason of a failed `fetch`, which is in the cause of its error. */
function explain(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined;
  return code ?? (getErrorMessage(cause ?? error) || 'the connection failed');
}
