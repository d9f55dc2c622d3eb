/** Bytes with replaced strings, and a function that converts old offsets. */
export interface Scrubbed {
  readonly bytes: Buffer;
  /** Converts an old offset to the new one; an offset inside a replaced string becomes the end of the replacement. */
  readonly moveOffset: (offset: number) => number;
}

interface Replacement {
  /** The range of the old string. */
  readonly from: number;
  readonly to: number;
  /** How far everything after it has moved. */
  readonly shift: number;
}

/**
 * Replaces all occurrences of the strings; if two match at the same offset, the first listed wins.
 *
 * @example
 * scrub(Buffer.from('in /tmp/x/work'), [['/tmp/x/work', '/workspace']]).bytes // 'in /workspace'
 */
export function scrub(bytes: Buffer, pairs: readonly (readonly [string, string])[]): Scrubbed {
  // One character per byte, so string offsets equal byte offsets.
  const text = bytes.toString('latin1');
  const words = pairs.map(([from, to]) => [toLatin1(from), toLatin1(to)] as const);
  const pattern = new RegExp(words.map(([from]) => escape(from)).join('|'), 'g');
  const replacements: Replacement[] = [];
  let shift = 0;
  const scrubbed = text.replaceAll(pattern, (matches, offset: number) => {
    const to = words.find(([from]) => from === matches)?.[1] ?? '';
    shift += to.length - matches.length;
    replacements.push({ from: offset, to: offset + matches.length, shift });
    return to;
  });
  return {
    bytes: Buffer.from(scrubbed, 'latin1'),
    moveOffset(offset) {
      const last = replacements.findLast(({ from }) => from < offset);
      return last === undefined ? offset : Math.max(offset, last.to) + last.shift;
    },
  };
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`);
}
