import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { SluiceError, isSluiceError } from '../../base/index.js';
import { isPresent, openForReading } from '../../base/files/index.js';
import { openRunFolder, readPackedRun, type RunFolder } from './open-run-folder.js';
import { RunFolderError } from './run-folder-error.js';

/** A plain folder name: no separators, no `..`. The message of `checkRunId` describes it: change both together. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The folder for packed runs in a data folder. */
export const PACKED_FOLDER = 'packed';

/** Returns the path of a run's folder; throws `INVALID_RUN_ID` for an invalid id. */
export function getRunFolderPath(data: string, runId: string): string {
  return join(data, 'runs', checkRunId(runId));
}

/** Returns the path of the file that exists while a worker without a database is still copying a run's files here. */
export function getIncomingPath(data: string, runId: string): string {
  return join(data, 'incoming', checkRunId(runId));
}

/**
 * Returns the path of a run's packed file. The files are spread over 4096 folders, so none gets too large.
 *
 * @example
 * getPackedRunPath('/data', '01J…') // '/data/packed/3f2/01J….zip'
 */
export function getPackedRunPath(data: string, runId: string): string {
  return join(data, PACKED_FOLDER, getPackedRunName(runId));
}

/** Returns the path of a packed run relative to the folder of packed runs; also its key in an archive. */
export function getPackedRunName(runId: string): string {
  const shard = createHash('sha256').update(checkRunId(runId)).digest('hex').slice(0, 3);
  return `${shard}/${runId}.zip`;
}

function checkRunId(runId: string): string {
  if (RUN_ID.test(runId)) return runId;
  const quotedId = JSON.stringify(runId.length > 128 ? `${runId.slice(0, 128)}…` : runId);
  const message = `Invalid run id ${quotedId}. Use 1 to 128 letters (A to Z, a to z), digits, dots, underscores and hyphens, and start with a letter or a digit.`;
  throw new SluiceError('INVALID_RUN_ID', message);
}

/** Opens a run in a data folder, packed or not. Throws `RUN_FOLDER_NOT_FOUND` if it does not exist. */
export async function openRun(data: string, runId: string): Promise<RunFolder> {
  // Packed first: once that file exists, the folder can be partly removed.
  const packed = await openIfPacked(data, runId);
  if (packed !== undefined) return packed;
  try {
    return await openRunFolder(getRunFolderPath(data, runId), { trustedRoot: data });
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'RUN_FOLDER_NOT_FOUND') throw error;
    // It might have been packed since the first check.
    const packedNow = await openIfPacked(data, runId);
    if (packedNow !== undefined) return packedNow;
    throw error;
  }
}

async function openIfPacked(data: string, runId: string): Promise<RunFolder | undefined> {
  const path = getPackedRunPath(data, runId);
  if (!(await isPresent(path))) return undefined;
  try {
    return await readPackedRun(async () => openForReading(path, { trustedRoot: data }), path);
  } catch (error) {
    if (error instanceof RunFolderError && error.code === 'RUN_FOLDER_NOT_FOUND') return undefined;
    throw error;
  }
}
