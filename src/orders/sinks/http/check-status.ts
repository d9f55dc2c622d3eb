import { SinkError } from '../sink-error.js';
import type { HttpAnswer } from './send-request.js';

/** Longer than any sensible pause: a sink must not put a message off for ever. */
const LONGEST_PAUSE_MS = 3_600_000;

/** Passes an answer of success on and turns every other into a failure that says whether to try again, and when. */
export function checkStatus(answer: HttpAnswer, name: string, now: number): HttpAnswer {
  const { status } = answer;
  if (status >= 200 && status < 300) return answer;
  const said = answer.body.slice(0, 200).replaceAll(/\s+/g, ' ').trim();
  const isFinal = isPermanent(answer);
  const advice = isFinal ? 'check its token, rights and address' : 'it is asked again';
  throw new SinkError('SINK_REFUSED', `${name} answered ${status}; ${advice}${said === '' ? '.' : `: ${said}`}`, {
    isPermanent: isFinal,
    retryAfterMs: pauseOf(answer, now),
  });
}

/** A forge answers 403 both for missing rights and for too many requests; the second names a time. */
function isPermanent({ status, headers }: HttpAnswer): boolean {
  if (status === 403) return headers['retry-after'] === undefined && headers['x-ratelimit-remaining'] !== '0';
  return status < 500 && status !== 408 && status !== 425 && status !== 429;
}

function pauseOf({ headers }: HttpAnswer, now: number): number | undefined {
  const after = headers['retry-after'];
  const reset = headers['x-ratelimit-remaining'] === '0' ? headers['x-ratelimit-reset'] : undefined;
  let pause = Number.NaN;
  if (after !== undefined) pause = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  else if (typeof reset === 'string') pause = Number(reset) * 1000 - now;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), LONGEST_PAUSE_MS);
}
