import { describe, expect, it } from 'vitest';
import type { SinkError } from '../sink.js';
import { checkStatus } from './send-request.js';

const NOW = Date.parse('2026-11-15T08:00:00Z');

function catchRefusal(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Partial<SinkError> {
  try {
    checkStatus({ status, headers, body }, 'The sink', NOW);
  } catch (error) {
    return error as SinkError;
  }
  throw new Error('it was accepted');
}

describe('checkStatus', () => {
  it.each([200, 201, 204])('accepts %i', (status) => {
    const response = { status, headers: {}, body: 'fine' };
    expect(() => checkStatus(response, 'The sink', NOW)).not.toThrow();
  });

  it.each([400, 401, 403, 404, 409, 410, 422, 301, 304])('allows no retry after %i', (status) => {
    expect(catchRefusal(status)).toMatchObject({ code: 'SINK_REFUSED', isPermanent: true });
  });

  it.each([408, 425, 429, 500, 502, 503, 504])('allows a retry after %i', (status) => {
    expect(catchRefusal(status)).toMatchObject({ code: 'SINK_REFUSED', isPermanent: false });
  });

  it.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a date', { 'retry-after': 'Sun, 15 Nov 2026 08:01:00 GMT' }, 60_000],
    ['a date in the past', { 'retry-after': 'Sun, 15 Nov 2026 07:00:00 GMT' }, 0],
    ['a day, which is capped at an hour', { 'retry-after': '86400' }, 3_600_000],
    [
      'the reset of a rate limit',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 + 30) },
      30_000,
    ],
    [
      'a rate limit that is not reached',
      { 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': String(NOW / 1000 + 30) },
      undefined,
    ],
    ['an invalid header', { 'retry-after': 'soon' }, undefined],
  ])('reads the delay from %s', (_, headers, pause) => {
    expect(catchRefusal(429, headers).retryAfterMs).toBe(pause);
  });

  it('treats a 403 as too many requests only if it names a time or a limit', () => {
    expect(catchRefusal(403, { 'retry-after': '60' }).isPermanent).toBe(false);
    expect(catchRefusal(403, { 'x-ratelimit-remaining': '0' }).isPermanent).toBe(false);
    expect(catchRefusal(403, { 'x-ratelimit-remaining': '12' }).isPermanent).toBe(true);
  });

  it('reports the response of the sink in one short line, and what to do if a retry cannot help', () => {
    expect(catchRefusal(500, {}, `oh\n\n no${'!'.repeat(1000)}`).message).toMatch(
      /^The sink responded with status 500 \(oh no!{1,200}\)\.$/,
    );
    expect(catchRefusal(401).message).toBe(
      'The sink responded with status 401. Check the token, its permissions and the URL.',
    );
  });
});
