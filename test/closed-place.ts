import { join } from 'node:path';
import { makeFolder } from './temporary-folder.js';

/** A folder that does not exist and that no one can create, not even root; on Linux one where Node's own way would never end. */
export async function closedPlace(): Promise<string> {
  return process.platform === 'linux' ? '/proc/sluice' : join(await makeFolder({ file: '' }), 'file', 'sluice');
}
