import { createWaker } from '../dispatch/index.js';
import type { Store } from '../store/index.js';
import { RequestError } from './request-error.js';

/** What handing a reply over needs. */
export interface TellReplyOptions {
  readonly store: Pick<Store, 'postReply' | 'findRun' | 'read' | 'watch'>;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
  /** Nobody waits longer for the answer. */
  readonly patienceMs: number;
}

/** Wake-ups may be late or missing: looked at least as often. */
const LOOK_MS = 250;
/** Behind every event of an attempt. */
const LAST_SEQ = 999_999_999;

/**
 * Hands a reply to the run that waits for it, and returns when it stands in the events of the run. Until then it is only
 * kept for a worker that may be gone the next moment, which is nothing to be acknowledged.
 */
export async function tellReply({ store, ending, patienceMs }: TellReplyOptions, id: string, text: string) {
  const attempt = await lastAttempt(store, id);
  const status = await store.postReply(id, text);
  if (status !== 'posted') return status;
  const until = performance.now() + patienceMs;
  const waker = createWaker();
  const stopWatching = store.watch(id, waker.wake);
  try {
    while (!ending.aborted && performance.now() < until) {
      // In this order: what was told before the end is seen.
      const run = await store.findRun(id);
      if ((await attemptAfter(store, id, attempt)) !== undefined) return status;
      if (run?.state === 'ended') {
        throw new RequestError(
          'RUN_NOT_WAITING',
          'The run ended before it could be told the reply. Start another that holds question and answer.',
        );
      }
      await waker.sleep(LOOK_MS);
    }
  } finally {
    stopWatching();
  }
  throw new RequestError(
    'REQUEST_TIMED_OUT',
    'The reply is kept, but no worker has told it to the run yet. Look at its events.',
  );
}

/** A reply begins the next attempt of a run. */
async function lastAttempt(store: TellReplyOptions['store'], id: string): Promise<number> {
  for (let last = 1; ;) {
    const next = await attemptAfter(store, id, last);
    if (next === undefined) return last;
    last = next;
  }
}

async function attemptAfter(
  store: TellReplyOptions['store'],
  id: string,
  attempt: number,
): Promise<number | undefined> {
  const [first] = await store.read({ runId: id, protocol: 'rasp', after: `${attempt}:${LAST_SEQ}`, limit: 1 });
  return first?.protocol === 'rasp' ? first.event.attempt_number : undefined;
}
