/** Only the start of the output is searched. */
const MAX_TEXT_LENGTH = 4096;

/** A version that is not part of a longer number, such as an IP address. */
const VERSION = /(?<![\w.])v?(\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\w.]{1,40})?)(?!\.?\d)/u;

/** Returns the first version in a command's output. */
export function readVersion(text: string): string | undefined {
  return VERSION.exec(text.slice(0, MAX_TEXT_LENGTH))?.[1];
}

const NUMBERS = /^\d+(?:\.\d+)*(?=-|$)/u;
const COMPARATOR = /^(>=|<)(\d+(?:\.\d+)*)$/u;
const order = new Intl.Collator('en', { numeric: true });

/** Whether a version satisfies all comparators of a range. `1.2.0-beta` counts as `1.2.0`; an empty range has none. */
export function isVersionIn(version: string, range: string): boolean {
  const [numbers] = NUMBERS.exec(version) ?? [];
  if (numbers === undefined || range === '') return false;
  return range.split(' ').every((comparator) => {
    const [, sign, bound] = COMPARATOR.exec(comparator) ?? [];
    if (bound === undefined) return false;
    return sign === '<' ? order.compare(numbers, bound) < 0 : order.compare(numbers, bound) >= 0;
  });
}
