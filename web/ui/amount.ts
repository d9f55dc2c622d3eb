/**
 * Formats a whole number in groups of three digits.
 *
 * @example
 * formatCount(1234567) // '1,234,567'
 */
export function formatCount(count: number): string {
  // Creating the browser's own formatter would delay page load by ten milliseconds.
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a byte count: `12 bytes`, `3.4 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  let [amount, unit] = [bytes / 1000, 0];
  while (roundsToThousand(amount) && unit < UNITS.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${amount.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

const UNITS = ['kB', 'MB', 'GB'] as const;

/** Whether an amount with one decimal is shown as 1000.0 or more, and therefore needs the next unit. */
function roundsToThousand(amount: number): boolean {
  return Number(amount.toFixed(1)) >= 1000;
}

/** A run's tokens and cost, if the engine reports them. */
interface Usage {
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
  readonly cached_input_tokens?: number | undefined;
  readonly cost?: number | undefined;
}

/**
 * Formats tokens and cost; empty if nothing is known.
 *
 * @example
 * formatUsage({ input_tokens: 1200, output_tokens: 40, cost: 0.0123 }) // '1,200 in · 40 out · $0.0123'
 */
export function formatUsage(usage: Usage | null | undefined): string {
  if (usage === null || usage === undefined) return '';
  const { input_tokens, output_tokens, cached_input_tokens = 0, cost } = usage;
  const parts = [
    input_tokens === undefined ? [] : `${formatCount(input_tokens)} in`,
    cached_input_tokens > 0 ? `${formatCount(cached_input_tokens)} cached` : [],
    output_tokens === undefined ? [] : `${formatCount(output_tokens)} out`,
    cost === undefined ? [] : `$${cost.toFixed(4)}`,
  ];
  return parts.flat().join(' · ');
}

/**
 * Formats US dollars with cents, and with more digits for less than a cent.
 *
 * @example
 * formatMoney(1234.5) // '$1,234.50'
 */
export function formatMoney(dollars: number): string {
  if (dollars === 0) return '$0';
  if (Number(dollars.toFixed(4)) < 0.01) return `$${dollars.toFixed(4)}`;
  const [whole = '0', cents = '00'] = dollars.toFixed(2).split('.');
  return `$${formatCount(Number(whole))}.${cents}`;
}

/**
 * Formats a large number compactly: `950`, `12.3k`, `4.5M`.
 *
 * @example
 * formatShort(12345) // '12.3k'
 */
export function formatShort(count: number): string {
  if (Math.round(count) < 1000) return String(Math.round(count));
  const thousands = count / 1000;
  return roundsToThousand(thousands) ? `${(thousands / 1000).toFixed(1)}M` : `${thousands.toFixed(1)}k`;
}
