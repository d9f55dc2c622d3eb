import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { listKeys, type OpenFile, type ReadableFile } from '../../base/index.js';
import { get, isRecord, type Emitted } from '../../events/index.js';
import { readChunks } from '../../base/files/index.js';
import type { RunFolderWarning } from './run-folder-error.js';
import type { StreamDigest } from './attempt/attempt-capture.js';
import { hasEnded } from './attempt/attempt-meta.js';
import { RUN_LOGS, getAttemptFileName, type RunLog } from './file-names.js';
import { toRows, readLogFile, type Row, type LoggedRow } from './logs/run-logs.js';
import { openRunFolder, type RunFolder } from './open-run-folder.js';
import { checkAttempt, translateFolder, type TranslateOptions } from './translate-run-folder.js';

/** The outcome of rebuilding a run folder's events from its bytes. */
export type ReplayResult =
  /** `captured` is the number of streams that match their captured digests; absent without digests. */
  | {
      readonly status: 'same';
      readonly compared: Readonly<Partial<Record<RunLog, number>>>;
      readonly captured?: number;
    }
  /** A stream differs from its captured digest: its file was changed after the run. */
  | { readonly status: 'altered'; readonly altered: ChangedStream }
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
  /** The last attempt has no recorded end: Sluice was killed, or is still running. The logs match as far as they go. */
  | {
      readonly status: 'unfinished';
      readonly message: string;
      readonly compared: Readonly<Partial<Record<RunLog, number>>>;
    }
  /** Neither events nor digests are known. */
  | { readonly status: 'nothing_stored' };

/** A file that differs from its captured digest. `found` is undefined if it is missing. */
export interface ChangedStream {
  readonly file: string;
  readonly captured: Pick<StreamDigest, 'bytes' | 'sha256'>;
  readonly found: Pick<StreamDigest, 'bytes' | 'sha256'> | undefined;
}

/** Options for a replay. */
export interface ReplayOptions extends Pick<TranslateOptions, 'engine' | 'engines' | 'onWarning' | 'onProgress'> {
  /** The captured digests from the run's result in the store. */
  readonly captured?: readonly StreamDigest[] | undefined;
  /** The run's events in the store, which are compared if the folder has no logs: a packed run has none. */
  readonly storedEvents?: ((protocol: Emitted['protocol']) => AsyncIterable<Emitted>) | undefined;
}

/** A stored row that differs from the rebuilt row, of which one can be missing. */
export interface LogDifference extends Difference {
  /** The log's file name. */
  readonly log: string;
  /** Counted from 1. */
  readonly row: number;
}

/**
 * Rebuilds the events of a run folder or a packed run from its bytes and compares them with its logs or, without logs,
 * with the events in the store. The bytes are compared with the captured digests, if these are known.
 *
 * @example
 * const result = await replayRunFolder('runs/01J…')
 * if (result.status === 'different') console.log(result.difference.log, result.difference.row)
 */
export async function replayRunFolder(
  run: string | RunFolder,
  { captured, storedEvents, ...options }: ReplayOptions = {},
): Promise<ReplayResult> {
  const folder = typeof run === 'string' ? await openRunFolder(run) : run;
  const altered = await findAltered(folder, captured ?? []);
  if (altered !== undefined) return { status: 'altered', altered };
  const stored = await openStoredLogs(folder, options.onWarning ?? (() => undefined));
  if (stored.size === 0 && storedEvents !== undefined) {
    for (const protocol of ['rasp', 'fcmp'] as const)
      stored.set(protocol, { reader: readRows(storedEvents(protocol)), ahead: [], rowCount: 0 });
  }
  try {
    if (stored.size === 0) {
      await checkAttempt(folder, options);
      if (captured === undefined || captured.length === 0) return { status: 'nothing_stored' };
      return { status: 'same', compared: {}, captured: captured.length };
    }
    const recorded = await findOlderVersion(stored);
    const lastAttempt = (await folder.attempts()).at(-1);
    const isUnfinished = lastAttempt !== undefined && !hasEnded(await folder.meta(lastAttempt));
    const comparison = new Comparison(stored, { isOlder: recorded !== null, isUnfinished });
    const pending: Row[] = [];
    const onDrift: TranslateOptions['onDrift'] = (summary) => pending.push({ log: 'diagnostics', value: summary });
    for await (const events of translateFolder(folder, { ...options, onDrift })) {
      await comparison.add([...pending.splice(0), ...events.flatMap(toRows)]);
      if (comparison.isDecided) break;
    }
    await comparison.add(pending);
    await comparison.end();
    const { differences, total } = comparison;
    if (recorded !== null)
      return { status: 'older_version', message: 'Recorded by an older version.', recorded, differences, total };
    const [difference] = differences;
    if (difference !== undefined) return { status: 'different', difference };
    const compared = Object.fromEntries([...stored].map(([log, { rowCount }]) => [log, rowCount]));
    if (comparison.isShort) {
      const message = 'Unfinished: Sluice was killed during the run, or it is still running. The logs match so far.';
      return { status: 'unfinished', message, compared };
    }
    return { status: 'same', compared, ...(captured === undefined ? {} : { captured: captured.length }) };
  } finally {
    for (const { reader } of stored.values()) await reader.return(undefined);
  }
}

