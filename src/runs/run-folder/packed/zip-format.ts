import { RunFolderError } from '../run-folder-error.js';

/*
 * The subset of the zip format that packed runs use: stored or deflated files, UTF-8 names, sizes beyond 4 GiB.
 * Encryption, multiple disks and data descriptors without a directory are not supported. See PKWARE's APPNOTE.TXT.
 */

export const STORED = 0;
export const DEFLATED = 8;

/** A file in a zip file, as listed in its directory. */
export interface ZipEntry {
  readonly path: string;
  readonly method: typeof STORED | typeof DEFLATED;
  readonly crc: number;
  /** The compressed size, in bytes. */
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly mtimeMs: number;
}

const LOCAL = 0x04_03_4b_50;
const CENTRAL = 0x02_01_4b_50;
const END = 0x06_05_4b_50;
const END_64 = 0x06_06_4b_50;
const LOCATOR_64 = 0x07_06_4b_50;

const MAX_32 = 0xff_ff_ff_ff;
const MAX_16 = 0xff_ff;
const UTF_8 = 0x08_00;
const ENCRYPTED = 0x00_01;
/** The zip version that supports 64-bit sizes. `MADE_BY` adds Unix as the system, so file modes are used. */
const VERSION = 45;
const MADE_BY = (3 << 8) | VERSION;
/** A regular file for its owner only. */
const MODE = 0o10_0600;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const END_64_BYTES = 56;
const LOCATOR_BYTES = 20;

/** Encodes the header in front of a file's data; its length does not depend on the checksum. */
export function encodeLocalHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.path);
  // A local header has both sizes in its extra field, or neither.
  const oversized = entry.size >= MAX_32 ? [entry.size, entry.packed] : [];
  const extra = measureExtra64(oversized);
  const header = Buffer.alloc(LOCAL_BYTES + name.length + extra);
  header.writeUInt32LE(LOCAL, 0);
  header.writeUInt16LE(VERSION, 4);
  writeSharedFields(header, 6, entry);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra, 28);
  name.copy(header, LOCAL_BYTES);
  writeExtra64(header, LOCAL_BYTES + name.length, oversized);
  return header;
}

/** Encodes the directory of a zip file, which is written at `offset`, after all files. */
export function encodeDirectory(entries: readonly ZipEntry[], offset: number): Buffer {
  const parts = entries.map(encodeCentralHeader);
  const size = parts.reduce((total, part) => total + part.length, 0);
  const is64 = entries.length >= MAX_16 || size >= MAX_32 || offset >= MAX_32;
  if (is64) parts.push(encodeEnd64(entries.length, size, offset));
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(Math.min(entries.length, MAX_16), 8);
  end.writeUInt16LE(Math.min(entries.length, MAX_16), 10);
  end.writeUInt32LE(Math.min(size, MAX_32), 12);
  end.writeUInt32LE(Math.min(offset, MAX_32), 16);
  return Buffer.concat([...parts, end]);
}

function encodeCentralHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.path);
  const oversized = [entry.size, entry.packed, entry.offset].filter((value) => value >= MAX_32);
  const extra = measureExtra64(oversized);
  const header = Buffer.alloc(CENTRAL_BYTES + name.length + extra);
  header.writeUInt32LE(CENTRAL, 0);
  header.writeUInt16LE(MADE_BY, 4);
  header.writeUInt16LE(VERSION, 6);
  writeSharedFields(header, 8, entry);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra, 30);
  header.writeUInt32LE((MODE << 16) >>> 0, 38);
  header.writeUInt32LE(Math.min(entry.offset, MAX_32), 42);
  name.copy(header, CENTRAL_BYTES);
  writeExtra64(header, CENTRAL_BYTES + name.length, oversized);
  return header;
}

/** Writes the fields that local and central headers share, from the flags to the sizes. */
function writeSharedFields(header: Buffer, at: number, { method, crc, packed, size, mtimeMs }: ZipEntry): void {
  header.writeUInt16LE(UTF_8, at);
  header.writeUInt16LE(method, at + 2);
  header.writeUInt32LE(encodeTime(mtimeMs), at + 4);
  header.writeUInt32LE(crc, at + 8);
  header.writeUInt32LE(Math.min(packed, MAX_32), at + 12);
  header.writeUInt32LE(Math.min(size, MAX_32), at + 16);
}

function measureExtra64(values: readonly number[]): number {
  return values.length === 0 ? 0 : 4 + 8 * values.length;
}

function writeExtra64(header: Buffer, at: number, values: readonly number[]): void {
  if (values.length === 0) return;
  header.writeUInt16LE(1, at);
  header.writeUInt16LE(8 * values.length, at + 2);
  for (const [index, value] of values.entries()) header.writeBigUInt64LE(BigInt(value), at + 4 + 8 * index);
}

