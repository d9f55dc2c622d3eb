import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/**
 * Finds an executable as the system would: a name on the PATH, or a path relative to the working folder. Returns
 * undefined if none is found.
 *
 * @example
 * await findExecutable('codex', { path: process.env.PATH ?? '', cwd: process.cwd() }) // '/usr/local/bin/codex'
 */
export async function findExecutable(
  program: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<string | undefined> {
  const isPath = program.includes('/') || (process.platform === 'win32' && program.includes('\\'));
  const folders = isPath || isAbsolute(program) ? [cwd] : path.split(delimiter).filter((folder) => folder !== '');
  const extensions = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  for (const folder of folders) {
    for (const extension of extensions) {
      const file = isAbsolute(program)
        ? `${program}${extension}`
        : join(resolve(cwd, folder), `${program}${extension}`);
      if (await isExecutable(file)) return file;
    }
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
