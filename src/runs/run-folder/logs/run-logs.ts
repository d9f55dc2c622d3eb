import { ftruncateSync, fstatSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  get,
  decodeLine,
  encodeLines,
  packEvents,
  type DriftSummary,
  type Emitted,
  type EventPack,
} from '../../../events/index.js';
import { listKeys, type AppendableFile, type OpenFile, type TrustedRoot } from '../../../base/index.js';
import { RUN_LOGS, type RunLog } from '../file-names.js';
import { type WritableRunFolder, type RunFolder, createRunFolder, openWritableRunFolder } from '../open-run-folder.js';
import {
  appendTo,
  openForAppending,
  type OpenedFile,
  openLineTail,
  beginReplacement,
  type Replacement,
} from '../../../base/files/index.js';
import { type RunFolderWarning, RunFolderError } from '../run-folder-error.js';
import { canTranslate, translateRunFolder, translateFolder, type TranslateOptions } from '../translate-run-folder.js';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkRunFolder, type RunFile } from '../run-files.js';

/** The append-only logs of an active run. */
export type RunLogs = Awaited<ReturnType<typeof joinLogs>>;

/** Opens a run's three logs for appending. Lines torn by a crash are removed first. */
export async function openRunLogs(folder: WritableRunFolder): Promise<RunLogs> {
  return joinLogs(async (log) => openLogFile(folder.logPath(log), folder));
}

async function joinLogs(open: (log: RunLog) => Promise<LogFile>) {
  const logs = new Map<RunLog, LogFile>();
  for (const log of listKeys(RUN_LOGS)) logs.set(log, await open(log));

  async function forEachLog(step: (log: LogFile, name: RunLog) => Promise<void>): Promise<void> {
    await Promise.all([...logs].map(async ([name, log]) => step(log, name)));
  }

  return {
    /**
     * Appends each event to its logs; resolves once all are in the files. `packs`: the same events in packed form. The
     * lines for each log are joined, so each gets a single write, because this runs for every event.
     */
    async append(events: readonly Emitted[], packs: readonly EventPack[] = packEvents(events)): Promise<void> {
      const diagnostics = encodeLines(events.filter(isDiagnostic).map(({ event }) => event));
      const lines: Record<RunLog, string> = { rasp: '', fcmp: '', diagnostics };
      for (const pack of packs) lines[pack.protocol] += pack.lines;
      await forEachLog(async (log, name) => log.appendLines(lines[name]));
    },
    /** Appends the counts of unknown types and fields in an attempt's output. */
    appendDrift: async (summary: DriftSummary) => logs.get('diagnostics')?.append([summary]),
    /** Writes collected lines. */
    flush: async () => forEachLog(async (log) => log.flush()),
    close: async () => forEachLog(async (log) => log.close()),
  };
}

/** A line of a run's log, before it is encoded. */
export interface Row {
  readonly log: RunLog;
  readonly value: object;
}

/** Lists an event's rows: RASP and FCMP events go to their own log, diagnostics also to the diagnostics log. */
export function toRows(emitted: Emitted): Row[] {
  const { protocol, event: value } = emitted;
  const row = { log: protocol, value };
  return isDiagnostic(emitted) ? [row, { log: 'diagnostics', value }] : [row];
}

function isDiagnostic({ protocol, event }: Emitted): boolean {
  return protocol === 'rasp' && event.event.category === 'diagnostic';
}

/** An append-only log with one JSON value per line. */
export type LogFile = ReturnType<typeof createLogFile>;

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;

/** Opens a log for appending. An incomplete last line, left by a crash, is removed: its event was never published. */
export async function openLogFile(path: string, root: TrustedRoot = {}): Promise<LogFile> {
  const file = await openForAppending(path, root);
  try {
    await removeTornLine(file);
  } catch (error) {
    await file.close();
    throw error;
  }
  return createLogFile(file);
}

/** Creates a log that appends to an open file. Lines are collected until they have `batchLength` characters. */
function createLogFile(file: AppendableFile, batchLength = 0) {
  // Once a write has failed, all later ones fail too: the next line could be joined to an incomplete one.
  let lastWrite: Promise<void> = Promise.resolve();
  let collected = '';

  async function write(): Promise<void> {
    const lines = collected;
    collected = '';
    if (lines !== '') lastWrite = lastWrite.then(async () => appendTo(file, lines));
    return lastWrite;
  }

  /** Appends lines that are already formatted, each with its newline. */
  async function appendLines(lines: string): Promise<void> {
    collected += lines;
    return collected.length < batchLength ? undefined : write();
  }

  return {
    /** Appends values, one per line, in the order of the calls; resolves once they are in the file. */
    append: async (values: readonly object[]) =>
      appendLines(values.map((value) => `${JSON.stringify(value)}\n`).join('')),
    appendLines,
    flush: write,
    async close() {
      await lastWrite.catch(() => undefined);
      await file.close();
    },
  };
}

/** Removes an incomplete last line. Searches backwards, so the cost depends on the length of that line, not of the log. */
async function removeTornLine(file: OpenedFile): Promise<void> {
  const { size } = fstatSync(file.fd);
  if (size === 0) return;
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    const newline = block.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline >= 0) {
      const complete = start + newline + 1;
      if (complete < size) ftruncateSync(file.fd, complete);
      return;
    }
    end = start;
  }
  ftruncateSync(file.fd, 0);
}

