import { join } from 'node:path';
import { makeFolder } from './temporary-folder.js';

/**
 * A folder that does not exist and that cannot be created, not even by root; on Linux one where Node's own function would
 * never return.
 */
export async function closedPlace(): Promise<string> {
  return process.platform === 'linux' ? '/proc/sluice' : join(await makeFolder({ file: '' }), 'file', 'sluice');
}
