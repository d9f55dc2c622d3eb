import {
  appendFile,
  appendFileSync,
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  openSync,
  read,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { open, lstat, realpath, stat, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, isAbsolute, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import {
  FileError,
  getErrorCode,
  isSluiceError,
  type OpenFile,
  type TrustedRoot,
  type AppendableFile,
  type ReadableFile,
} from '../index.js';
import { isThere, withFolder } from './safe-folder.js';

/*
 * An agent can write to its run folder, so a file there could be a link to another file or a pipe that never ends.
 * Links are not followed and only regular files are opened; `safe-folder.ts` checks the folders above.
 *
 * Calls that take microseconds are synchronous: the thread pool takes ten times as long, and a run makes hundreds.
 */

// Windows has neither flag; creating links there requires privileges that agents do not have.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;

/** Opens a regular file for reading; undefined if the file does not exist. */
export async function openForReading(path: string, root: TrustedRoot = {}): Promise<OpenedFile | undefined> {
  return openRegular(path, root, async (name) => (isThere(name) ? openAtOnce(name, READ_FLAGS) : undefined));
}

const READ_FLAGS = constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING;

/** Opens a regular file for reading and appending, and creates it if it does not exist. */
export async function openForAppending(path: string, root: TrustedRoot = {}): Promise<OpenedFile> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW | NON_BLOCKING;
  const handle = await openRegular(path, root, async (name) => openAtOnce(name, flags));
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

async function openRegular<T extends { readonly fd: number; close(): Promise<void> }>(
  path: string,
  root: TrustedRoot,
  openFile: (name: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  let handle: T | undefined;
  try {
    handle = await withFolder(dirname(path), root, {
      work: async (folderPath) => openFile(join(folderPath, basename(path))),
      undo: async (opened) => opened?.close(),
    });
  } catch (error) {
    if (error instanceof FileError) throw error;
    const code = getErrorCode(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') {
      const reason = `"${path}" is a symbolic link, and links are not followed. Replace it with a regular file.`;
      throw new FileError('UNSAFE_FILE', reason, { cause: error });
    }
    const message = `Cannot open "${path}" (${String(code)}). Check its permissions and the disk.`;
    throw new FileError('FILE_UNREADABLE', message, { cause: error });
  }
  if (handle === undefined) return undefined;
  let isRegular = false;
  try {
    isRegular = fstatSync(handle.fd).isFile();
  } finally {
    if (!isRegular) await handle.close();
  }
  if (isRegular) return handle;
  throw new FileError('UNSAFE_FILE', `"${path}" is not a regular file. Remove it.`);
}

/** An open file whose small reads and writes do not use the thread pool. */
export interface OpenedFile extends ReadableFile, AppendableFile {
  stat(): Promise<Stats>;
  close(): Promise<void>;
}

function openAtOnce(path: string, flags: number): OpenedFile {
  let fd = openSync(path, flags, 0o666);
  /** Another thread must not use the descriptor when it is closed: it could then belong to another file. */
  let inUse: Promise<unknown> = Promise.resolve();
  const useLater = async <T>(work: Promise<T>): Promise<T> => {
    inUse = Promise.allSettled([inUse, work]);
    return work;
  };
  return {
    /** Invalid once the file is closed. */
    get fd() {
      return fd;
    },
    stat: async () => fstatSync(fd),
    read: async (buffer, offset, length, position) =>
      length <= MAX_SYNC_BYTES
        ? { bytesRead: readSync(fd, buffer, offset, length, position) }
        : useLater(readLater(fd, buffer, offset, length, position)),
    appendFile: async (data) => useLater(appendLater(fd, data)),
    datasync: async () => useLater(syncLater(fd)),
    async close() {
      if (fd === -1) return;
      const opened = fd;
      fd = -1;
      await inUse;
      closeSync(opened);
    },
  };
}

const [readLater, appendLater, syncLater] = [promisify(read), promisify(appendFile), promisify(fdatasync)];

/** Larger reads and writes could wait for the disk. */
const MAX_SYNC_BYTES = 64 * 1024;

/** Long text is encoded in slices of this length: as a whole, its bytes would take its size once more. */
const SLICE_LENGTH = 1024 * 1024;

export async function appendTo(file: AppendableFile, data: string | Uint8Array): Promise<void> {
  if (data.length <= MAX_SYNC_BYTES) return appendFileSync(file.fd, data);
  if (typeof data !== 'string') return file.appendFile(data);
  for (let start = 0; start < data.length;) {
    const end = start + SLICE_LENGTH;
    // A slice that ended between two surrogates would damage their character.
    const isBetween = (data.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const slice = data.slice(start, isBetween ? end - 1 : end);
    await file.appendFile(slice);
    start += slice.length;
  }
}

/** Reads a small file as text; undefined if it does not exist. `openFile` opens a file that is not on disk. */
export async function readSmallFile(path: string, maxBytes: number, openFile?: OpenFile): Promise<string | undefined> {
  return (await readSmallBytes(path, maxBytes, openFile))?.toString('utf8');
}

/** Like {@link readSmallFile}, for a file that is not text. */
export async function readSmallBytes(
  path: string,
  maxBytes: number,
  openFile: OpenFile = async () => openForReading(path),
): Promise<Buffer | undefined> {
  const handle = await openFile();
  if (handle === undefined) return undefined;
  try {
    // One byte more than the limit is enough to detect that the file is too large, even if it has grown since `stat`.
    const bytes = await readSpan(handle, 0, Math.min((await handle.stat()).size, maxBytes) + 1);
    if (bytes.length <= maxBytes) return bytes;
    throw new FileError(
      'FILE_TOO_LARGE',
      `"${path}" is larger than ${maxBytes} bytes, the limit for this kind of file. Check what wrote it.`,
    );
  } finally {
    await handle.close();
  }
}

/** Reads `length` bytes from `position`, or fewer if the file ends earlier. */
export async function readSpan(file: ReadableFile, position: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const buffer = Buffer.allocUnsafe(length);
  let bytesTotal = 0;
  while (bytesTotal < length) {
    const { bytesRead } = await file.read(buffer, bytesTotal, length - bytesTotal, position + bytesTotal);
    if (bytesRead === 0) break;
    bytesTotal += bytesRead;
  }
  return buffer.subarray(0, bytesTotal);
}

const CHUNK_SIZE = 256 * 1024;

/** Reads a file's bytes from one position to another in chunks; ends early if the file does. */
export async function* readChunks(
  file: ReadableFile,
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<Uint8Array, void> {
  for (let position = from; position < to;) {
    // A new buffer each time: the caller might still be using the last one.
    const chunk = new Uint8Array(Math.min(CHUNK_SIZE, to - position));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/**
 * Opens a file in a folder that an agent can write to; undefined if it is missing or outside. The agent can replace a
 * folder with a link at any time, so the opened file is checked.
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined;
  try {
    const root = await realpath(folder);
    handle = await openRegular(join(root, path), {}, async (name) =>
      isThere(name) ? open(name, READ_FLAGS) : undefined,
    );
    if (handle === undefined) return undefined;
    const realPath = await realpath(join(root, path));
    const [opened, expected] = [await handle.stat({ bigint: true }), await stat(realPath, { bigint: true })];
    const isSame = opened.dev === expected.dev && opened.ino === expected.ino;
    if (isSame && isWithin(root, realPath)) return handle;
  } catch (error) {
    await handle?.close();
    // A deleted file, a link, a pipe, or a path through something that is not a folder: all count as missing.
    if (isSluiceError(error) || isMissing(error)) return undefined;
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Returns the size of a regular file in a folder; null if it is missing or outside. */
export async function getSizeInside(folder: string, path: string): Promise<number | null> {
  try {
    const fullPath = join(await realpath(folder), path);
    if ((await realpath(fullPath)) !== fullPath) return null;
    const found = await lstat(fullPath);
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']);

function isMissing(error: unknown): boolean {
  return MISSING.has(getErrorCode(error) ?? '');
}

/** Whether a path is a folder or inside it; both must be real paths. */
export function isWithin(folder: string, path: string): boolean {
  const fromFolder = relative(folder, path);
  return fromFolder === '' || (fromFolder !== '..' && !fromFolder.startsWith(`..${sep}`) && !isAbsolute(fromFolder));
}

/** Parses JSON; returns undefined if it is invalid, because files in a run folder can be cut off or forged. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

let replacementCount = 0;

export interface Replacement {
  readonly file: FileHandle;
  /** Replaces the old content with the new. */
  commit(): Promise<void>;
  /** Leaves the old content unchanged; does nothing after `commit`. */
  discard(): Promise<void>;
}

interface ReplaceOptions extends TrustedRoot {
  /** Whether the new content survives a power failure (default). Costs two disk syncs. */
  readonly isDurable?: boolean;
}

/**
 * Starts an atomic replacement of a file: a reader gets either the old content or the new, even after a crash. The new
 * content is written to a temporary file in the same folder until it is committed. No link is followed below
 * `trustedRoot`.
 */
export async function beginReplacement(
  path: string,
  { trustedRoot, isDurable = true }: ReplaceOptions = {},
): Promise<Replacement> {
  const [name, temporary] = [basename(path), nameTemporary(path)];
  const folder = dirname(path);
  const inFolder = async <T>(work: (folderPath: string) => Promise<T>): Promise<T> =>
    withFolder(folder, { trustedRoot: trustedRoot ?? folder }, { work });
  const file = await inFolder(async (folderPath) => openNew(join(folderPath, temporary)));
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await file.close();
  };
  return {
    file,
    async commit() {
      if (isDurable) await file.sync();
      await close();
      await inFolder(async (folderPath) => {
        await rename(join(folderPath, temporary), join(folderPath, name));
        if (isDurable) await syncFolder(folderPath);
      });
    },
    async discard() {
      await close();
      await inFolder(async (folderPath) => rm(join(folderPath, temporary), { force: true })).catch((error: unknown) => {
        // The folder is gone, and the file with it.
        if (getErrorCode(error) !== 'ENOENT') throw error;
      });
    },
  };
}

function nameTemporary(path: string): string {
  replacementCount += 1;
  return `${basename(path)}.${process.pid}.${Date.now()}.${replacementCount}.tmp`;
}

/** Replaces the content of a file atomically. */
export async function replaceFile(path: string, text: string, options: ReplaceOptions = {}): Promise<void> {
  if (options.isDurable === false && text.length <= MAX_SYNC_BYTES) return replaceSmallFile(path, text, options);
  const replacement = await beginReplacement(path, options);
  try {
    await replacement.file.appendFile(text);
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

async function replaceSmallFile(
  path: string,
  text: string,
  { trustedRoot = dirname(path) }: TrustedRoot,
): Promise<void> {
  const temporary = nameTemporary(path);
  const work = async (folderPath: string): Promise<void> => {
    try {
      writeFileSync(join(folderPath, temporary), text, { flag: 'wx' });
      renameSync(join(folderPath, temporary), join(folderPath, basename(path)));
    } catch (error) {
      rmSync(join(folderPath, temporary), { force: true });
      throw error;
    }
  };
  await withFolder(dirname(path), { trustedRoot }, { work });
}

/** Makes a rename survive a power failure, if the system supports it. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and does not need to sync it.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
