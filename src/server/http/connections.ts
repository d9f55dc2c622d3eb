import { readFile } from 'node:fs/promises';

const MAX_CONNECTIONS = 10_000;
const LIMITS_FILE = '/proc/self/limits';

/**
 * Chooses the limit for concurrent connections: half of the descriptors that this process may open, because runs,
 * stores and child processes need the rest; at most 10,000.
 */
export async function chooseConnectionLimit(): Promise<number> {
  const limits = await readFile(LIMITS_FILE, 'utf8').catch(() => '');
  const descriptors = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 2));
}
