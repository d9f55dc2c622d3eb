import { SluiceError } from '../../base/index.js';
import type { NewOutboxMessage } from '../../records/index.js';
import { checkStatus } from './http/check-status.js';
import { sendRequest } from './http/send-request.js';
import type { Sink } from './sink.js';
import { KEY_HEADER, SIGNATURE_HEADER, signWebhook, TIMESTAMP_HEADER } from './webhook-signature.js';

/** What a webhook needs to know. */
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
 * POSTs each comment as JSON, signed. It cannot be searched: a repeated delivery carries the same `Idempotency-Key`.
 *
 * @example
 * createWebhookSink({ url: 'https://example.org/comments', secret })
 */
export function createWebhookSink(options: WebhookOptions): Sink {
  const {
    url,
    secret,
    name = 'webhook',
    timeoutMs = 10_000,
    allowPrivateAddresses = false,
    clock = Date.now,
  } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new SluiceError('INVALID_SINK', `The webhook ${name} needs an http or https address, not ${url}.`);
  }
  if (secret.length < 16) {
    throw new SluiceError('INVALID_SINK', `The secret of the webhook ${name} must have at least 16 characters.`);
  }
  return {
    name,
    timeoutMs,
    accepts: () => true,
    async send(message, signal) {
      const body = JSON.stringify(payloadOf(message));
      const timestamp = String(Math.floor(clock() / 1000));
      const answer = await sendRequest({
        method: 'POST',
        url,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'sluice',
          [TIMESTAMP_HEADER]: timestamp,
          [SIGNATURE_HEADER]: signWebhook(secret, timestamp, body),
          [KEY_HEADER]: keyOf(message),
        },
        body,
        timeoutMs,
        maxResponseBytes: MAX_ANSWER_BYTES,
        allowPrivateAddresses,
        signal,
      });
      checkStatus(answer, `The webhook ${name}`, clock());
      return { deliveredTo: new URL(url).origin };
    },
  };
}

function payloadOf({ sink, issue_ref, trigger, body }: NewOutboxMessage) {
  return { sink, issue_ref, trigger, body };
}

/** The outbox key in characters a header may have. */
function keyOf({ sink, issue_ref, trigger }: NewOutboxMessage): string {
  return [sink, issue_ref, trigger].map(encodeURIComponent).join(' ');
}
