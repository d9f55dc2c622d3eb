import { setTimeout as wait } from 'node:timers/promises';
import { cutText } from '../../base/index.js';
import type { WaitingEntry } from '../api/index.js';
import type { Logger } from '../../base/index.js';
import type { SignedPost } from '../../orders/index.js';
import { createWaitingList } from './waiting-list.js';
import type { WaitingList } from './waiting-list.js';
import type { OutboxStore } from '../../store/ports/index.js';

/** Options for notifying people. */
export interface NotifyOptions {
  readonly post: SignedPost;
  /** The base URL of all links. */
  readonly consoleUrl?: string | undefined;
  readonly store: Parameters<typeof createWaitingList>[0] & Pick<OutboxStore, 'readInstallation'>;
  readonly logger: Logger;
  /** Aborted when the server shuts down. */
  readonly shutdownSignal: AbortSignal;
}

/** How often the list is polled. */
const POLL_MS = 3000;
/** The maximum number of requests per round. The rest are sent in later rounds. */
const MAX_PER_ROUND = 10;
/** An entry is dropped after this many failed attempts, about ten hours; the console still shows it. */
const MAX_ATTEMPTS = 20;
/** The pause after the first failure. It doubles after each further failure, up to an hour. */
const FIRST_PAUSE_MS = 3000;
const MAX_PAUSE_MS = 3_600_000;

/**
 * Sends a signed request for each new entry in the list of everything that waits for a human, until the server shuts
 * down.
 */
export function startNotifier({ post, consoleUrl = '', store, logger, shutdownSignal }: NotifyOptions): {
  readonly stopped: Promise<void>;
} {
  const list = createWaitingList(store);
  const sendRound = createRound(async (entry) => {
    // The key is also in the body, because the signature covers only the body.
    const key = `${await store.readInstallation()} waiting ${encodeURIComponent(entry.id)}`;
    await post({ ...toNotification(entry, consoleUrl), idempotency_key: key }, key, shutdownSignal);
  });
  async function work(): Promise<void> {
    while (!shutdownSignal.aborted) {
      try {
        const failures = await sendRound(await list.read());
        for (const error of failures) logger.warn('cannot send notification', { error: String(error) });
      } catch (error) {
        logger.warn('cannot read the waiting list', { error: String(error) });
      }
      await wait(POLL_MS, undefined, { signal: shutdownSignal }).catch(() => undefined);
    }
  }
  return { stopped: work() };
}

/** The delivery state of an entry. */
interface DeliveryState {
  readonly count: number;
  /** When to try again, in milliseconds since 1970; infinity if the entry was sent or dropped. */
  readonly retryAt: number;
}

const NOT_ATTEMPTED: DeliveryState = { count: 0, retryAt: -Infinity };

/**
 * Creates a function that sends one round of concurrent requests: for new entries, and again for failed entries whose
 * pause is over. Entries that are no longer in the list are dropped, so memory use is bounded by the list.
 */
export function createRound(
  send: (entry: WaitingEntry) => Promise<void>,
  clock: () => number = Date.now,
): (list: WaitingList) => Promise<readonly unknown[]> {
  let attempts = new Map<string, DeliveryState>();
  return async ({ items }) => {
    attempts = new Map(items.map(({ id }) => [id, attempts.get(id) ?? NOT_ATTEMPTED]));
    const getAttempts = ({ id }: WaitingEntry): DeliveryState => attempts.get(id) ?? NOT_ATTEMPTED;
    // Entries with the fewest attempts come first, so entries that always fail do not block them.
    const dueEntries = items
      .filter((entry) => getAttempts(entry).retryAt <= clock())
      .toSorted((one, other) => getAttempts(one).count - getAttempts(other).count)
      .slice(0, MAX_PER_ROUND);
    const failures: unknown[] = [];
    await Promise.all(
      dueEntries.map(async (entry) => {
        const count = getAttempts(entry).count + 1;
        try {
          await send(entry);
          attempts.set(entry.id, { count, retryAt: Infinity });
        } catch (error) {
          failures.push(error);
          const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
          attempts.set(entry.id, { count, retryAt: count < MAX_ATTEMPTS ? clock() + pause : Infinity });
        }
      }),
    );
    return failures;
  };
}

/** The maximum text length: enough for a chat message. */
const MAX_TEXT_LENGTH = 1000;

/**
 * Converts an entry for the webhook: its kind, its text, and the page where a user can answer it.
 *
 * @example
 * toNotification(entry, 'https://sluice.example.org') // { event: 'waiting', kind: 'question', … }
 */
export function toNotification(entry: WaitingEntry, consoleUrl: string): object {
  const { kind, id, at, text } = entry;
  const issueRef = entry.kind === 'sink' ? null : entry.issue_ref;
  return {
    event: 'waiting',
    id,
    kind,
    at,
    text: cutText(text, MAX_TEXT_LENGTH),
    issue_ref: issueRef,
    url: `${consoleUrl.replace(/\/$/, '')}${findPath(entry)}`,
  };
}

/** Returns the console path of an entry. */
function findPath(entry: WaitingEntry): string {
  return entry.kind === 'result'
    ? `/inbox/${encodeURIComponent(entry.id)}`
    : `/inbox?entry=${encodeURIComponent(entry.id)}`;
}
