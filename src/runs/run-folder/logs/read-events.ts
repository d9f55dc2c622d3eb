import { decodeLine, getCount, type Emitted } from '../../../events/index.js';
import type { OpenFile } from '../../../base/index.js';
import { openLineTail, beginReplacement, type Replacement } from '../../../base/files/index.js';
import { type RunFolder, createRunFolder, openWritableRunFolder, type WritableRunFolder } from '../open-run-folder.js';
import { canTranslate, translateRunFolder, translateFolder, type TranslateOptions } from '../translate-run-folder.js';
import { MAX_LINE_BYTES, createLogFile, joinLogs } from './run-logs.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunFolderError } from '../run-folder-error.js';
import { walkRunFolder, type RunFile } from '../run-files.js';

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
    await logs.sync();
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
