/**
 * A whole number as one reads it, in groups of three digits.
 *
 * @example
 * formatCount(1234567) // '1,234,567'
 */
export function formatCount(count: number): string {
  // The formatter of the browser takes a page ten milliseconds to load, in the middle of opening it.
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A number of bytes for people: `12 bytes`, `3.4 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const steps = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** steps).toFixed(1)} ${UNITS[steps - 1] ?? ''}`;
}

const UNITS = ['kB', 'MB', 'GB'] as const;

/** What is known of tokens and money; the fields of a result are not checked by the client. */
interface UsageFields {
  readonly input_tokens?: unknown;
  readonly output_tokens?: unknown;
  readonly cached_input_tokens?: unknown;
  readonly cost?: unknown;
}

/**
 * Tokens and money in a few words; empty where nothing is known.
 *
 * @example
 * formatUsage({ input_tokens: 1200, output_tokens: 40, cost: 0.0123 }) // '1,200 in · 40 out · $0.0123'
 */
export function formatUsage(usage: UsageFields | null | undefined): string {
  if (usage === null || usage === undefined) return '';
  const { input_tokens, output_tokens, cached_input_tokens, cost } = usage;
  const parts = [
    isAmount(input_tokens) ? `${formatCount(input_tokens)} in` : null,
    isAmount(cached_input_tokens) && cached_input_tokens > 0 ? `${formatCount(cached_input_tokens)} cached` : null,
    isAmount(output_tokens) ? `${formatCount(output_tokens)} out` : null,
    isAmount(cost) ? `$${cost.toFixed(4)}` : null,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
