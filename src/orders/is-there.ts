import { lstat } from 'node:fs/promises';

/** Whether something of this name exists, be it a link that leads nowhere. What cannot be looked at counts as absent. */
export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
