import { encodeLines } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { listKeys } from '../../base/index.js';
import { beginReplacement } from '../../base/files/index.js';
import type { Replacement } from '../../base/files/index.js';
import { RunFolderError } from './run-folder-error.js';
import { toDriftRow, toRows } from './logs/run-logs.js';
import type { Row } from './logs/run-logs.js';
import { openWritableRunFolder } from './open-run-folder.js';
import { translateFolder } from './translate-run-folder.js';
import type { TranslateOptions } from './translate-run-folder.js';
import { RUN_LOGS } from './file-names.js';
import type { RunLog } from './file-names.js';
import type { WritableRunFolder } from './open-run-folder.js';

/**
 * Translates all attempts of a run folder, yields their events and rewrites its logs. The logs change only after the last event
 * was consumed, so a consumer that stops early leaves them unchanged.
 *
 * @example
 * for await (const emitted of rewriteRunLogs('runs/01J…')) show(emitted)
 */
export async function* rewriteRunLogs(
  dir: string,
  options: Omit<TranslateOptions, 'attempt' | 'follow'> = {},
): AsyncGenerator<Emitted> {
  const folder = await openWritableRunFolder(dir);
  if ((await folder.attempts()).length === 0) {
    throw new RunFolderError(
      'RUN_FOLDER_EMPTY',
      `Cannot write logs: "${folder.place}" contains no run. Pass the folder of a run.`,
    );
  }
  const logs = await replaceRunLogs(folder);
  try {
    const pending: Row[] = [];
    const onDrift: TranslateOptions['onDrift'] = (summary) => {
      pending.push(toDriftRow(summary));
      options.onDrift?.(summary);
    };
    for await (const events of translateFolder(folder, { ...options, onDrift })) {
      await logs.add([...pending.splice(0), ...events.flatMap(toRows)]);
      for (const emitted of events) yield emitted;
    }
    await logs.add(pending);
    await logs.commit();
  } finally {
    await logs.discard();
  }
}

/** New versions of a run's three logs. */
interface RunLogsReplacement {
  add(rows: readonly Row[]): Promise<void>;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** The number of characters that are collected before they are written to a log. */
const BATCH_LENGTH = 256 * 1024;

/** Starts to rewrite a run's logs; the old logs stay until `commit` replaces them. */
async function replaceRunLogs(folder: WritableRunFolder): Promise<RunLogsReplacement> {
  const logs = new Map<RunLog, { readonly replacement: Replacement; values: object[]; lines: string }>();
  const discard = async (): Promise<void> => {
    for (const { replacement } of logs.values()) await replacement.discard();
  };
  try {
    for (const log of listKeys(RUN_LOGS)) {
      logs.set(log, { replacement: await beginReplacement(folder.logPath(log), folder), values: [], lines: '' });
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async add(rows) {
      for (const { log, value } of rows) {
        logs.get(log)?.values.push(value);
      }
      for (const log of logs.values()) {
        log.lines += encodeLines(log.values);
        log.values = [];
        if (log.lines.length < BATCH_LENGTH) continue;
        const { lines } = log;
        log.lines = '';
        await log.replacement.file.appendFile(lines);
      }
    },
    async commit() {
      for (const { replacement, lines } of logs.values()) await replacement.file.appendFile(lines);
      for (const { replacement } of logs.values()) await replacement.commit();
    },
    discard,
  };
}
