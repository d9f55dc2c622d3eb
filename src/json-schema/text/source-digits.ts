/** Numbers as the readers take them, with digits before anything else. */
const NUMBER = /(?<![\w.])[+-]?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])/g;
/** An unclosed one reaches to the end, so that no text is scanned twice. */
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|$)|(?<=[[{,:]\s{0,40})'[^'\\]*(?:\\[^][^'\\]*)*(?:'|$)/g;

/** Texts longer than this are not searched for digits. */
const LONGEST = 4_000_000;

/** Finds how a number was written in the text it was read from. */
export type DigitFinder = (value: number) => string | undefined;

/**
 * Makes a finder of source digits: `2.50` and `98765432109876543210`, which a double does not keep. A number written in two ways
 * has none, and so has one that is not in the text, unless its double says the same.
 */
export function createDigitFinder(source: string | undefined): DigitFinder {
  let outside: Map<number, Set<string>> | undefined;
  let anywhere: Map<number, Set<string>> | undefined;
  return (value) => {
    if (source !== undefined && source.length <= LONGEST) {
      // Digits inside strings are those of another value, but JSON in a string has its numbers there.
      outside ??= collectNumbers(source.replaceAll(STRING, '""'));
      const written = outside.get(value) ?? (anywhere ??= collectNumbers(source)).get(value);
      if (written !== undefined) return written.size === 1 ? [...written][0] : undefined;
    }
    return Number.isSafeInteger(value) || !Number.isInteger(value) ? String(value) : undefined;
  };
}

function collectNumbers(text: string): Map<number, Set<string>> {
  const numbers = new Map<number, Set<string>>();
  for (const [written] of text.matchAll(NUMBER)) {
    const value = Number(written.replaceAll('_', ''));
    numbers.set(value, (numbers.get(value) ?? new Set()).add(written));
  }
  return numbers;
}
