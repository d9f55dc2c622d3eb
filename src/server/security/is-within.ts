import { isAbsolute, relative, sep } from 'node:path';

/** Whether a path is a folder or lies in it; both are real paths. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
