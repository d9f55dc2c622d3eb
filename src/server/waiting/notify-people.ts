import { setTimeout as wait } from 'node:timers/promises';
import type { WaitingEntry } from '../../api/index.js';
import type { Logger } from '../../base/index.js';
import type { SignedPost } from '../../orders/index.js';
import { createWaitingList } from './waiting-list.js';
import type { WaitingList } from './waiting-list.js';

/** Options for notifying people. */
export interface NotifyOptions {
  readonly post: SignedPost;
  /** Links begin with it. */
  readonly consoleUrl?: string | undefined;
  readonly store: Parameters<typeof createWaitingList>[0];
  readonly logger: Logger;
  /** Aborted when the server shuts down. */
  readonly ending: AbortSignal;
}

/** How often the list is read. */
const EVERY_MS = 3000;
/** Requests of one round; the rest is sent in the next. */
const MAX_PER_ROUND = 10;
/** An entry is dropped after this many rounds without success; the console still has it. */
const MAX_TRIES = 20;

/** Starts to send a signed request for everything that begins to wait for a person, once for each. */
export function startNotifier({ post, consoleUrl = '', store, logger, ending }: NotifyOptions): {
  readonly stopped: Promise<void>;
} {
  const list = createWaitingList(store);
  const round = createRound(async (entry) =>
    post(toNotification(entry, consoleUrl), `waiting ${encodeURIComponent(entry.id)}`, ending),
  );
  async function work(): Promise<void> {
    while (!ending.aborted) {
      try {
        const failures = await round(await list.read());
        for (const error of failures) logger.warn('cannot notify people', { error: String(error) });
      } catch (error) {
        logger.warn('cannot read the open questions', { error: String(error) });
      }
      await wait(EVERY_MS, undefined, { signal: ending }).catch(() => undefined);
    }
  }
  return { stopped: work() };
}

/**
 * Creates the round that is done again and again: entries that are new are sent, those that failed are tried again, those
 * that wait no longer are forgotten. What is remembered is no more than what waits.
 */
export function createRound(
  send: (entry: WaitingEntry) => Promise<void>,
): (list: WaitingList) => Promise<readonly unknown[]> {
  /** How often each entry was tried; infinity once it was sent. */
  let tries = new Map<string, number>();
  return async ({ items }) => {
    tries = new Map(items.flatMap(({ id }) => (tries.has(id) ? [[id, tries.get(id) ?? 0]] : [])));
    const countTries = ({ id }: WaitingEntry): number => tries.get(id) ?? 0;
    // Entries that were never tried come first, so that entries that always fail do not block them.
    const due = items
      .filter((entry) => countTries(entry) < MAX_TRIES)
      .toSorted((one, other) => countTries(one) - countTries(other))
      .slice(0, MAX_PER_ROUND);
    const failures: unknown[] = [];
    for (const entry of due) {
      try {
        await send(entry);
        tries.set(entry.id, Number.POSITIVE_INFINITY);
      } catch (error) {
        failures.push(error);
        tries.set(entry.id, countTries(entry) + 1);
      }
    }
    return failures;
  };
}

/** A text for a chat message has the beginning. */
const MAX_TEXT_LENGTH = 1000;

/**
 * An entry as the webhook gets it: what waits, in which words, and where it is answered.
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
    text: text.slice(0, MAX_TEXT_LENGTH),
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
