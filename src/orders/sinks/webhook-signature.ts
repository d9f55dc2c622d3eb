import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds since 1970, as the sender's clock had them. */
export const TIMESTAMP_HEADER = 'sluice-timestamp';
/** `sha256=` and the HMAC in hexadecimal digits of `<timestamp>.<body>`. */
export const SIGNATURE_HEADER = 'sluice-signature';
/** Equal for every delivery of one message: receivers drop what they have seen. */
export const KEY_HEADER = 'idempotency-key';

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
 * For receivers: whether a body came from somebody who knows the secret, and not long ago.
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
