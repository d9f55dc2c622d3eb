import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileError, getErrorCode } from '../base/index.js';
import { readSpan } from './readable-file.js';
import { withFolder } from './safe-folder.js';
import type { Below, OpenFile } from '../base/index.js';

/*
 * A worker can write into its run folder, so a name there may be a link to somewhere else or a pipe that never ends.
 * Links are not followed and only regular files are opened; `safe-folder.ts` takes care of the folders above.
 */

// Windows has neither; links there need rights that workers do not have.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Opens a regular file for reading; undefined if the file does not exist. */
export async function openForReading(path: string, below: Below = {}): Promise<FileHandle | undefined> {
  return openRegular(path, constants.O_RDONLY | NO_FOLLOW | NO_WAIT, below);
}

/** Opens a regular file for reading and for appending, and creates it if it does not exist. */
export async function openForAppending(path: string, below: Below = {}): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW | NO_WAIT;
  const handle = await openRegular(path, flags, below);
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

async function openRegular(path: string, flags: number, below: Below): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await withFolder(dirname(path), below, {
      work: async (place) => open(join(place, basename(path)), flags, 0o666),
      undo: async (opened) => opened.close(),
    });
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

/** Reads a whole small file as text; undefined if the file does not exist. `openFile` is for files that are stored elsewhere. */
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