async function findAltered(folder: RunFolder, captured: readonly StreamDigest[]): Promise<ChangedStream | undefined> {
  for (const { attempt, stream, bytes, sha256 } of captured) {
    const digest = await digestFile(await folder.openAttempt(stream, attempt));
    if (digest?.bytes === bytes && digest.sha256 === sha256) continue;
    return { file: getAttemptFileName(stream, attempt), captured: { bytes, sha256 }, found: digest };
  }
  return undefined;
}

async function digestFile(file: ReadableFile | undefined): Promise<ChangedStream['found']> {
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
  /** Rows that were read but not compared yet. */
  readonly ahead: LoggedRow[];
  rowCount: number;
}

async function readAhead({ reader, ahead }: StoredLog, count: number): Promise<void> {
  while (ahead.length < count) {
    const { value } = await reader.next();
    if (value === undefined) return;
    ahead.push(value);
  }
}

/** Returns the older protocol version of a stored log; null if all logs have the current version. */
async function findOlderVersion(stored: ReadonlyMap<RunLog, StoredLog>): Promise<string | null> {
  for (const [log, storedLog] of stored) {
    if (log === 'diagnostics') continue;
    await readAhead(storedLog, 1);
    const version = get.name(storedLog.ahead[0]?.value ?? {}, 'protocol_version');
    if (version !== null && OLDER_VERSION.test(version)) return version;
  }
  return null;
}

const OLDER_VERSION = /^(?:rasp\/1\.0|fcmp\/1\.[01])$/u;

/** The maximum number of listed differences; the rest are only counted. */
const MAX_DIFFERENCES = 100;

/** The number of stored rows to search for a rebuilt row's counterpart. */
const MAX_AHEAD = 64;

/**
 * Compares stored rows with rebuilt rows. The rows of an older version are matched by type and bytes, because one of the
 * versions can have events that the other lacks. A log of an unfinished run can lack rows at its end.
 */
class Comparison {
  readonly #stored: ReadonlyMap<RunLog, StoredLog>;
  readonly #isOlder: boolean;
  readonly #isUnfinished: boolean;
  readonly differences: LogDifference[] = [];
  total = 0;
  /** Whether the log of an unfinished run lacks rows. */
  isShort = false;

  constructor(
    stored: ReadonlyMap<RunLog, StoredLog>,
    { isOlder, isUnfinished }: { readonly isOlder: boolean; readonly isUnfinished: boolean },
  ) {
    this.#stored = stored;
    this.#isOlder = isOlder;
    this.#isUnfinished = isUnfinished && !isOlder;
  }

  /** Whether no more rows need to be compared: of the same version, only the first difference is reported. */
  get isDecided(): boolean {
    return !this.#isOlder && this.total > 0;
  }

