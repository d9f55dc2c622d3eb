import { join } from 'node:path';
import { SluiceError } from '../base/index.js';

/** A name for a folder, and nothing that leads out of it. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Where the folder of a run is; throws `INVALID_RUN_ID` for what can be none. */
export function runFolderPath(data: string, runId: string): string {
  if (!RUN_ID.test(runId)) {
    const message = `${JSON.stringify(runId.slice(0, 128))} cannot be the id of a run: give letters, digits, dots and dashes.`;
    throw new SluiceError('INVALID_RUN_ID', message);
  }
  return join(data, 'runs', runId);
}
