import type { Emitted } from '../events/index.js';
import { RunFolderError } from './run-folder-error.js';
import { rowOfDrift, rowsOf } from './logs/event-rows.js';
import type { Row } from './logs/event-rows.js';
import { replaceRunLogs } from './logs/run-logs-replacement.js';
import { openRunFolder } from './open-run-folder.js';
import { translateFolder } from './translate-run-folder.js';
import type { TranslateOptions } from './translate-run-folder.js';

/**
 * Translates a run folder and writes its logs anew, all attempts. The events are also handed out; the logs change
 * only once the last one was taken, so who stops early leaves them as they were.
 *
 * @example
 * for await (const emitted of rewriteRunLogs('runs/01J…')) show(emitted)
 */
export async function* rewriteRunLogs(
  dir: string,
  options: Omit<TranslateOptions, 'attempt' | 'follow'> = {},
): AsyncGenerator<Emitted> {
  const folder = await openRunFolder(dir);
  if ((await folder.attempts()).length === 0) {
    throw new RunFolderError(
      'RUN_FOLDER_EMPTY',
      `${folder.auditFolder} holds no run, so there is nothing to write; give the folder of a run.`,
    );
  }
  const logs = await replaceRunLogs(folder);
  try {
    const waiting: Row[] = [];
    const onDrift: TranslateOptions['onDrift'] = (summary) => {
      waiting.push(rowOfDrift(summary));
      options.onDrift?.(summary);
    };
    for await (const events of translateFolder(folder, { ...options, onDrift })) {
      await logs.add([...waiting.splice(0), ...events.flatMap(rowsOf)]);
      for (const emitted of events) yield emitted;
    }
    await logs.add(waiting);
    await logs.commit();
  } finally {
    await logs.discard();
  }
}