  async add(rows: readonly Row[]): Promise<void> {
    for (const { log, value } of rows) {
      const storedLog = this.#stored.get(log);
      if (storedLog === undefined || this.isDecided) continue;
      const { ahead } = storedLog;
      await readAhead(storedLog, this.#isOlder ? MAX_AHEAD : 1);
      const text = JSON.stringify(value);
      if (ahead[0]?.text === text) {
        ahead.shift();
        storedLog.rowCount += 1;
        continue;
      }
      // Parsed from its JSON like the stored rows, so both have the same form.
      const rebuilt = JSON.parse(text) as object;
      const index = this.#isOlder ? ahead.findIndex((row) => makeRowKey(row.value) === makeRowKey(rebuilt)) : 0;
      for (const row of ahead.splice(0, Math.max(index, 0))) this.#noteStored(log, storedLog, row);
      const row = index < 0 ? undefined : ahead.shift();
      if (row === undefined && this.#isUnfinished) this.isShort = true;
      else if (row === undefined) this.#note(log, storedLog.rowCount + 1, { path: [], stored: undefined, rebuilt });
      else {
        storedLog.rowCount += 1;
        const clean = this.#isOlder ? dropCounters : (same: object) => same;
        const difference = findFirstDifference(clean(row.value), clean(rebuilt));
        if (difference !== undefined) this.#note(log, storedLog.rowCount, difference);
      }
    }
  }

  /** Notes the stored rows that remain after all rebuilt rows were compared. */
  async end(): Promise<void> {
    for (const [log, storedLog] of this.#stored) {
      for (await readAhead(storedLog, 1); !this.isDecided; await readAhead(storedLog, 1)) {
        const row = storedLog.ahead.shift();
        if (row === undefined) break;
        this.#noteStored(log, storedLog, row);
      }
    }
  }

  #noteStored(log: RunLog, storedLog: StoredLog, row: LoggedRow): void {
    storedLog.rowCount += 1;
    this.#note(log, storedLog.rowCount, { path: [], stored: row.value, rebuilt: undefined });
  }

  #note(log: RunLog, row: number, difference: Difference): void {
    this.total += 1;
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ log: RUN_LOGS[log], row, ...difference });
  }
}

/** Creates the key for matching rows: an event's type and its source byte range. */
function makeRowKey(row: object): string {
  const { type, event, raw_ref: rawRef } = row as Readonly<Record<string, unknown>>;
  return JSON.stringify([type ?? event, rawRef]);
}

/** Removes the sequence numbers and versions, which are expected to differ. */
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
    stored.set(log, { reader, ahead: [], rowCount: 0 });
  }
  return stored;
}

async function* readRows(events: AsyncIterable<Emitted>): AsyncGenerator<LoggedRow, undefined> {
  for await (const { event } of events) yield { text: JSON.stringify(event), value: event };
  return undefined;
}

/** The path where two values first differ, and the value on each side; undefined if that side has no value. */
interface Difference {
  readonly path: readonly (string | number)[];
  readonly stored: unknown;
  readonly rebuilt: unknown;
}

/**
 * Returns the first difference between two JSON values, or undefined if they are equal. The order of keys does not
 * matter.
 *
 * @example
 * findFirstDifference({ data: { text: 'a' } }, { data: { text: 'b' } }) // { path: ['data', 'text'], stored: 'a', rebuilt: 'b' }
 */
export function findFirstDifference(stored: unknown, rebuilt: unknown): Difference | undefined {
  // An explicit stack, because an agent can nest values to any depth.
  const open: Difference[] = [{ path: [], stored, rebuilt }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (pair.stored === pair.rebuilt) continue;
    if (!isContainer(pair.stored) || !isContainer(pair.rebuilt)) return pair;
    if (Array.isArray(pair.stored) !== Array.isArray(pair.rebuilt)) return pair;
    for (const member of listMembers(pair).toReversed()) open.push(member);
  }
  return undefined;
}

function listMembers({ path, stored, rebuilt }: Difference): Difference[] {
  const keys = new Set([...Object.keys(stored ?? {}), ...Object.keys(rebuilt ?? {})]);
  return [...keys].map((key) => ({
    path: [...path, Array.isArray(stored) ? Number(key) : key],
    stored: getOwn(stored, key),
    rebuilt: getOwn(rebuilt, key),
  }));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function getOwn(value: unknown, key: string): unknown {
  return isContainer(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
