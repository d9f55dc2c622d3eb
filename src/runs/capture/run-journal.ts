import type { RunLogs } from '../../run-folder/index.js';
import type { DriftSummary, Emitted } from '../../events/index.js';
import type { EventFeed } from '../feed/event-feed.js';
import type { EventLog } from '../ports/event-log.js';

/** Where the events of a run go: first into its folder and the event log, then to those who read along. */
export interface RunJournal {
  /** Keeps events and tells them; told when this resolves. */
  write(events: readonly Emitted[]): Promise<void>;
  /** Keeps the count of what an attempt met and this version does not know. */
  writeDrift(summary: DriftSummary): Promise<void>;
  close(): Promise<void>;
}

/** See {@link RunJournal}. `log` is null where the files of the run folder are the log. */
export function createRunJournal(
  runId: string,
  { files, log, feed }: { readonly files: RunLogs; readonly log: EventLog | null; readonly feed: EventFeed },
): RunJournal {
  return {
    async write(events) {
      if (events.length === 0) return;
      await Promise.all([files.append(events), log?.append(runId, events)]);
      feed.publish(events);
    },
    writeDrift: async (summary) => files.appendDrift(summary),
    close: async () => files.close(),
  };
}
