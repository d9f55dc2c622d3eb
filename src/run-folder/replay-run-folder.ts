import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { listKeys } from '../base/index.js';
import { FCMP_VERSION, RASP_VERSION, isRecord } from '../events/index.js';
import { readChunks } from '../files/index.js';
import type { OpenFile, ReadableFile } from '../base/index.js';
import type { RunFolderWarning } from './run-folder-error.js';
import type { StreamDigest } from './attempt/attempt-capture.js';
import { RUN_LOGS, getAttemptFileName } from './file-names.js';
import type { RunLog } from './file-names.js';
import { toDriftRow, toRows } from './logs/run-logs.js';
import type { Row } from './logs/run-logs.js';
import { readLogFile } from './logs/read-log-file.js';
import type { LoggedRow } from './logs/read-log-file.js';
import { openRunFolder } from './open-run-folder.js';
import type { RunFolder } from './open-run-folder.js';
import { checkAttempt, translateFolder } from './translate-run-folder.js';
import type { TranslateOptions } from './translate-run-folder.js';

/** The outcome of rebuilding the events of a run folder from its bytes. */
export type ReplayResult =
  /** `captured`: how many streams match the record in the store; absent without such a record. */
  | {
      readonly status: 'same';
      readonly compared: Readonly<Partial<Record<RunLog, number>>>;
      readonly captured?: number;
    }
  /** A stream differs from what was captured: its file was changed after the run. */
  | { readonly status: 'altered'; readonly altered: AlteredStream }
  | { readonly status: 'different'; readonly difference: LogDifference }
  /**
   * The logs were written by an older version. `differences` lists the first differences, `total` counts all of them:
   * fields that changed, and rows that only one side has.
   */
  | {
      readonly status: 'older_version';
      readonly message: string;
      readonly recorded: string;
      readonly differences: readonly LogDifference[];
      readonly total: number;
    }
  | { readonly status: 'nothing_stored' };

/** A file that differs from what was captured. `found` is undefined if it is missing. */
export interface AlteredStream {
  readonly file: string;
  readonly captured: Pick<StreamDigest, 'bytes' | 'sha256'>;
  readonly found: Pick<StreamDigest, 'bytes' | 'sha256'> | undefined;
}

/** The data a replay compares with, besides the logs of the folder. */
export interface ReplayOptions extends Pick<TranslateOptions, 'engine' | 'engines' | 'onWarning' | 'onProgress'> {
  /** The captured digests from the run's result in the store. */
  readonly captured?: readonly StreamDigest[] | undefined;
}

/** The first stored row that differs from the rebuilt one; a side without that row is undefined at the empty path. */
export interface LogDifference extends Difference {
  /** The log's file name. */
  readonly log: string;
  /** Counted from 1. */
  readonly row: number;
}

/**
 * Rebuilds the events of a run folder or a packed run from its bytes and compares them with the logs that are stored there, and the bytes
 * with what was captured, where that is known.
 *
 * @example
 * const result = await replayRunFolder('runs/01J…')
 * if (result.status === 'different') console.log(result.difference.log, result.difference.row)
 */
export async function replayRunFolder(
  run: string | RunFolder,
  { captured, ...options }: ReplayOptions = {},
): Promise<ReplayResult> {
  const folder = typeof run === 'string' ? await openRunFolder(run) : run;
  const altered = await findAltered(folder, captured ?? []);
  if (altered !== undefined) return { status: 'altered', altered };
  const stored = await openStoredLogs(folder, options.onWarning ?? (() => undefined));
  try {
    if (stored.size === 0) {
      await checkAttempt(folder, options);
      return { status: 'nothing_stored' };
    }
    const recorded = await findOlderVersion(stored);
    const older = recorded === null ? null : new OlderComparison(stored);
    const waiting: Row[] = [];
    const onDrift: TranslateOptions['onDrift'] = (summary) => waiting.push(toDriftRow(summary));
    for await (const events of translateFolder(folder, { ...options, onDrift })) {
      const rows = [...waiting.splice(0), ...events.flatMap(toRows)];
      if (older !== null) {
        await older.add(rows);
        continue;
      }
      const difference = await compare(rows, stored);
      if (difference !== undefined) return { status: 'different', difference };
    }
    if (older !== null && recorded !== null) {
      await older.add(waiting);
      await older.end();
      const { differences, total } = older;
      return { status: 'older_version', message: 'Recorded by an older version.', recorded, differences, total };
    }
    const difference = (await compare(waiting, stored)) ?? (await findLeftOver(stored));
    if (difference !== undefined) return { status: 'different', difference };
    const compared = Object.fromEntries([...stored].map(([log, { rows }]) => [log, rows]));
    return { status: 'same', compared, ...(captured === undefined ? {} : { captured: captured.length }) };
  } finally {
    for (const { reader } of stored.values()) await reader.return(undefined);
  }
}

async function findAltered(folder: RunFolder, captured: readonly StreamDigest[]): Promise<AlteredStream | undefined> {
  for (const { attempt, stream, bytes, sha256 } of captured) {
    const found = await digestFile(await folder.openAttempt(stream, attempt));
    if (found?.bytes === bytes && found.sha256 === sha256) continue;
    return { file: getAttemptFileName(stream, attempt), captured: { bytes, sha256 }, found };
  }
  return undefined;
}

