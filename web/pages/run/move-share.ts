/** Neither of two neighbours becomes narrower than this part of both. */
const LEAST = 0.15;

/**
 * Divides what two neighbours have between them.
 *
 * @example
 * moveShare(2, 0.25) // { left: 0.5, right: 1.5 }
 */
export function moveShare(sum: number, part: number): { readonly left: number; readonly right: number } {
  const left = sum * Math.min(1 - LEAST, Math.max(LEAST, part));
  return { left, right: sum - left };
}
