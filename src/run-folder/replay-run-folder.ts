import { keysOf } from '../base/index.js';
import type { RunFolderWarning } from './run-folder-warning.js';
import { RUN_LOGS } from './file-names.js';
import type { RunLog } from './file-names.js';
import { openForReading } from '../files/index.js';
import { firstDifference } from './first-difference.js';
import type { Difference } from './first-difference.js';
import { rowOfDrift, rowsOf } from './logs/event-rows.js';
import type { Row } from './logs/event-rows.js';
import { readLogFile } from './logs/read-log-file.js';
import type { LoggedRow } from './logs/read-log-file.js';
import { openRunFolder } from './open-run-folder.js';
import type { RunFolder } from './open-run-folder.js';
import { translateFolder } from './translate-run-folder.js';
import type { TranslateOptions } from './translate-run-folder.js';

/** What came of rebuilding the events of a run folder from its bytes. */
export type ReplayResult =
  | { readonly status: 'same'; readonly compared: Readonly<Partial<Record<RunLog, number>>> }
  | { readonly status: 'different'; readonly difference: LogDifference }
  | { readonly status: 'nothing_stored' };

/** The first row that is not what the bytes say; a side that has no such row is undefined at the empty path. */
export interface LogDifference extends Difference {
  /** The log's file name. */
  readonly log: string;
  /** Counted from 1. */
  readonly row: number;
}

/**
 * Rebuilds the events of a run folder from its bytes and compares them with the logs that are stored there.
 *
 * @example
 * const result = await replayRunFolder('runs/01J…')
 * if (result.status === 'different') console.log(result.difference.log, result.difference.row)
 */
export async function replayRunFolder(
  dir: string,
  options: Pick<TranslateOptions, 'engine' | 'onWarning'> = {},
): Promise<ReplayResult> {
  const folder = await openRunFolder(dir);
  const stored = await openStoredLogs(folder, options.onWarning ?? (() => undefined));
  try {
    if (stored.size === 0) return { status: 'nothing_stored' };
    const waiting: Row[] = [];
    const onDrift: TranslateOptions['onDrift'] = (summary) => waiting.push(rowOfDrift(summary));
    for await (const events of translateFolder(folder, { ...options, onDrift })) {
      const difference = await compare([...waiting.splice(0), ...events.flatMap(rowsOf)], stored);
      if (difference !== undefined) return { status: 'different', difference };
    }
    const difference = (await compare(waiting, stored)) ?? (await firstLeftOver(stored));
    if (difference !== undefined) return { status: 'different', difference };
    return { status: 'same', compared: Object.fromEntries([...stored].map(([log, { rows }]) => [log, rows])) };
  } finally {
    for (const { reader } of stored.values()) await reader.return(undefined);
  }
}

interface StoredLog {
  readonly reader: AsyncGenerator<LoggedRow, undefined>;
  rows: number;
}

async function openStoredLogs(
  folder: RunFolder,
  warn: (warning: RunFolderWarning) => void,
): Promise<Map<RunLog, StoredLog>> {
  const stored = new Map<RunLog, StoredLog>();
  for (const log of keysOf(RUN_LOGS)) {
    const handle = await openForReading(folder.logPath(log));
    if (handle === undefined) continue;
    await handle.close();
    stored.set(log, { reader: readLogFile(folder.logPath(log), warn), rows: 0 });
  }
  return stored;
}

async function compare(rows: readonly Row[], stored: Map<RunLog, StoredLog>): Promise<LogDifference | undefined> {
  for (const { log, value } of rows) {
    const other = stored.get(log);
    if (other === undefined) continue;
    other.rows += 1;
    const { value: row } = await other.reader.next();
    const text = JSON.stringify(value);
    if (row?.text === text) continue;
    // Through text, because that is all a log can hold.
    const difference = firstDifference(row?.value, JSON.parse(text));
    if (difference !== undefined) return { log: RUN_LOGS[log], row: other.rows, ...difference };
  }
  return undefined;
}

/** A row that is stored and that the bytes do not say. */
async function firstLeftOver(stored: Map<RunLog, StoredLog>): Promise<LogDifference | undefined> {
  for (const [log, { reader, rows }] of stored) {
    const { value: row } = await reader.next();
    if (row !== undefined)
      return { log: RUN_LOGS[log], row: rows + 1, path: [], stored: row.value, rebuilt: undefined };
  }
  return undefined;
}
