import { keysOf } from '../../base/index.js';
import { RUN_LOGS } from '../file-names.js';
import type { RunLog } from '../file-names.js';
import { beginReplacement } from '../../files/index.js';
import type { Replacement } from '../../files/index.js';
import type { RunFolder } from '../open-run-folder.js';
import type { Row } from './event-rows.js';

/** The three logs of a run, written anew. */
export interface RunLogsReplacement {
  add(rows: readonly Row[]): Promise<void>;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Written to the file once so much text has come together. */
const BATCH = 256 * 1024;

/** Begins to write the logs of a run anew; the old ones stay until `commit` puts the new in their place. */
export async function replaceRunLogs(folder: RunFolder): Promise<RunLogsReplacement> {
  const logs = new Map<RunLog, { readonly replacement: Replacement; lines: string }>();
  const discard = async (): Promise<void> => {
    for (const { replacement } of logs.values()) await replacement.discard();
  };
  try {
    for (const log of keysOf(RUN_LOGS)) {
      logs.set(log, { replacement: await beginReplacement(folder.logPath(log)), lines: '' });
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async add(rows) {
      for (const { log, value } of rows) {
        const target = logs.get(log);
        if (target !== undefined) target.lines += `${JSON.stringify(value)}\n`;
      }
      for (const log of logs.values()) {
        if (log.lines.length < BATCH) continue;
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