async function digestFile(file: ReadableFile | undefined): Promise<AlteredStream['found']> {
  if (file === undefined) return undefined;
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of readChunks(file)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

interface StoredLog {
  readonly reader: AsyncGenerator<LoggedRow, undefined>;
  /** Rows that were read and not compared yet. */
  readonly ahead: LoggedRow[];
  rows: number;
}

async function nextRow({ reader, ahead }: StoredLog): Promise<LoggedRow | undefined> {
  return ahead.shift() ?? (await reader.next()).value ?? undefined;
}

/** The version of the first stored row that is not written any more; null if all are of this version. */
async function findOlderVersion(stored: ReadonlyMap<RunLog, StoredLog>): Promise<string | null> {
  for (const [log, current] of [
    ['rasp', RASP_VERSION],
    ['fcmp', FCMP_VERSION],
  ] as const) {
    const other = stored.get(log);
    const first = other === undefined ? undefined : await nextRow(other);
    if (other === undefined || first === undefined) continue;
    other.ahead.unshift(first);
    const version = 'protocol_version' in first.value ? first.value.protocol_version : undefined;
    if (typeof version === 'string' && OLDER.test(version) && version !== current) return version;
  }
  return null;
}

const OLDER = /^(?:rasp|fcmp)\/1\.0$/u;

/** How many differences are listed; the rest are only counted. */
const MAX_DIFFERENCES = 100;

/** How many stored rows are searched for the counterpart of a rebuilt one. */
const MAX_AHEAD = 64;

/** Compares rows of two versions: by type and bytes, since one version may have events that the other has not. */
class OlderComparison {
  readonly #stored: ReadonlyMap<RunLog, StoredLog>;
  readonly differences: LogDifference[] = [];
  total = 0;

  constructor(stored: ReadonlyMap<RunLog, StoredLog>) {
    this.#stored = stored;
  }

  async add(rows: readonly Row[]): Promise<void> {
    for (const { log, value } of rows) {
      const other = this.#stored.get(log);
      if (other === undefined) continue;
      const rebuilt = JSON.parse(JSON.stringify(value)) as object;
      while (other.ahead.length < MAX_AHEAD) {
        const { value: next } = await other.reader.next();
        if (next === undefined) break;
        other.ahead.push(next);
      }
      const found = other.ahead.findIndex((row) => makeRowKey(row.value) === makeRowKey(rebuilt));
      if (found < 0) {
        this.#note(log, other.rows + 1, { path: [], stored: undefined, rebuilt });
        continue;
      }
      for (const row of other.ahead.splice(0, found)) this.#noteStored(log, other, row);
      const row = other.ahead.shift();
      other.rows += 1;
      const difference = firstDifference(dropCounters(row?.value ?? {}), dropCounters(rebuilt));
      if (difference !== undefined) this.#note(log, other.rows, difference);
    }
  }

  async end(): Promise<void> {
    for (const [log, other] of this.#stored) {
      for (let row = await nextRow(other); row !== undefined; row = await nextRow(other))
        this.#noteStored(log, other, row);
    }
  }

  #noteStored(log: RunLog, other: StoredLog, row: LoggedRow): void {
    other.rows += 1;
    this.#note(log, other.rows, { path: [], stored: row.value, rebuilt: undefined });
  }

  #note(log: RunLog, row: number, difference: Difference): void {
    this.total += 1;
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ log: RUN_LOGS[log], row, ...difference });
  }
}

/** Creates a key from the type of an event and the bytes it was read from. */
function makeRowKey(row: object): string {
  const { type, event, raw_ref: rawRef } = row as Readonly<Record<string, unknown>>;
  return JSON.stringify([type ?? event, rawRef]);
}

/** Numbers and versions are expected to differ between versions. */
function dropCounters(row: object): object {
  const { seq: _seq, protocol_version: _version, source, ...rest } = row as Readonly<Record<string, unknown>>;
  if (!isRecord(source)) return rest;
  const { parser_version: _parserVersion, ...reader } = source as Readonly<Record<string, unknown>>;
  return { ...rest, source: reader };
}

async function openStoredLogs(
  folder: RunFolder,
  warn: (warning: RunFolderWarning) => void,
): Promise<Map<RunLog, StoredLog>> {
  const stored = new Map<RunLog, StoredLog>();
  for (const log of listKeys(RUN_LOGS)) {
    const open: OpenFile = async () => folder.openLog(log);
    const file = await open();
    if (file === undefined) continue;
    await file.close();
    const reader = readLogFile(join(folder.place, RUN_LOGS[log]), warn, open);
    stored.set(log, { reader, ahead: [], rows: 0 });
  }
  return stored;
}

async function compare(rows: readonly Row[], stored: Map<RunLog, StoredLog>): Promise<LogDifference | undefined> {
  for (const { log, value } of rows) {
    const other = stored.get(log);
    if (other === undefined) continue;
    other.rows += 1;
    const row = await nextRow(other);
    const text = JSON.stringify(value);
    if (row?.text === text) continue;
    // Through text, because that is all a log can hold.
    const difference = firstDifference(row?.value, JSON.parse(text));
    if (difference !== undefined) return { log: RUN_LOGS[log], row: other.rows, ...difference };
  }
  return undefined;
}

/** A stored row that the bytes do not produce. */
async function findLeftOver(stored: Map<RunLog, StoredLog>): Promise<LogDifference | undefined> {
  for (const [log, other] of stored) {
    const row = await nextRow(other);
    if (row !== undefined)
      return { log: RUN_LOGS[log], row: other.rows + 1, path: [], stored: row.value, rebuilt: undefined };
  }
  return undefined;
}

/** Where two values first differ, and what each has there; undefined if it has nothing. */
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
  // An explicit stack: agents nest values as deep as they like.
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
