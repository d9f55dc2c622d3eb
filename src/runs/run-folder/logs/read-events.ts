import { decodeLine, getCount } from '../../../events/index.js';
import type { Emitted } from '../../../events/index.js';
import type { OpenFile } from '../../../base/index.js';
import { openLineTail } from '../../../base/files/index.js';
import type { RunFolder } from '../open-run-folder.js';
import { canTranslate, translateRunFolder } from '../translate-run-folder.js';
import { MAX_LINE_BYTES } from './run-logs.js';

/** Reads a log of events in order, even while it grows. */
export interface EventTail {
  /** Returns the next events, at least one; undefined if there are no more yet. */
  read(): Promise<readonly Emitted[] | undefined>;
  /** Whether the log existed when it was last read. */
  readonly exists: boolean;
  close(): Promise<void>;
}

/** Opens a log of one protocol. Lines that are not events with a position are skipped: an agent can write to the folder. */
export function openEventTail(open: OpenFile, protocol: Emitted['protocol']): EventTail {
  const lines = openLineTail(open, MAX_LINE_BYTES);
  const hasPosition = (event: object): boolean =>
    getCount(event, 'seq') !== null && (protocol === 'fcmp' || getCount(event, 'attempt_number') !== null);
  return {
    async read() {
      for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
        const values = line.text === undefined ? [] : (decodeLine(line.text) ?? []);
        const events = values.filter(hasPosition).map((event) => ({ protocol, event }) as Emitted);
        if (events.length > 0) return events;
      }
      return undefined;
    },
    get exists() {
      return lines.exists;
    },
    close: async () => lines.close(),
  };
}

/**
 * Reads a run's events of one protocol: from its log or, if that was deleted when the run was packed, translated from
 * the recorded bytes.
 *
 * @example
 * for await (const { event } of readRunEvents(await openRun(data, '01J…'), 'fcmp')) console.log(event.seq)
 */
export async function* readRunEvents(folder: RunFolder, protocol: Emitted['protocol']): AsyncGenerator<Emitted> {
  const tail = openEventTail(async () => folder.openLog(protocol), protocol);
  try {
    for (let events = await tail.read(); events !== undefined; events = await tail.read()) yield* events;
    if (tail.exists || !(await canTranslate(folder))) return;
  } finally {
    await tail.close();
  }
  for await (const emitted of translateRunFolder(folder)) if (emitted.protocol === protocol) yield emitted;
}
