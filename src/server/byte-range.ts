/** Bytes of a file: from the first to before the last. */
export interface ByteSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range a `Range` header asks for; undefined for the whole, which is also the answer to what is no range of bytes or
 * to several at once; `none` if there are no such bytes.
 *
 * @example
 * byteRange('bytes=10-19', 100) // { from: 10, to: 20 }
 * byteRange('bytes=-5', 100) // { from: 95, to: 100 }
 */
export function byteRange(header: string | undefined, size: number): ByteSpan | 'none' | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= size ? 'none' : { from, to: last === '' ? size : Math.min(Number(last) + 1, size) };
}