function encodeEnd64(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(END_64_BYTES + LOCATOR_BYTES);
  end.writeUInt32LE(END_64, 0);
  end.writeBigUInt64LE(BigInt(END_64_BYTES - 12), 4);
  end.writeUInt16LE(MADE_BY, 12);
  end.writeUInt16LE(VERSION, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(LOCATOR_64, END_64_BYTES);
  end.writeBigUInt64LE(BigInt(offset + size), END_64_BYTES + 8);
  end.writeUInt32LE(1, END_64_BYTES + 16);
  return end;
}

/** Encodes date and time in UTC, from 1980 on, rounded up to an even second: a result must not look older than its run. */
function encodeTime(ms: number): number {
  const time = new Date(Math.min(Math.max(Math.ceil(ms / 2000) * 2000, Date.UTC(1980)), Date.UTC(2107)));
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}

function decodeTime(value: number): number {
  const [date, clock] = [value >>> 16, value & MAX_16];
  return Date.UTC(
    1980 + (date >> 9),
    ((date >> 5) & 15) - 1,
    date & 31,
    clock >> 11,
    (clock >> 5) & 63,
    (clock & 31) * 2,
  );
}

export interface DirectoryLocation {
  readonly count: number;
  readonly offset: number;
  readonly size: number;
}

/** The bytes at the end of a zip file that contain its end records, unless it has a long comment. */
export const TAIL_BYTES = END_BYTES + LOCATOR_BYTES + END_64_BYTES + 1024;

/** Finds the directory in the last bytes of a zip file of `total` bytes; undefined for any other file. */
export function findDirectory(tail: Buffer, total: number): DirectoryLocation | undefined {
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END || tail.readUInt16LE(at + 20) !== tail.length - at - END_BYTES) continue;
    const found = {
      count: tail.readUInt16LE(at + 10),
      size: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
    };
    const is64 = found.count === MAX_16 || found.size === MAX_32 || found.offset === MAX_32;
    const location = is64 ? findDirectory64(tail, at, total) : found;
    if (location === undefined || location.offset + location.size > total) return undefined;
    return location;
  }
  return undefined;
}

function findDirectory64(tail: Buffer, end: number, total: number): DirectoryLocation | undefined {
  const locator = end - LOCATOR_BYTES;
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR_64) return undefined;
  const at = readCount(tail, locator + 8) - (total - tail.length);
  if (!(at >= 0 && at + END_64_BYTES <= locator) || tail.readUInt32LE(at) !== END_64) return undefined;
  return { count: readCount(tail, at + 32), size: readCount(tail, at + 40), offset: readCount(tail, at + 48) };
}

/** Decodes a directory. Throws `PACKED_RUN_DAMAGED` if it is invalid, `PACKED_RUN_UNSUPPORTED` for unsupported features. */
export function decodeDirectory(bytes: Buffer, { count, offset: end }: DirectoryLocation, place: string): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + CENTRAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== CENTRAL)
      throw createDamagedError(place, 'its directory is truncated');
    const flags = bytes.readUInt16LE(at + 8);
    const method = bytes.readUInt16LE(at + 10);
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const nameAt = at + CENTRAL_BYTES;
    const extraAt = nameAt + (nameBytes ?? 0);
    const next = extraAt + (extraBytes ?? 0) + (commentBytes ?? 0);
    if (next > bytes.length) throw createDamagedError(place, 'its directory is truncated');
    const path = bytes.toString('utf8', nameAt, extraAt);
    const extra = decodeExtra64(bytes.subarray(extraAt, extraAt + (extraBytes ?? 0)));
    const readField = (field: number): number => {
      const value = bytes.readUInt32LE(at + field);
      return value === MAX_32 ? (extra.shift() ?? value) : value;
    };
    const [size, packed, offset] = [readField(24), readField(20), readField(42)];
    if (offset + LOCAL_BYTES + packed > end) throw createDamagedError(place, `"${path}" is outside the file`);
    if ((flags & ENCRYPTED) !== 0 || (method !== STORED && method !== DEFLATED)) {
      const message = `"${path}" in "${place}" is encrypted or compressed in a way that Sluice cannot read. Unpack it, and pass the folder.`;
      throw new RunFolderError('PACKED_RUN_UNSUPPORTED', message);
    }
    if (method === STORED && size !== packed)
      throw createDamagedError(place, `the sizes of "${path}" contradict each other`);
    const [crc, mtimeMs] = [bytes.readUInt32LE(at + 16), decodeTime(bytes.readUInt32LE(at + 12))];
    entries.push({ path, method, crc, packed, size, offset, mtimeMs });
    at = next;
  }
  return entries;
}

function decodeExtra64(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === 1) {
      const values: number[] = [];
      const end = Math.min(at + 4 + length, extra.length);
      for (let value = at + 4; value + 8 <= end; value += 8) values.push(readCount(extra, value));
      return values;
    }
    at += 4 + length;
  }
  return [];
}

/** Returns the length of a local header, calculated from its fixed part; undefined if it is not a local header. */
export function measureLocalHeader(header: Buffer): number | undefined {
  if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL) return undefined;
  return LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
}

export const LOCAL_HEADER_BYTES = LOCAL_BYTES;

/** Reads a 64-bit integer. If a number cannot represent it exactly, returns infinity, which fails every bounds check. */
function readCount(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(value);
}

export function createDamagedError(place: string, reason: string): RunFolderError {
  const message = `Cannot read "${place}" as a packed run: ${reason}. Pass a run folder, or restore the packed run from a backup or from the archive.`;
  return new RunFolderError('PACKED_RUN_DAMAGED', message);
}
