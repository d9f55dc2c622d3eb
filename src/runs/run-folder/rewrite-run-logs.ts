import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Emitted } from '../../events/index.js';
import { beginReplacement } from '../../base/files/index.js';
import type { Replacement } from '../../base/files/index.js';
import { RunFolderError } from './run-folder-error.js';
import { createLogFile, joinLogs } from './logs/run-logs.js';
import { createRunFolder, openWritableRunFolder } from './open-run-folder.js';
import type { RunFolder, WritableRunFolder } from './open-run-folder.js';
import { walkRunFolder } from './run-files.js';
import type { RunFile } from './run-files.js';
import { canTranslate, translateFolder } from './translate-run-folder.js';
import type { TranslateOptions } from './translate-run-folder.js';

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
