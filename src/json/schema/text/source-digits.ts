/** Numbers in every notation that the readers accept. */
const NUMBER = /(?<![\w.])[+-]?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])/g;
/** An unclosed string extends to the end, so nothing is scanned twice. */
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|(?<=[[{,:]\s{0,40})'[^'\\]*(?:\\[^][^'\\]*)*(?:'|\\?$)/g;

/** Longer input is not searched for digits. */
const MAX_LENGTH = 4_000_000;

/** Finds a number's digits in its source text. */
export type DigitFinder = (value: number) => string | undefined;

/**
 * Creates a finder for source digits, for numbers such as `2.50` and `98765432109876543210`, which a double does not
 * preserve. It returns undefined for a number written in two ways, and for an unsafe integer that is not in the input.
 */
export function createDigitFinder(source: string | undefined): DigitFinder {
  let outsideStrings: Map<number, Set<string>> | undefined;
  let anywhereInSource: Map<number, Set<string>> | undefined;
  return (value) => {
    if (source !== undefined && source.length <= MAX_LENGTH) {
      // Digits inside strings belong to other values, unless the string contains JSON.
      outsideStrings ??= collectNumbers(source.replaceAll(STRING, '""'));
      const notations = outsideStrings.get(value) ?? (anywhereInSource ??= collectNumbers(source)).get(value);
      if (notations !== undefined) return notations.size === 1 ? [...notations][0] : undefined;
    }
    return Number.isSafeInteger(value) || !Number.isInteger(value) ? String(value) : undefined;
  };
}

function collectNumbers(text: string): Map<number, Set<string>> {
  const numbers = new Map<number, Set<string>>();
  for (const [notations] of text.matchAll(NUMBER)) {
    const value = Number(notations.replaceAll('_', ''));
    numbers.set(value, (numbers.get(value) ?? new Set()).add(notations));
  }
  return numbers;
}
