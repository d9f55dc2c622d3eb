import { SluiceError } from '../../base/index.js';
import { createWaker } from '../../orders/dispatch/index.js';
import { encodeReply } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import { RequestError } from '../http/problem.js';

/** Options for replying to a run. */
export interface ReplyOptions {
  readonly store: Pick<Store, 'postReply' | 'findRun' | 'read' | 'watch'>;
  /** Aborted when the server shuts down. */
  readonly shutdownSignal: AbortSignal;
  /** The maximum time to wait for the run. */
  readonly timeoutMs: number;
}

/** How often the store is polled, because its notifications can be late or missing. */
export const POLL_MS = 250;
/** Larger than any sequence number of an event. */
const LAST_SEQ = 999_999_999;

/**
 * Stores a reply to a waiting run, and returns once the run has received it. A reply that is only stored is not
 * acknowledged, because the worker that should receive it might have died. Throws `INVALID_REPLY` for an empty reply.
 */
export async function replyToRun({ store, shutdownSignal, timeoutMs }: ReplyOptions, id: string, text: string) {
  const reply = encodeReply(text);
  if (reply.trim() === '') throw new SluiceError('INVALID_REPLY', 'The reply is empty. Send some text.');
  const attempt = await findLastAttempt(store, id);
  const status = await store.postReply(id, reply);
  if (status !== 'posted') return status;
  const deadline = performance.now() + timeoutMs;
  const waker = createWaker();
  const stopWatching = store.watch(id, waker.wake);
  try {
    while (!shutdownSignal.aborted && performance.now() < deadline) {
      // The run is loaded before its events, so no event is missed if it has ended.
      const run = await store.findRun(id);
      if ((await findAttemptAfter(store, id, attempt)) !== undefined) return status;
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
    "The reply is stored, but the run has not received it yet. Check the run's events.",
  );
}

/** Finds the current attempt's number. A reply starts the next attempt, which shows that the run has received it. */
async function findLastAttempt(store: ReplyOptions['store'], id: string): Promise<number> {
  for (let last = 1; ;) {
    const next = await findAttemptAfter(store, id, last);
    if (next === undefined) return last;
    last = next;
  }
}

async function findAttemptAfter(
  store: ReplyOptions['store'],
  id: string,
  attempt: number,
): Promise<number | undefined> {
  const [first] = await store.read({ runId: id, protocol: 'rasp', after: `${attempt}:${LAST_SEQ}`, limit: 1 });
  return first?.protocol === 'rasp' ? first.event.attempt_number : undefined;
}
