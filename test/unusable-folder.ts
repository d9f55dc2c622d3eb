import { join } from 'node:path';
import { makeFolder } from './temporary-folder.js';

/**
 * Returns the path of a folder that cannot be created, not even by root; on Linux, a path for which Node's own function
 * would never return.
 */
export async function findUnusableFolder(): Promise<string> {
  return process.platform === 'linux' ? '/proc/sluice' : join(await makeFolder({ file: '' }), 'file', 'sluice');
}
