import { createHmac, timingSafeEqual } from 'node:crypto';
import { SluiceError } from '../../base/index.js';
import { checkStatus, sendRequest } from './http/send-request.js';
import type { OutgoingMessage, Sink } from './sink.js';

/** Options for a webhook. */
export interface WebhookOptions {
  readonly url: string;
  /** At least 16 characters, shared with the receiver. */
  readonly secret: string;
  readonly name?: string;
  /** 10 seconds by default. */
  readonly timeoutMs?: number;
  /** Whether the host may resolve to a private address; false by default. */
  readonly allowPrivateAddresses?: boolean;
  readonly clock?: () => number;
}

const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Creates a sink that POSTs each comment as signed JSON. A webhook is not searchable for earlier deliveries, so a
 * repeated delivery has the same `Idempotency-Key`.
 *
 * @example
 * createWebhookSink({ url: 'https://example.org/comments', secret })
 */
export function createWebhookSink(options: WebhookOptions): Sink {
  const { url, name = 'webhook', timeoutMs = 10_000 } = options;
  const post = createSignedPost({ ...options, name, timeoutMs });
  return {
    name,
    timeoutMs,
    accepts: () => true,
    async send(message, signal) {
      const { sink, issue_ref, trigger, body } = message;
      const key = formatKey(message);
      // Also part of the body, because the signature does not cover its header.
      await post({ idempotency_key: key, sink, issue_ref, trigger, body }, key, signal);
      return { deliveredTo: new URL(url).origin };
    },
  };
}

/** Sends an object as signed JSON; `key` is the same for every delivery of it. Throws unless the receiver accepts it. */
export type SignedPost = (payload: object, key: string, signal?: AbortSignal) => Promise<void>;

/** Creates the function that sends signed requests to a webhook; throws if the URL or the secret is invalid. */
export function createSignedPost(options: WebhookOptions): SignedPost {
  const { url, secret, name = 'webhook', timeoutMs = 10_000, allowPrivateAddresses = false } = options;
  const { clock = Date.now } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new SluiceError('INVALID_SINK', `Invalid URL "${url}" for the webhook "${name}". Use an http or https URL.`);
  }
  if (secret.length < 16) {
    throw new SluiceError(
      'INVALID_SINK',
      `The secret of the webhook "${name}" is too short. Use at least 16 characters.`,
    );
  }
  return async (payload, key, signal) => {
    const body = JSON.stringify(payload);
    const timestamp = String(Math.floor(clock() / 1000));
    const response = await sendRequest({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'sluice',
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: signWebhook(secret, timestamp, body),
        [KEY_HEADER]: key,
      },
      body,
      timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      allowPrivateAddresses,
      ...(signal === undefined ? {} : { signal }),
    });
    checkStatus(response, `The webhook "${name}"`, clock());
  };
}

/**
 * Formats the idempotency key: the ids of the installation and the message, its sink, issue and trigger, in characters
 * that are allowed in a header. Two installations can have the same issue and run number.
 */
function formatKey({ installation, id, sink, issue_ref, trigger }: OutgoingMessage): string {
  return [installation, id, sink, issue_ref, trigger].map(encodeURIComponent).join(' ');
}

/** Seconds since 1970, by the sender's clock. */
const TIMESTAMP_HEADER = 'sluice-timestamp';
/** `sha256=` and the HMAC of `<timestamp>.<body>`, in hexadecimal. */
const SIGNATURE_HEADER = 'sluice-signature';
/** The same for every delivery of one message: receivers ignore repeats. */
const KEY_HEADER = 'idempotency-key';

/** Returns the signature of a webhook's body. */
function signWebhook(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/**
 * For receivers: whether a body was signed with the secret, and recently enough.
 *
 * @example
 * if (!isSignedWebhook({ secret, body, timestamp: headers['sluice-timestamp'], signature: headers['sluice-signature'] })) refuse()
 */
export function isSignedWebhook(delivery: {
  readonly secret: string;
  /** The raw body, before any parsing. */
  readonly body: string;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly now?: number;
  /** The maximum difference between the two clocks; five minutes by default. */
  readonly toleranceMs?: number;
}): boolean {
  const { secret, body, timestamp = '', signature = '', now = Date.now(), toleranceMs = 300_000 } = delivery;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Number(timestamp) * 1000 - now) > toleranceMs) return false;
  const expected = Buffer.from(signWebhook(secret, timestamp, body));
  const received = Buffer.from(signature);
  return received.length === expected.length && timingSafeEqual(received, expected);
}
