import { createArchive } from '../server/config/index.js';
import type { Config } from '../server/config/index.js';
import { isSluiceError } from '../base/index.js';
import { RunFolderError, openRun } from '../runs/run-folder/index.js';
import type { RunFolder } from '../runs/run-folder/index.js';

/** Opens a run by its id: in the data folder, packed or not, or in the configured archive. */
export async function openRunById(config: Pick<Config, 'data' | 'archive'>, run: string): Promise<RunFolder> {
  try {
    return await openRun(config.data, run);
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'INVALID_RUN_ID') throw error;
    const archive = await createArchive(config, process.env);
    const archivedRun = await archive?.openRun(run);
    if (archivedRun !== undefined) return archivedRun;
    if (error.code !== 'RUN_FOLDER_NOT_FOUND') throw error;
    const message = `Run "${run}" not found in "${config.data}", and there is no folder with this name. Check the id and --data.`;
    throw new RunFolderError('RUN_FOLDER_NOT_FOUND', message, { cause: error });
  }
}
