/** Only the start of the output is searched. */
const MAX_TEXT_LENGTH = 4096;

/** A version that is not part of a longer number, such as an IP address. */
const VERSION = /(?<![\w.])v?(\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\w.]{1,40})?)(?!\.?\d)/u;

/** Returns the first version in a command's output. */
export function readVersion(text: string): string | undefined {
  return VERSION.exec(text.slice(0, MAX_TEXT_LENGTH))?.[1];
}

const COMPARATOR = /^(>=|<)(\d+(?:\.\d+)*)$/u;

/** Whether a version satisfies all comparators of a range. `1.2.0-beta` counts as `1.2.0`; an empty range has none. */
export function isVersionIn(version: string, range: string): boolean {
  const numbers = parseNumbers(version.split('-', 1)[0] ?? '');
  const comparators = range.split(' ').filter((word) => word !== '');
  return (
    comparators.length > 0 &&
    numbers.every(Number.isInteger) &&
    comparators.every((comparator) => {
      const [, sign, bound] = COMPARATOR.exec(comparator) ?? [];
      if (bound === undefined) return false;
      const order = compare(numbers, parseNumbers(bound));
      return sign === '<' ? order < 0 : order >= 0;
    })
  );
}

function parseNumbers(version: string): number[] {
  return version.split('.').map((part) => (/^\d+$/u.test(part) ? Number(part) : NaN));
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
