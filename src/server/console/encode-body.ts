import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** How a body can be sent. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** Nearly as small as at 11, in a tenth of the time: the first reader after a start waits for it. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const compress: Readonly<Record<Exclude<Encoding, 'identity'>, (bytes: Buffer) => Promise<Buffer>>> = {
  br: async (bytes) => promisify(brotliCompress)(bytes, BROTLI),
  gzip: async (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/** Compresses what never changes: once, when it is first asked for. */
export function createEncoder(): (bytes: Buffer, encoding: Encoding) => Promise<Buffer> {
  const kept = { br: new WeakMap<Buffer, Promise<Buffer>>(), gzip: new WeakMap<Buffer, Promise<Buffer>>() };
  return async (bytes, encoding) => {
    if (encoding === 'identity') return bytes;
    const ready = kept[encoding].get(bytes) ?? compress[encoding](bytes);
    kept[encoding].set(bytes, ready);
    return ready;
  };
}

/**
 * The smallest form a reader takes.
 *
 * @example
 * chooseEncoding('gzip, deflate, br') // 'br'
 * chooseEncoding('br;q=0, gzip') // 'gzip'
 */
export function chooseEncoding(accepted: string | undefined): Encoding {
  const taken = new Set(
    (accepted ?? '')
      .split(',', 16)
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
      .map((part) => part.replace(/\s*;.*$/, '')),
  );
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : 'identity';
}
