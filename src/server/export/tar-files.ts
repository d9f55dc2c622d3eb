import { readChunks } from '../../files/index.js';
import type { RunFile } from '../../run-folder/index.js';

/**
 * The files of a run as a tar archive, even while they are written to: each file has the size it had when it was opened.
 *
 * @example
 * for await (const bytes of tarRun(folder.files(), '01J…')) response.write(bytes)
 */
export async function* tarRun(files: AsyncIterable<RunFile>, name: string): AsyncGenerator<Uint8Array, void> {
  yield tarHeader({ path: `${name}/`, size: 0, mtimeMs: 0, isFolder: true });
  for await (const file of files) yield* tarFile(file, `${name}/${file.path}`);
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

/** Files deleted or replaced by a link since they were listed are left out. */
async function* tarFile(file: RunFile, path: string): AsyncGenerator<Uint8Array, void> {
  const opened = await file.open();
  if (opened === undefined) return;
  try {
    const { size } = await opened.stat();
    yield tarHeader({ path, size, mtimeMs: file.mtimeMs, isFolder: false });
    let at = 0;
    for await (const chunk of readChunks(opened, { to: size })) {
      yield chunk;
      at += chunk.length;
    }
    // A file truncated meanwhile is padded with zeros: its size is already in the header.
    for (; at < size; at += ZEROS.length) yield ZEROS.subarray(0, size - at);
    yield padding(size);
  } finally {
    await opened.close();
  }
}

const ZEROS = new Uint8Array(64 * 1024);

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
const MAX_OCTAL = 8 ** 11 - 1;

/**
 * The header of an entry in the POSIX format (pax): ustar where name and size fit, otherwise preceded by a record with the
 * full values.
 */
function tarHeader(entry: TarEntry): Uint8Array {
  const records = [
    ...(fitsName(entry.path) ? [] : [paxRecord('path', entry.path)]),
    ...(entry.size <= MAX_OCTAL ? [] : [paxRecord('size', String(entry.size))]),
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
  block.write(octal(Math.min(size, MAX_OCTAL), 12), 124, 'latin1');
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
