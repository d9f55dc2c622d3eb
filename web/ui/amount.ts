/**
 * A whole number as one reads it, in groups of three digits.
 *
 * @example
 * amountOf(1234567) // '1,234,567'
 */
export function amountOf(count: number): string {
  // The formatter of the browser takes a page ten milliseconds to load, in the middle of opening it.
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
