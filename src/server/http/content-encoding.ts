import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Compresses content outside the main thread. */
export async function compress(
  bytes: Uint8Array | string,
  encoding: Exclude<Encoding, 'identity'>,
  quality: number,
): Promise<Buffer<ArrayBuffer>> {
  if (encoding === 'gzip') return compressGzip(bytes, { level: quality });
  return compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

/**
 * Chooses the best encoding that the client accepts.
 *
 * @example
 * chooseEncoding('gzip, deflate, br') // 'br'
 * chooseEncoding('br;q=0, gzip') // 'gzip'
 */
export function chooseEncoding(accepted: string | undefined): Encoding {
  const names = new Set(
    (accepted ?? '')
      .split(',', 16)
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
      .map((part) => part.replace(/\s*;.*$/, '')),
  );
  return names.has('br') ? 'br' : names.has('gzip') ? 'gzip' : 'identity';
}

/** Creates the entity tag of a response: equal for equal content, however it is encoded. */
export function createTag(content: Uint8Array | string): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Whether the client has this version: one of the tags in `If-None-Match` is its tag. */
export function isCached(header: string | undefined, tag: string): boolean {
  return header?.split(',', 16).some((part) => part.trim() === tag) ?? false;
}
