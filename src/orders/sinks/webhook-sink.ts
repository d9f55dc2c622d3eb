import { createHmac, timingSafeEqual } from 'node:crypto';
import { SluiceError } from '../../base/index.js';
import type { NewOutboxMessage } from '../../records/index.js';
import { checkStatus, sendRequest } from './http/send-request.js';
import type { Sink } from './sink.js';

/** Options for a webhook. */
export interface WebhookOptions {
  readonly url: string;
  /** At least 16 characters; both sides know it. */
  readonly secret: string;
  readonly name?: string;
  /** 10 seconds by default. */
  readonly timeoutMs?: number;
  /** Off by default: what the name resolves to must be a public address. */
  readonly allowPrivateAddresses?: boolean;
  readonly clock?: () => number;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * POSTs each comment as JSON, signed. A webhook cannot be asked what it received, so a repeated delivery carries the same `Idempotency-Key`.
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
      await post(createPayload(message), formatKey(message), signal);
      return { deliveredTo: new URL(url).origin };
    },
  };
}

/** Sends an object as JSON, signed; `key` is equal for every delivery of the same thing. Throws if it was not taken. */
export type SignedPost = (payload: object, key: string, signal?: AbortSignal) => Promise<void>;

/** Creates the function that sends signed requests to a webhook; throws if the URL or the secret is invalid. */
export function createSignedPost(options: WebhookOptions): SignedPost {
  const {
    url,
    secret,
    name = 'webhook',
    timeoutMs = 10_000,
    allowPrivateAddresses = false,
    clock = Date.now,
  } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new SluiceError(
      'INVALID_SINK',
      `The webhook "${name}" needs an http or https URL, not "${url}". Correct it.`,
    );
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
    const answer = await sendRequest({
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
      maxResponseBytes: MAX_ANSWER_BYTES,
      allowPrivateAddresses,
      ...(signal === undefined ? {} : { signal }),
    });
    checkStatus(answer, `The webhook ${name}`, clock());
  };
}

/** The key is part of the body too, because the signature covers only that. */
function createPayload(message: NewOutboxMessage) {
  const { sink, issue_ref, trigger, body } = message;
  return { idempotency_key: formatKey(message), sink, issue_ref, trigger, body };
}

/**
 * The id of the message, which no other installation has, and its outbox key, in characters a header may have. Two
 * installations may have the same issue and run number.
 */
function formatKey({ id, sink, issue_ref, trigger }: NewOutboxMessage): string {
  return [id, sink, issue_ref, trigger].map(encodeURIComponent).join(' ');
}

/** Seconds since 1970, as the sender's clock had them. */
const TIMESTAMP_HEADER = 'sluice-timestamp';
/** `sha256=` and the HMAC in hexadecimal digits of `<timestamp>.<body>`. */
const SIGNATURE_HEADER = 'sluice-signature';
/** Equal for every delivery of one message: receivers drop what they have seen. */
const KEY_HEADER = 'idempotency-key';

/**
 * The signature of a webhook's body.
 *
 * @example
 * signWebhook('secret', '1794700800', '{}') // 'sha256=…'
 */
export function signWebhook(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/**
 * For receivers: whether a body was signed with the secret, and recently.
 *
 * @example
 * if (!isSignedWebhook({ secret, body, timestamp: headers['sluice-timestamp'], signature: headers['sluice-signature'] })) refuse()
 */
export function isSignedWebhook(delivery: {
  readonly secret: string;
  /** Exactly as it arrived, before any parsing. */
  readonly body: string;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly now?: number;
  /** How far the two clocks may be apart; five minutes by default. */
  readonly toleranceMs?: number;
}): boolean {
  const { secret, body, timestamp = '', signature = '', now = Date.now(), toleranceMs = 300_000 } = delivery;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Number(timestamp) * 1000 - now) > toleranceMs) return false;
  const expected = Buffer.from(signWebhook(secret, timestamp, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
