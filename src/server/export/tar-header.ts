/** What a tar archive says about a file or folder before its bytes. */
export interface TarEntry {
  /** With slashes; a folder's ends with one. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly isFolder: boolean;
}

/** Everything in an archive comes in blocks of this size. */
const TAR_BLOCK = 512;

/** Two empty blocks end an archive. */
export const TAR_END = new Uint8Array(2 * TAR_BLOCK);

const NAME_BYTES = 100;
/** Eleven octal digits. */
const MOST_OCTAL = 8 ** 11 - 1;

/**
 * The header of an entry in the format of POSIX (pax): ustar where the name and the size fit, otherwise with a record before
 * it that has them in full.
 */
export function tarHeader(entry: TarEntry): Uint8Array {
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

/** What fills the last block of so many bytes. */
export function padding(size: number): Uint8Array {
  return new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** Names beyond ASCII mean the same everywhere only in a record. */
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
  // The sum is taken with blanks in its own place.
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  // The name of the format, its zero, and its version.
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
