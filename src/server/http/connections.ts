import { readFile } from 'node:fs/promises';

const MOST_CONNECTIONS = 10_000;
const LIMITS_FILE = '/proc/self/limits';

/**
 * How many connections a server accepts at once: at most half of the descriptors that this process may open, because runs,
 * stores and child processes need the rest. Where the limit cannot be read, 10,000.
 */
export async function chooseConnectionLimit(): Promise<number> {
  const limits = await readFile(LIMITS_FILE, 'utf8').catch(() => '');
  const descriptors = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return Math.min(MOST_CONNECTIONS, Math.floor(descriptors / 2));
}
