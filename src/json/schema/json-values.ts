import { isJsonObject } from './json-schema.js';

/**
 * Serializes a JSON value to a canonical form: `1` equals `1.0`, and the order of keys does not matter. A single pass,
 * so comparing many values takes linear time.
 */
export function toEqualityKey(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toEqualityKey).join(',')}]`;
  if (isJsonObject(value)) {
    const entries = Object.keys(value)
      .toSorted()
      .map((key) => `${JSON.stringify(key)}:${toEqualityKey(value[key])}`);
    return `{${entries.join(',')}}`;
  }
  return value === 0 ? '0' : String(value);
}

/** Whether two JSON values are equal. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return toEqualityKey(left) === toEqualityKey(right);
}

/** Whether no two items of a list are equal: whether their keys differ. */
export function hasUniqueItems(items: readonly unknown[], toKey = toEqualityKey): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const size = seen.size;
    if (seen.add(toKey(item)).size === size) return false;
  }
  return true;
}

/**
 * Whether a number is a multiple of another, computed with decimals: 19.99 is a multiple of 0.01, although the quotient of
 * the two doubles is not an integer.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const left = readDecimal(value);
  const right = readDecimal(divisor);
  const exponent = Math.min(left.exponent, right.exponent);
  const scaledValue = left.digits * 10n ** BigInt(left.exponent - exponent);
  const scaledDivisor = right.digits * 10n ** BigInt(right.exponent - exponent);
  return scaledValue % scaledDivisor === 0n;
}

/** A finite double is `digits × 10^exponent` with an exponent between -340 and 308, so the powers stay small. */
function readDecimal(value: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', power = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}
