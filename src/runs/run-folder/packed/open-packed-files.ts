import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { readSpan } from '../../../base/files/index.js';
import type { OpenFile, ReadableFile } from '../../../base/index.js';
import { createNotFoundError, RunFolderError } from '../run-folder-error.js';
import type { RunFile } from '../run-files.js';
import {
  DEFLATED,
  LOCAL_HEADER_BYTES,
  TAIL_BYTES,
  createDamagedError,
  decodeDirectory,
  findDirectory,
  measureLocalHeader,
} from './zip-format.js';
import type { ZipEntry } from './zip-format.js';

/** The size of the first read at the end of a packed file; for most runs it contains the whole directory. */
const FIRST_READ_BYTES = Math.max(16 * 1024, TAIL_BYTES);
/** Limits of the directory, which has about 100 bytes per file. */
const MAX_FILES = 200_000;
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
/** The maximum size of a deflated file, which must be read in full; Sluice deflates only files up to {@link SMALL_FILE_BYTES}. */
const MAX_DEFLATED_BYTES = 64 * 1024 * 1024;
/** Files up to this size are deflated; larger files are stored, so any part of them can be read separately. */
export const SMALL_FILE_BYTES = 1024 * 1024;

/** Reads the directory of a packed run. Paths are relative to the folder `root` that contains all files, if any. */
export async function openPackedFiles(open: OpenFile, place: string) {
  const file = await open();
  if (file === undefined) throw createNotFoundError(place);
  try {
    const entries = await readDirectory(file, place);
    checkPaths(entries, place);
    const [first] = entries[0]?.path.split('/') ?? [];
    const root = entries.every(({ path }) => path.startsWith(`${first}/`)) ? first : undefined;
    const files: readonly RunFile[] = entries
      // Other tools write an entry for each folder.
      .filter(({ path }) => !path.endsWith('/'))
      .map((entry) => ({
        path: root === undefined ? entry.path : entry.path.slice(root.length + 1),
        size: entry.size,
        mtimeMs: entry.mtimeMs,
        open: async () => openMember(open, entry, place),
      }));
    return { root, files };
  } finally {
    await file.close();
  }
}

async function readDirectory(file: ReadableFile, place: string): Promise<ZipEntry[]> {
  const { size: total } = await file.stat();
  const tail = await readSpan(file, Math.max(0, total - FIRST_READ_BYTES), Math.min(total, FIRST_READ_BYTES));
  const directory = findDirectory(tail, total);
  if (directory === undefined) throw createDamagedError(place, 'it is not a zip file, or its end is missing');
  const { count, offset, size } = directory;
  if (count > MAX_FILES || size > MAX_DIRECTORY_BYTES) {
    const message = `The directory of "${place}" is too large (${count} files). Unpack it, and pass the folder.`;
    throw new RunFolderError('PACKED_RUN_UNSUPPORTED', message);
  }
  const tailOffset = offset - (total - tail.length);
  const bytes = tailOffset >= 0 ? tail.subarray(tailOffset, tailOffset + size) : await readSpan(file, offset, size);
  return decodeDirectory(bytes, directory, place);
}

/** Checks that all names are unique relative paths: an unpacked run must not write outside its folder. */
function checkPaths(entries: readonly ZipEntry[], place: string): void {
  const seen = new Set<string>();
  for (const { path } of entries) {
    if (!isPackedPath(path.replace(/\/$/u, '')) || seen.has(path))
      throw createDamagedError(
        place,
        `${JSON.stringify(path.slice(0, 200))} is not a valid file name in it, or occurs twice`,
      );
    seen.add(path);
  }
}

