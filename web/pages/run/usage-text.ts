import { amountOf } from '../../ui/amount.js';

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
 * usageText({ input_tokens: 1200, output_tokens: 40, cost: 0.0123 }) // '1,200 in · 40 out · $0.0123'
 */
export function usageText(usage: UsageFields | null | undefined): string {
  if (usage === null || usage === undefined) return '';
  const { input_tokens, output_tokens, cached_input_tokens, cost } = usage;
  const parts = [
    isAmount(input_tokens) ? `${amountOf(input_tokens)} in` : null,
    isAmount(cached_input_tokens) && cached_input_tokens > 0 ? `${amountOf(cached_input_tokens)} cached` : null,
    isAmount(output_tokens) ? `${amountOf(output_tokens)} out` : null,
    isAmount(cost) ? `$${cost.toFixed(4)}` : null,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
