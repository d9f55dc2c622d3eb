import { lstat } from 'node:fs/promises';

/** Whether anything exists at this path, including a dangling link. A path that cannot be read counts as absent. */
export async function isPresent(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
