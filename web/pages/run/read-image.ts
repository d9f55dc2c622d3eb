/** The type and dimensions in an image header. */
export interface ImageHead {
  readonly type: 'image/png' | 'image/gif' | 'image/jpeg';
  readonly width: number;
  readonly height: number;
}

/** The maximum number of pixels. Each is decoded to four bytes, so a tiny file could need gigabytes. */
const MAX_PIXELS = 40_000_000;
/** Larger files are not shown; they can be downloaded. */
export const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

/**
 * Reads type and dimensions from an image's bytes, regardless of its name. Null if the image is too large or its type
 * is not supported. SVG is never shown as an image, because it can contain scripts.
 */
export function readImageHead(bytes: Uint8Array): ImageHead | null {
  const head = readPng(bytes) ?? readGif(bytes) ?? readJpeg(bytes);
  if (head === null || head.width === 0 || head.height === 0) return null;
  return head.width * head.height > MAX_PIXELS ? null : head;
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

function createView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readPng(bytes: Uint8Array): ImageHead | null {
  if (bytes.length < 24 || !startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return null;
  const view = createView(bytes);
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(bytes: Uint8Array): ImageHead | null {
  if (bytes.length < 10 || !startsWith(bytes, [0x47, 0x49, 0x46, 0x38])) return null;
  const view = createView(bytes);
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** Reads the size of a JPEG from its first frame header, which comes after segments of any length. */
function readJpeg(bytes: Uint8Array): ImageHead | null {
  if (!startsWith(bytes, [0xff, 0xd8, 0xff])) return null;
  const view = createView(bytes);
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return null;
}
