import { createWaker } from '../../dispatch/index.js';
import type { Store } from '../../store/index.js';
import { RequestError } from '../http/problem.js';

/** Options for replying. */
export interface ReplyOptions {
  readonly store: Pick<Store, 'postReply' | 'findRun' | 'read' | 'watch'>;
  /** Aborted when the server shuts down. */
  readonly ending: AbortSignal;
  /** The longest time to wait. */
  readonly timeoutMs: number;
}

/** Notifications may be late or missing, so the store is polled too. */
export const POLL_MS = 250;
/** After every event of an attempt. */
const LAST_SEQ = 999_999_999;

/**
 * Posts a reply to a waiting run, and returns when the run has published it. Before that the reply is only stored for a
 * worker that may have died, which must not be acknowledged.
 */
export async function replyToRun({ store, ending, timeoutMs }: ReplyOptions, id: string, text: string) {
  const attempt = await lastAttempt(store, id);
  const status = await store.postReply(id, text);
  if (status !== 'posted') return status;
  const until = performance.now() + timeoutMs;
  const waker = createWaker();
  const stopWatching = store.watch(id, waker.wake);
  try {
    while (!ending.aborted && performance.now() < until) {
      // In this order, so that events before the end are seen.
      const run = await store.findRun(id);
      if ((await attemptAfter(store, id, attempt)) !== undefined) return status;
      if (run?.state === 'ended') {
        throw new RequestError(
          'RUN_NOT_WAITING',
          'The run ended before it received the reply. Start another run with the question and the answer in its prompt.',
        );
      }
      await waker.sleep(POLL_MS);
    }
  } finally {
    stopWatching();
  }
  throw new RequestError(
    'REQUEST_TIMED_OUT',
    'The reply is stored, but the run has not received it yet. Watch the events of the run.',
  );
}

/** A reply starts the next attempt of a run. */
async function lastAttempt(store: ReplyOptions['store'], id: string): Promise<number> {
  for (let last = 1; ;) {
    const next = await attemptAfter(store, id, last);
    if (next === undefined) return last;
    last = next;
  }
}

async function attemptAfter(store: ReplyOptions['store'], id: string, attempt: number): Promise<number | undefined> {
  const [first] = await store.read({ runId: id, protocol: 'rasp', after: `${attempt}:${LAST_SEQ}`, limit: 1 });
  return first?.protocol === 'rasp' ? first.event.attempt_number : undefined;
}
