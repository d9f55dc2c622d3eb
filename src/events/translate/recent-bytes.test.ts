import { describe, expect, it } from 'vitest';
import { RecentBytes } from './stream-translator.js';

const MIB = 1024 * 1024;

/** Lines of 16 bytes that are all different. */
function createLines(from: number, count: number): Uint8Array {
  const texts = Array.from({ length: count }, (_, index) => `line ${String(from + index).padStart(10, '0')}\n`);
  return new TextEncoder().encode(texts.join(''));
}

describe('recent bytes', () => {
  it('are all bytes if they fit', () => {
    const recent = new RecentBytes();
    recent.add(createLines(0, 10));
    recent.add(createLines(10, 10_000));
    expect(recent.isTruncated).toBe(false);
    expect(Buffer.compare(recent.take(), createLines(0, 10_010))).toBe(0);
  });

  it('are the last lines if they do not, however they are split', () => {
    const allBytes = createLines(0, (6 * MIB) / 16);
    for (const size of [allBytes.length, 100_003, MIB]) {
      const recent = new RecentBytes();
      for (let at = 0; at < allBytes.length; at += size) recent.add(allBytes.subarray(at, at + size));
      expect(recent.isTruncated).toBe(true);
      const stored = recent.take();
      expect(stored.length).toBe(4 * MIB - 16);
      expect(Buffer.compare(stored, allBytes.subarray(allBytes.length - stored.length))).toBe(0);
    }
  });
});
