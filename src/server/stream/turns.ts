import type { EventLog } from '../../runs/index.js';

/**
 * A log whose reads take turns: one page is read and encoded in each turn of the event loop. Without that, the pages of many
 * readers of long runs follow each other without a pause, and nothing else is answered meanwhile.
 */
export function readInTurns(log: Pick<EventLog, 'read'>): Pick<EventLog, 'read'> {
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
