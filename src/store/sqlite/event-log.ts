import { getPosition } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { readEventRange } from '../../runs/index.js';
import type { WatchableEventLog } from '../../runs/index.js';
import type { Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { Poller } from './poller.js';
import { readJson } from './rows.js';

interface Waiting {
  readonly runId: string;
  readonly events: readonly Emitted[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The events of all runs. Concurrent appends are batched into one write to the disk. */
export function createEventLog(database: Database, wakers: Wakers, poller: Poller): WatchableEventLog {
  const insert = database.prepare(`
    INSERT INTO events (run_id, protocol, attempt, seq, event) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const select = database.prepare(READ_EVENTS);
  let waiting: Waiting[] = [];

  async function writeWaiting(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      await database.write(() => {
        for (const { runId, events } of batch) {
          for (const emitted of events) {
            const { attempt, seq } = getPosition(emitted);
            insert.run(runId, emitted.protocol, attempt, seq, JSON.stringify(emitted.event));
          }
        }
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { runId, resolve } of batch) {
      resolve();
      wakers.wake(runId);
    }
  }

  return {
    append: async (runId, events) =>
      new Promise((resolve, reject) => {
        waiting.push({ runId, events, resolve, reject });
        if (waiting.length === 1) setImmediate(() => void writeWaiting());
      }),

    read: async (query) => {
      const { after, to, limit } = readEventRange(query);
      const { runId, protocol } = query;
      const bounds = [after.attempt, after.seq, to.attempt, to.seq] as const;
      const rows = await database.read(() => select.all(runId, protocol, ...bounds, limit));
      // The protocol was written with the event, so the pair is one that was appended.
      return rows.map((row) => ({ protocol, event: readJson(row, 'event') as Emitted['event'] }) as Emitted);
    },

    watch: (runId, wake) => poller.watch(runId, wake),
  };
}

/** Compared as pairs, which the primary key answers. */
export const READ_EVENTS = `
  SELECT event FROM events
  WHERE run_id = ? AND protocol = ? AND (attempt, seq) > (?, ?) AND (attempt, seq) <= (?, ?)
  ORDER BY attempt, seq LIMIT ?`;