/** An object in a log; a line contains one or more. */
export interface LoggedRow {
  readonly text: string;
  readonly value: object;
}

/** The maximum length of a line: an event contains at most one message, which is at most a frame of 64 MiB before escaping. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

/**
 * Reads a log of JSON objects, one or more per line. A last line without its newline was torn by a crash or is still
 * being written: it is never returned. Any other line that is not an object is skipped with a warning. `source` opens a
 * log that is not a plain file; `path` is then only used in warnings.
 */
export async function* readLogFile(
  path: string,
  warn: (warning: RunFolderWarning) => void,
  source: string | OpenFile = path,
): AsyncGenerator<LoggedRow, undefined> {
  const lines = openLineTail(source, MAX_LINE_BYTES);
  try {
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
      const values = line.text === undefined ? undefined : decodeLine(line.text);
      if (values === undefined) {
        warn({
          code: 'LOG_LINE_DAMAGED',
          message: `Line ${line.number} of "${path}" is not a JSON object; it is skipped.`,
        });
      } else if (values.length === 1 && values[0] !== undefined) {
        yield { text: line.text ?? '', value: values[0] };
      } else {
        for (const value of values) yield { text: JSON.stringify(value), value };
      }
    }
    if (lines.unfinishedBytes() > 0) {
      const message = `"${path}" ends in an unfinished line of ${lines.unfinishedBytes()} bytes; the line is skipped.`;
      warn({ code: 'LOG_LINE_DAMAGED', message });
    }
    return undefined;
  } finally {
    await lines.close();
  }
}

/** Reads a log of one protocol, even while it grows; skips lines, as agents write them, that are no events. */
export function openEventTail(open: OpenFile, protocol: Emitted['protocol']) {
  const lines = openLineTail(open, MAX_LINE_BYTES);
  const hasPosition = (event: object): boolean =>
    get.count(event, 'seq') !== null && (protocol === 'fcmp' || get.count(event, 'attempt_number') !== null);
  return {
    /** Returns the next events, at least one; undefined if there are no more yet. */
    async read(): Promise<readonly Emitted[] | undefined> {
      for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
        const values = line.text === undefined ? [] : (decodeLine(line.text) ?? []);
        const events = values.filter(hasPosition).map((event) => ({ protocol, event }) as Emitted);
        if (events.length > 0) return events;
      }
      return undefined;
    },
    /** Whether the log existed when it was last read. */
    get exists() {
      return lines.exists;
    },
    close: async () => lines.close(),
  };
}

/** Reads a run's events of one protocol: from its log or, if it is packed, from its bytes. */
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

type RewriteOptions = Omit<TranslateOptions, 'attempt' | 'follow'>;

/**
 * Translates all attempts of a run folder, yields their events and rewrites its logs. The logs change only after the last event
 * was consumed, so a consumer that stops early leaves them unchanged.
 *
 * @example
 * for await (const emitted of rewriteRunLogs('runs/01J…')) show(emitted)
 */
export async function* rewriteRunLogs(dir: string, options: RewriteOptions = {}): AsyncGenerator<Emitted> {
  const folder = await openWritableRunFolder(dir);
  if ((await folder.attempts()).length === 0) {
    throw new RunFolderError(
      'RUN_FOLDER_EMPTY',
      `Cannot write logs: "${folder.place}" contains no run. Pass the folder of a run.`,
    );
  }
  yield* writeLogs(folder, folder, options);
}

/** The number of characters that are collected before they are written to a log. */
const BATCH_LENGTH = 256 * 1024;

async function* writeLogs(source: RunFolder, target: WritableRunFolder, options: RewriteOptions) {
  const replacements: Replacement[] = [];
  try {
    const logs = await joinLogs(async (log) => {
      const replacement = await beginReplacement(target.logPath(log), target);
      replacements.push(replacement);
      return createLogFile(replacement.file, BATCH_LENGTH);
    });
    let drift: Promise<void> = Promise.resolve();
    const onDrift: TranslateOptions['onDrift'] = (summary) => {
      drift = logs.appendDrift(summary);
      options.onDrift?.(summary);
    };
    for await (const events of translateFolder(source, { ...options, onDrift })) {
      await drift;
      await logs.append(events);
      for (const emitted of events) yield emitted;
    }
    await drift;
    await logs.flush();
    for (const replacement of replacements) await replacement.commit();
  } finally {
    for (const replacement of replacements) await replacement.discard();
  }
}

/**
 * Lists a run's files for a copy that can be read without translating it: the logs, which a packed run does not
 * contain, are rebuilt. Each file must be read before the next is requested, because rebuilt files are temporary.
 */
export async function* listFilesWithLogs(folder: RunFolder): AsyncGenerator<RunFile> {
  yield* folder.files();
  const log = await folder.openLog('rasp');
  await log?.close();
  if (log !== undefined || folder.dir !== undefined || !(await canTranslate(folder))) return;
  const temporary = await mkdtemp(join(tmpdir(), 'sluice-logs-'));
  try {
    for await (const _ of writeLogs(folder, await createRunFolder(temporary), {}));
    yield* walkRunFolder(temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
