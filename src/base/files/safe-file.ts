import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileError, getErrorCode } from '../index.js';
import { readSpan } from './read-span.js';
import { withFolder } from './safe-folder.js';
import type { OpenFile, TrustedRoot } from '../index.js';

/*
 * An agent can write to its run folder, so a file there could be a link to another file or a pipe that never ends.
 * Links are not followed and only regular files are opened; `safe-folder.ts` checks the folders above.
 */

// Windows has neither flag; creating links there requires privileges that agents do not have.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;

/** Opens a regular file for reading; undefined if the file does not exist. */
export async function openForReading(path: string, root: TrustedRoot = {}): Promise<FileHandle | undefined> {
  return openRegular(path, constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING, root);
}

/** Opens a regular file for reading and appending, and creates it if it does not exist. */
export async function openForAppending(path: string, root: TrustedRoot = {}): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW | NON_BLOCKING;
  const handle = await openRegular(path, flags, root);
  if (handle === undefined) {
    throw new FileError(
      'FILE_UNREADABLE',
      `Cannot create "${path}": its folder does not exist. Check which process deletes files there.`,
    );
  }
  return handle;
}

/** Creates a new file for writing; throws if the file exists. */
export async function openNew(path: string, mode = 0o666): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, mode);
}

async function openRegular(path: string, flags: number, root: TrustedRoot): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await withFolder(dirname(path), root, {
      work: async (folderPath) => open(join(folderPath, basename(path)), flags, 0o666),
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
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new FileError('UNSAFE_FILE', `"${path}" is not a regular file. Remove it.`);
}

/**
 * Reads a small file as text; undefined if it does not exist. `openFile` opens a file that is not on disk, such as one
 * in a packed run.
 */
export async function readSmallFile(
  path: string,
  maxBytes: number,
  openFile: OpenFile = async () => openForReading(path),
): Promise<string | undefined> {
  const handle = await openFile();
  if (handle === undefined) return undefined;
  try {
    // One byte more than the limit is enough to detect that the file is too large, even if it has grown since `stat`.
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
