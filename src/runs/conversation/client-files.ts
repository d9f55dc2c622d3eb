import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { SluiceError, getErrorMessage } from '../../base/index.js';

/** The largest file that an agent may read or write through its client. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Resolves a path from an agent. Throws `FILE_OUTSIDE_FOLDER` if it is a link or outside. The file can be missing. */
export async function resolveInFolder(folder: string, path: string): Promise<string> {
  const refuse = (reason: string): never => {
    throw new SluiceError('FILE_OUTSIDE_FOLDER', `Access to "${path}" is denied: ${reason}.`);
  };
  if (path === '' || path.includes('\0')) return refuse('it is not a valid path');
  const root = await realpath(folder);
  const target = isAbsolute(path) ? resolve(path) : resolve(root, path);
  const parent = await realpath(dirname(target)).catch(() => refuse('its folder does not exist'));
  const resolved = join(parent, basename(target));
  if (parent !== root && !parent.startsWith(`${root}${sep}`)) return refuse('it is outside the working folder');
  const stats = await lstat(resolved).catch(() => undefined);
  if (stats?.isSymbolicLink() === true) return refuse('it is a link');
  if (stats !== undefined && !stats.isFile()) return refuse('it is not a file');
  return resolved;
}

export async function readForAgent(
  folder: string,
  path: string,
  lines: { readonly line: number | null; readonly limit: number | null },
): Promise<string> {
  const resolved = await resolveInFolder(folder, path);
  const file = await open(resolved, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES)
      throw new SluiceError(
        'FILE_TOO_LARGE',
        `"${path}" is too large: ${size} bytes. The limit is ${MAX_FILE_BYTES} bytes.`,
      );
    const text = await file.readFile('utf8');
    if (lines.line === null && lines.limit === null) return text;
    const start = Math.max(0, (lines.line ?? 1) - 1);
    const rows = text.split('\n');
    return rows.slice(start, lines.limit === null ? undefined : start + lines.limit).join('\n');
  } finally {
    await file.close();
  }
}

export async function writeForAgent(folder: string, path: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new SluiceError('FILE_TOO_LARGE', `"${path}" is too large. The limit is ${MAX_FILE_BYTES} bytes.`);
  const resolved = await resolveInFolder(folder, path);
  const flags =
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(resolved, flags, 0o644).catch((error: unknown) => {
    throw new SluiceError('FILE_OUTSIDE_FOLDER', `Access to "${path}" is denied: ${getErrorMessage(error)}.`);
  });
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}