/** Whether a file in a packed run may have this path. A backslash separates folders on Windows only. */
export function isPackedPath(path: string): boolean {
  if (/\0|^[A-Za-z]:/u.test(path) || (process.platform === 'win32' && path.includes('\\'))) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Opens a file in a packed run, once bytes are requested: a list of files needs only their sizes. */
function openMember(open: OpenFile, entry: ZipEntry, place: string): ReadableFile {
  const isReadInFull = entry.method === DEFLATED || entry.size <= SMALL_FILE_BYTES;
  let opened: Promise<Member> | undefined;
  // If a large file is read from start to end, its checksum is verified too.
  let verified = { upTo: 0, crc: 0 };
  return {
    stat: async () => ({ size: entry.size }),
    async read(buffer, offset, length, position) {
      const wanted = Math.min(length, entry.size - position);
      if (wanted <= 0) return { bytesRead: 0 };
      opened ??= openData(open, entry, { place, isReadInFull });
      const member = await opened;
      if (Buffer.isBuffer(member)) {
        buffer.set(member.subarray(position, position + wanted), offset);
        return { bytesRead: wanted };
      }
      const { bytesRead } = await member.file.read(buffer, offset, wanted, member.start + position);
      if (bytesRead === 0) throw createDamagedError(place, `it ends within "${entry.path}"`);
      if (position === verified.upTo) {
        const crc = crc32(buffer.subarray(offset, offset + bytesRead), verified.crc);
        verified = { upTo: position + bytesRead, crc };
        if (verified.upTo === entry.size && crc !== entry.crc) throw createChecksumError(place, entry.path);
      }
      return { bytesRead };
    },
    async close() {
      const member = await opened?.catch(() => undefined);
      opened = undefined;
      if (member !== undefined && !Buffer.isBuffer(member)) await member.file.close();
    },
  };
}

/** The full content, or the packed file and the offset of the content in it. */
type Member = Buffer | { readonly file: ReadableFile; readonly start: number };

async function openData(
  open: OpenFile,
  entry: ZipEntry,
  { place, isReadInFull }: { readonly place: string; readonly isReadInFull: boolean },
): Promise<Member> {
  if (isReadInFull && Math.max(entry.packed, entry.size) > MAX_DEFLATED_BYTES) {
    const message = `"${entry.path}" in "${place}" is too large to be read in full, and cannot be read in parts because it is compressed. Unpack the run, and pass the folder.`;
    throw new RunFolderError('PACKED_RUN_UNSUPPORTED', message);
  }
  const file = await open();
  if (file === undefined) throw createDamagedError(place, 'it was removed while it was being read');
  let staysOpen = false;
  try {
    // One read gets the header and the content of most small files: in an archive, each read is a request.
    const aheadBytes = isReadInFull ? Math.min(entry.packed, SMALL_FILE_BYTES) + entry.path.length * 3 + 64 : 0;
    const head = await readSpan(file, entry.offset, LOCAL_HEADER_BYTES + aheadBytes);
    const header = measureLocalHeader(head);
    if (header === undefined)
      throw createDamagedError(place, `"${entry.path}" is not at the offset listed in the directory`);
    const start = entry.offset + header;
    if (!isReadInFull) {
      staysOpen = true;
      return { file, start };
    }
    const ahead = head.subarray(header, header + entry.packed);
    return await unpack(
      ahead.length === entry.packed ? ahead : await readSpan(file, start, entry.packed),
      entry,
      place,
    );
  } finally {
    if (!staysOpen) await file.close();
  }
}

async function unpack(bytes: Buffer, { method, crc, size, packed, path }: ZipEntry, place: string): Promise<Buffer> {
  if (bytes.length !== packed) throw createDamagedError(place, `it ends within "${path}"`);
  let content: Buffer;
  try {
    content = method === DEFLATED ? await promisify(inflateRaw)(bytes, { maxOutputLength: Math.max(1, size) }) : bytes;
  } catch {
    throw createDamagedError(place, `"${path}" cannot be decompressed`);
  }
  if (content.length !== size || crc32(content) !== crc) throw createChecksumError(place, path);
  return content;
}

function createChecksumError(place: string, path: string): RunFolderError {
  return createDamagedError(place, `the checksum of "${path}" is wrong`);
}
