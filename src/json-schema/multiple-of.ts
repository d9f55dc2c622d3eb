/**
 * Tells whether a number is a multiple of another as decimals, the way people read them: 19.99 is a multiple of 0.01,
 * although the quotient of the two doubles is not whole.
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
