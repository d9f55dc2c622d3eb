import type { EventLog } from '../../store/ports/index.js';

/**
 * Limits log reads to one page per turn of the event loop. Without this limit, many readers of long runs would block
 * other requests.
 */
export function limitReads(log: Pick<EventLog, 'read'>): Pick<EventLog, 'read'> {
  const waiting: (() => void)[] = [];

  function next(): void {
    const resolve = waiting.shift();
    if (waiting.length > 0) setImmediate(next);
    resolve?.();
  }

  return {
    async read(query) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(next);
      });
      return log.read(query);
    },
  };
}
