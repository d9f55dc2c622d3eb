import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isSluiceError } from '../../base/index.js';
import { openForReading } from '../../files/index.js';

const CHUNK = 64 * 1024;
/** A run folder has few levels and files; one with more is something else. */
export const DEEPEST_FOLDER = 32;
const MOST_ENTRIES = 100_000;

/**
 * A folder as a tar archive, even while it is written to: each file has the size it had when it was opened. Links and
 * everything else that is neither file nor folder are left out: a worker may have created them.
 *
 * @example
 * for await (const bytes of tarFolder('/data/runs/01J…', '01J…')) response.write(bytes)
 */
export async function* tarFolder(folder: string, name: string): AsyncGenerator<Uint8Array, void> {
  let entries = 0;

  async function* walk(dir: string, path: string, depth: number): AsyncGenerator<Uint8Array, void> {
    const { mtimeMs } = await lstat(dir);
    yield tarHeader({ path: `${path}/`, size: 0, mtimeMs, isFolder: true });
    for (const entry of await listEntries(dir, MOST_ENTRIES - entries)) {
      entries += 1;
      if (entry.isFile()) yield* tarFile(join(dir, entry.name), `${path}/${entry.name}`);
      else if (entry.isDirectory() && depth < DEEPEST_FOLDER) {
        yield* walk(join(dir, entry.name), `${path}/${entry.name}`, depth + 1);
      }
    }
  }

  yield* walk(folder, name, 1);
  yield TAR_END;
}

/** Files in memory as a tar archive. */
export async function* tarFiles(
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
): AsyncGenerator<Uint8Array, void> {
  for (const { path, bytes } of files) {
    yield tarHeader({ path, size: bytes.length, mtimeMs: Date.now(), isFolder: false });
    yield bytes;
    yield padding(bytes.length);
  }
  yield TAR_END;
}

/** Sorted by name, so that the same folder gives the same archive. */
async function listEntries(dir: string, most: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(dir)) {
    if (entries.length >= most) break;
    entries.push(entry);
  }
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function* tarFile(path: string, name: string): AsyncGenerator<Uint8Array, void> {
  const handle = await openIfRegular(path);
  if (handle === undefined) return;
  try {
    const { size, mtimeMs } = await handle.stat();
    yield tarHeader({ path: name, size, mtimeMs, isFolder: false });
    for (let at = 0; at < size;) {
      // A file truncated meanwhile is padded with zeros: its size is already in the header.
      const chunk = new Uint8Array(Math.min(CHUNK, size - at));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
      const read = bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead);
      yield read;
      at += read.length;
    }
    yield padding(size);
  } finally {
    await handle.close();
  }
}

/** Files deleted or replaced by a link since they were listed are left out. */
async function openIfRegular(path: string): Promise<FileHandle | undefined> {
  try {
    return await openForReading(path);
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}

/** The header of a file or folder. */
interface TarEntry {
  /** With slashes; that of a folder ends with one. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly isFolder: boolean;
}

/** The block size of an archive. */
const TAR_BLOCK = 512;

/** Two empty blocks end an archive. */
const TAR_END = new Uint8Array(2 * TAR_BLOCK);

const NAME_BYTES = 100;
/** Eleven octal digits. */
const MOST_OCTAL = 8 ** 11 - 1;

/**
 * The header of an entry in the POSIX format (pax): ustar where name and size fit, otherwise preceded by a record with the
 * full values.
 */
function tarHeader(entry: TarEntry): Uint8Array {
  const records = [
    ...(fitsName(entry.path) ? [] : [paxRecord('path', entry.path)]),
    ...(entry.size <= MOST_OCTAL ? [] : [paxRecord('size', String(entry.size))]),
  ];
  const own = ustar({ ...entry, type: entry.isFolder ? '5' : '0' });
  if (records.length === 0) return own;
  const body = Buffer.from(records.join(''));
  const path = `PaxHeaders/${entry.path}`;
  const extended = ustar({ path, size: body.length, mtimeMs: entry.mtimeMs, type: 'x' });
  return Buffer.concat([extended, body, padding(body.length), own]);
}

/** The padding of the last block. */
function padding(size: number): Uint8Array {
  return new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** Names outside of ASCII are portable only in a record. */
function fitsName(path: string): boolean {
  return Buffer.byteLength(path) <= NAME_BYTES && /^[\x20-\x7e]*$/.test(path);
}

/** `25 path=a/long/name\n`: the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return `${length}${rest}`;
}

function ustar({
  path,
  size,
  mtimeMs,
  type,
}: Omit<TarEntry, 'isFolder'> & { readonly type: '0' | '5' | 'x' }): Uint8Array {
  const block = Buffer.alloc(TAR_BLOCK);
  block.write(path.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, NAME_BYTES), 0, 'latin1');
  block.write(octal(type === '5' ? 0o755 : 0o644, 8), 100, 'latin1');
  block.write(octal(0, 8), 108, 'latin1');
  block.write(octal(0, 8), 116, 'latin1');
  block.write(octal(Math.min(size, MOST_OCTAL), 12), 124, 'latin1');
  block.write(octal(Math.max(0, Math.floor(mtimeMs / 1000)), 12), 136, 'latin1');
  // The checksum is computed with blanks in its own field.
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  // Magic, terminator, version.
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
