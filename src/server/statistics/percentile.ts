/**
 * The value below or at which this share of the values lies (nearest rank); the values are sorted and there is at least
 * one.
 *
 * @example
 * percentile([10, 20, 30, 40], 0.5) // 20
 */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
