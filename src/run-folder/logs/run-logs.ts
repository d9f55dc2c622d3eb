import { encodeLines, packEvents } from '../../events/index.js';
import type { DriftSummary, Emitted, EventPack } from '../../events/index.js';
import { listKeys } from '../../base/index.js';
import { RUN_LOGS } from '../file-names.js';
import type { RunLog } from '../file-names.js';
import type { WritableRunFolder } from '../open-run-folder.js';
import { openLogFile } from './log-file.js';
import type { LogFile } from './log-file.js';

/** The append-only logs of an active run. */
export interface RunLogs {
  /**
   * Appends each event to the logs it belongs to; resolves once all are in the files. `packs` are the same events in packed
   * form, if the caller has them.
   */
  append(events: readonly Emitted[], packs?: readonly EventPack[]): Promise<void>;
  /** Appends the counts of unknown types and fields in an attempt's output. */
  appendDrift(summary: DriftSummary): Promise<void>;
  /** Syncs appended data to disk, so it survives a power failure. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a run's three logs for appending. Lines torn by a crash are removed first.
 *
 * @example
 * const logs = await openRunLogs(folder)
 * await logs.append(translator.push('stdout', bytes))
 */
export async function openRunLogs(folder: WritableRunFolder): Promise<RunLogs> {
  const logs = new Map<RunLog, LogFile>();
  for (const log of listKeys(RUN_LOGS)) logs.set(log, await openLogFile(folder.logPath(log), folder));

  /** Joins the lines for each log so each gets a single write, because this runs for every event. */
  async function append(events: readonly Emitted[], packs: readonly EventPack[] = packEvents(events)): Promise<void> {
    const diagnostics = events.filter((emitted) => selectLogs(emitted) === RASP_AND_DIAGNOSTICS);
    const lines: Record<RunLog, string> = {
      rasp: '',
      fcmp: '',
      diagnostics: encodeLines(diagnostics.map(({ event }) => event)),
    };
    for (const pack of packs) lines[pack.protocol] += pack.lines;
    await Promise.all([...logs].map(async ([name, log]) => log.appendLines(lines[name])));
  }

  async function forEachLog(step: (log: LogFile) => Promise<void>): Promise<void> {
    await Promise.all([...logs.values()].map(step));
  }

  return {
    append,
    appendDrift: async (summary) => logs.get('diagnostics')?.append([summary]),
    sync: async () => forEachLog(async (log) => log.sync()),
    close: async () => forEachLog(async (log) => log.close()),
  };
}

/** A line of a run's log, before it is encoded. */
export interface Row {
  readonly log: RunLog;
  readonly value: object;
}

const FCMP_ONLY: readonly RunLog[] = ['fcmp'];
const RASP_ONLY: readonly RunLog[] = ['rasp'];
const RASP_AND_DIAGNOSTICS: readonly RunLog[] = ['rasp', 'diagnostics'];

/** Selects an event's logs: RASP and FCMP events go to their own log, diagnostics also to the diagnostics log. */
function selectLogs({ protocol, event }: Emitted): readonly RunLog[] {
  if (protocol === 'fcmp') return FCMP_ONLY;
  return event.event.category === 'diagnostic' ? RASP_AND_DIAGNOSTICS : RASP_ONLY;
}

/** Returns the rows of an event, one per log. */
export function toRows(emitted: Emitted): Row[] {
  return selectLogs(emitted).map((log) => ({ log, value: emitted.event }));
}

/** Creates the row that counts an attempt's drift. */
export function toDriftRow(summary: DriftSummary): Row {
  return { log: 'diagnostics', value: summary };
}
