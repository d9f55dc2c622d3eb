import { join } from 'node:path';
import { makeFolder } from './temporary-folder.js';

/** A folder that is not there and that nobody can make, root neither; on Linux one where Node's own way would never end. */
export async function closedPlace(): Promise<string> {
  return process.platform === 'linux' ? '/proc/sluice' : join(await makeFolder({ file: '' }), 'file', 'sluice');
}
