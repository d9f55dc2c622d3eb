/** Bytes in which paths of this machine were replaced, and where each old place is now. */
export interface Scrubbed {
  readonly bytes: Buffer;
  /** The new place of an old offset; one inside of a replaced text is now at that text's end. */
  readonly place: (offset: number) => number;
}

interface Replacement {
  /** Where the old text began and ended. */
  readonly from: number;
  readonly to: number;
  /** How much everything behind it moved. */
  readonly shift: number;
}

/**
 * Replaces texts by others, wherever they stand; where two could, the one listed first.
 *
 * @example
 * scrub(Buffer.from('in /tmp/x/work'), [['/tmp/x/work', '/workspace']]).bytes // 'in /workspace'
 */
export function scrub(bytes: Buffer, pairs: readonly (readonly [string, string])[]): Scrubbed {
  // One character a byte, so that offsets are those of the bytes.
  const text = bytes.toString('latin1');
  const words = pairs.map(([from, to]) => [latin(from), latin(to)] as const);
  const pattern = new RegExp(words.map(([from]) => escape(from)).join('|'), 'g');
  const replacements: Replacement[] = [];
  let shift = 0;
  const scrubbed = text.replaceAll(pattern, (found, offset: number) => {
    const to = words.find(([from]) => from === found)?.[1] ?? '';
    shift += to.length - found.length;
    replacements.push({ from: offset, to: offset + found.length, shift });
    return to;
  });
  return {
    bytes: Buffer.from(scrubbed, 'latin1'),
    place(offset) {
      const last = replacements.findLast(({ from }) => from < offset);
      return last === undefined ? offset : Math.max(offset, last.to) + last.shift;
    },
  };
}

function latin(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`);
}
