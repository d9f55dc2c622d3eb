import { keysOf } from '../base/index.js';
import { openForReading } from '../files/index.js';
import type { RunFolderWarning } from './run-folder-error.js';
import { RUN_LOGS } from './file-names.js';
import type { RunLog } from './file-names.js';
import { toDriftRow, toRows } from './logs/run-logs.js';
import type { Row } from './logs/run-logs.js';
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
    const onDrift: TranslateOptions['onDrift'] = (summary) => waiting.push(toDriftRow(summary));
    for await (const events of translateFolder(folder, { ...options, onDrift })) {
      const difference = await compare([...waiting.splice(0), ...events.flatMap(toRows)], stored);
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

/** Where two values first differ, and what each has there; undefined where it has nothing. */
interface Difference {
  readonly path: readonly (string | number)[];
  readonly stored: unknown;
  readonly rebuilt: unknown;
}

/**
 * The first difference of two JSON values, undefined if they are equal. The order of keys does not matter.
 *
 * @example
 * firstDifference({ data: { text: 'a' } }, { data: { text: 'b' } }) // { path: ['data', 'text'], stored: 'a', rebuilt: 'b' }
 */
export function firstDifference(stored: unknown, rebuilt: unknown): Difference | undefined {
  // A stack of its own: agents nest values as deep as they like.
  const open: Difference[] = [{ path: [], stored, rebuilt }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (pair.stored === pair.rebuilt) continue;
    if (!isContainer(pair.stored) || !isContainer(pair.rebuilt)) return pair;
    if (Array.isArray(pair.stored) !== Array.isArray(pair.rebuilt)) return pair;
    for (const member of members(pair).toReversed()) open.push(member);
  }
  return undefined;
}

function members({ path, stored, rebuilt }: Difference): Difference[] {
  const keys = new Set([...Object.keys(stored ?? {}), ...Object.keys(rebuilt ?? {})]);
  return [...keys].map((key) => ({
    path: [...path, Array.isArray(stored) ? Number(key) : key],
    stored: own(stored, key),
    rebuilt: own(rebuilt, key),
  }));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function own(value: unknown, key: string): unknown {
  return isContainer(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
