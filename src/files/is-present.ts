import { lstat } from 'node:fs/promises';

/** Whether something of this name exists, also a dangling link. What cannot be read counts as absent. */
export async function isPresent(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
