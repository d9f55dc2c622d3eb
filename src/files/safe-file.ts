import { constants, existsSync } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { FileError, getErrorCode } from '../base/index.js';
import { readSpan } from './readable-file.js';
import type { OpenFile } from '../base/index.js';

/*
 * A worker can write into its run folder, so a name there may be a link to somewhere else or a pipe that never ends.
 * Links are not followed and only regular files are opened. The folder of a file may also be replaced by a link at any
 * moment: on Linux it is opened first, and the file relative to it; elsewhere it is checked before and after.
 */

// Windows has neither; links there need rights that workers do not have.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Opens a regular file for reading; undefined if the file does not exist. */
export async function openForReading(path: string): Promise<FileHandle | undefined> {
  return openRegular(path, constants.O_RDONLY | NO_FOLLOW | NO_WAIT);
}

/** Opens a regular file for reading and for appending, and creates it if it does not exist. */
export async function openForAppending(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW | NO_WAIT;
  const handle = await openRegular(path, flags);
  if (handle === undefined) {
    throw new FileError(
      'FILE_UNREADABLE',
      `Cannot create "${path}": its folder does not exist. Check what deletes files there.`,
    );
  }
  return handle;
}

/** Creates a new file for writing; throws if the name is taken. */
export async function openNew(path: string, mode = 0o666): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, mode);
}

async function openRegular(path: string, flags: number): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await openInFolder(path, flags);
  } catch (error) {
    if (error instanceof FileError) throw error;
    const code = getErrorCode(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP')
      throw new FileError(
        'UNSAFE_FILE',
        `"${path}" is a symbolic link, and links are not followed. Replace it with a regular file.`,
        {
          cause: error,
        },
      );
    const message = `Cannot open "${path}" (${String(code)}). Check its permissions and the disk.`;
    throw new FileError('FILE_UNREADABLE', message, { cause: error });
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new FileError('UNSAFE_FILE', `"${path}" is not a regular file. Remove it.`);
}

/** Whether an open folder can be named. */
const NAMES_OPEN_FOLDERS = process.platform === 'linux' && existsSync('/proc/self/fd');

async function openInFolder(path: string, flags: number): Promise<FileHandle> {
  const folder = dirname(path);
  if (!NAMES_OPEN_FOLDERS) return openBetweenChecks(path, flags);
  const opened = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW).catch(
    async (error: unknown) => {
      const found = await lstat(folder).catch(() => undefined);
      throw found?.isSymbolicLink() === true ? unsafeFolder(folder, error) : error;
    },
  );
  try {
    return await open(`/proc/self/fd/${opened.fd}/${basename(path)}`, flags, 0o666);
  } finally {
    await opened.close();
  }
}

async function openBetweenChecks(path: string, flags: number): Promise<FileHandle> {
  const folder = dirname(path);
  const before = await lstat(folder, { bigint: true });
  if (!before.isDirectory()) throw unsafeFolder(folder);
  const handle = await open(path, flags, 0o666);
  const after = await lstat(folder, { bigint: true }).catch(() => undefined);
  if (after?.isDirectory() === true && after.dev === before.dev && after.ino === before.ino) return handle;
  await handle.close();
  throw unsafeFolder(folder);
}

function unsafeFolder(folder: string, cause?: unknown): FileError {
  const message = `"${folder}" is not a folder, and links are not followed. Remove it.`;
  return new FileError('UNSAFE_FILE', message, { cause });
}

/** Throws unless the path is a real folder: a link in its place could redirect where files are written. */
export async function requireOwnFolder(path: string): Promise<void> {
  if ((await lstat(path)).isDirectory()) return;
  throw unsafeFolder(path);
}

/** Reads a whole small file as text; undefined if the file does not exist. `open` is for files that are not at the path itself. */
export async function readSmallFile(
  path: string,
  maxBytes: number,
  openFile: OpenFile = async () => openForReading(path),
): Promise<string | undefined> {
  const handle = await openFile();
  if (handle === undefined) return undefined;
  try {
    // Reads one byte more than allowed, because a file may grow after its size was checked.
    const bytes = await readSpan(handle, 0, Math.min((await handle.stat()).size, maxBytes) + 1);
    if (bytes.length > maxBytes) {
      throw new FileError(
        'FILE_TOO_LARGE',
        `"${path}" is larger than ${maxBytes} bytes, the limit for this kind of file. Check what wrote it.`,
      );
    }
    return bytes.toString('utf8');
  } finally {
    await handle.close();
  }
}
