import type { Database } from './database.js';
import { QUEUE, readRequestsKey, type Wakers } from '../wakers.js';

/** Notices what other processes have written, while anyone watches. */
export interface Poller {
  watch(key: string, wake: () => void): () => void;
  close(): void;
}

/** SQLite has no announcements: this is how late a watcher in another process may be. */
const POLL_MS = 50;

/**
 * Asks SQLite in short intervals whether another connection has written; if so, wakes those who take work, and the
 * watchers of runs that have new events or requests. What this process writes wakes its watchers without waiting.
 */
export function createPoller(database: Database, wakers: Wakers): Poller {
  const readVersion = database.prepare('PRAGMA data_version');
  const findLast = database.prepare(`
    SELECT (SELECT max(seq) FROM events WHERE run_id = ?1 AND protocol = 'fcmp') AS fcmp,
      (SELECT attempt || ':' || seq FROM events WHERE run_id = ?1 AND protocol = 'rasp'
       ORDER BY attempt DESC, seq DESC LIMIT 1) AS rasp`);
  const lastOf = (runId: string): string => {
    const row = findLast.get(runId) ?? {};
    return JSON.stringify([row['fcmp'], row['rasp']]);
  };
  const findRequests = database.prepare('SELECT cancel_requested, reply FROM runs WHERE id = ?');
  const requestsTo = (run: string): string => JSON.stringify(findRequests.get(run) ?? null);
  /** What was seen last of each key: the last events of a run, or what was requested of it. */
  const seen = new Map<string, string>();
  let version: unknown;
  let isLooking = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const current = readVersion.get()?.['data_version'];
    if (current === version) return;
    for (const key of wakers.keys()) {
      if (key === QUEUE) {
        wakers.wake(QUEUE);
        continue;
      }
      const run = readRequestsKey(key);
      const last = run === undefined ? lastOf(key) : requestsTo(run);
      if (last !== seen.get(key)) wakers.wake(key);
      seen.set(key, last);
    }
    // Only now: if the reading above failed because the file is locked, the next look does it again.
    version = current;
  }

  /** One look at a time: while the file is locked each would wait, and they would pile up. */
  function lookAgain(): void {
    if (isLooking) return;
    isLooking = true;
    void database
      .read(look)
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }

  return {
    watch(key, wake) {
      const stop = wakers.watch(key, wake);
      // What was written before anyone watched may have gone unnoticed: the next look is for everybody.
      version = undefined;
      timer ??= setInterval(lookAgain, POLL_MS).unref();
      return () => {
        stop();
        const keys = wakers.keys();
        if (!keys.includes(key)) seen.delete(key);
        if (keys.length === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    close() {
      clearInterval(timer);
      timer = undefined;
      wakers.clear();
    },
  };
}
