import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSluiceError } from '../../../base/index.js';
import {
  DEFLATED,
  STORED,
  decodeDirectory,
  encodeDirectory,
  encodeLocalHeader,
  findDirectory,
  measureLocalHeader,
} from './zip-format.js';
import type { ZipEntry } from './zip-format.js';

const SMALL: ZipEntry = {
  path: 'r/.audit/stdout.1.log',
  method: DEFLATED,
  crc: 7,
  packed: 10,
  size: 20,
  offset: 0,
  mtimeMs: Date.UTC(2026, 1, 28, 23, 59, 58),
};

/** Encodes and decodes the directory of a file whose other bytes are not read. */
function roundTrip(entries: readonly ZipEntry[], offset: number): readonly ZipEntry[] {
  const directory = encodeDirectory(entries, offset);
  const location = findDirectory(directory, offset + directory.length);
  expect(location).toMatchObject({ count: entries.length, offset });
  return decodeDirectory(directory, location ?? { count: 0, offset: 0, size: 0 }, 'x.zip');
}

test('a directory is read back unchanged', () => {
  const names = ['r/a', 'r/änderung 漢字', 'r/b/c'];
  const entries = names.map((path, index) => ({ ...SMALL, path, offset: index * 100 }));
  expect(roundTrip(entries, 300)).toEqual(entries);
  expect(roundTrip([], 0)).toEqual([]);
});

test('sizes and offsets beyond 4 GiB are preserved', () => {
  const size = 5 * 1024 ** 3;
  const entries: readonly ZipEntry[] = [
    { ...SMALL, method: STORED, size, packed: size },
    { ...SMALL, path: 'r/next', offset: size + 100 },
  ];
  expect(roundTrip(entries, size + 1000)).toEqual(entries);
  const header = encodeLocalHeader({ ...SMALL, method: STORED, size, packed: size });
  expect(measureLocalHeader(header)).toBe(header.length);
});

test('more files than 16 bits can count are preserved', () => {
  const entries = Array.from({ length: 70_000 }, (_, index) => ({ ...SMALL, path: `r/${index}` }));
  expect(roundTrip(entries, 4_000_000)).toHaveLength(70_000);
});

test('invalid directories are rejected with a code', () => {
  const directory = encodeDirectory([SMALL, { ...SMALL, path: 'r/b', offset: 100 }], 200);
  fc.assert(
    fc.property(fc.nat(directory.length - 1), fc.nat(255), fc.nat(directory.length), (at, byte, length) => {
      const bytes = Buffer.from(directory);
      bytes[at] = byte;
      const location = findDirectory(bytes.subarray(0, length), 200 + length);
      if (location === undefined) return true;
      try {
        decodeDirectory(bytes.subarray(0, length), location, 'x.zip');
        return true;
      } catch (error) {
        return isSluiceError(error);
      }
    }),
  );
});
