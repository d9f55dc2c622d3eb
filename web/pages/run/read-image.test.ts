import { describe, expect, test } from 'vitest';
import { readImageHead } from './artifact.js';

const png = (width: number, height: number): Uint8Array => {
  const bytes = new Uint8Array(24);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
};

describe('a file', () => {
  test('is recognized as an image by its bytes', () => {
    expect(readImageHead(png(3, 2))).toEqual({ type: 'image/png', width: 3, height: 2 });
    expect(readImageHead(new Uint8Array([...Buffer.from('GIF89a'), 4, 0, 5, 0]))).toMatchObject({
      width: 4,
      height: 5,
    });
    const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 7, 0, 9, 1, 0, 0];
    expect(readImageHead(new Uint8Array(jpeg))).toEqual({ type: 'image/jpeg', width: 9, height: 7 });
  });

  test.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
    ['HTML', Buffer.from('<html>')],
    ['empty', new Uint8Array()],
    ['a picture that would need gigabytes when decoded', png(60_000, 60_000)],
    ['a JPEG without a frame header', new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0])],
  ])('is not shown as an image if it is %s', (_, bytes) => {
    expect(readImageHead(new Uint8Array(bytes))).toBeNull();
  });
});
