import type { StatisticsView } from '../../../src/server/api/index.js';
import { groupBy } from '../../../src/base/index.js';
import { sumCosts, type Cost } from '../../ui/text.js';
import { t } from './texts.js';

export type Usage = StatisticsView['buckets'][number]['usage'][number];

export function getModelLabel({ engine, model }: Usage): string {
  return `${engine} ${model ?? t.modelUnknown}`;
}

export type UsageRow = ReturnType<typeof sumUsage>[number];

/** Sums a period's usage by engine and model, most expensive first. */
export function sumUsage({ buckets }: StatisticsView) {
  const all = buckets.flatMap(({ usage }) => usage);
  const rows = [...groupBy(all, getModelLabel).values()].map((usage) => {
    const sum = (read: (one: Usage) => number): number => usage.reduce((soFar, one) => soFar + read(one), 0);
    return {
      engine: usage[0]?.engine ?? '',
      model: usage[0]?.model ?? null,
      runs: sum(({ runs }) => runs),
      input: sum(({ input_tokens }) => input_tokens),
      cached: sum(({ cached_input_tokens }) => cached_input_tokens),
      output: sum(({ output_tokens }) => output_tokens),
      cost: sumCosts(usage),
      usage,
    };
  });
  return rows.sort((one, other) => other.cost.value - one.cost.value || other.input - one.input);
}

export function sumRows(rows: readonly UsageRow[]): Cost {
  return sumCosts(rows.flatMap(({ usage }) => usage));
}

/** Describes how many engines report no cost, or that a part is estimated; empty if all of it is reported. */
export function describeCost(rows: readonly UsageRow[]): string {
  const unpriced = new Set(rows.filter(({ cost }) => !cost.isComplete).map((row) => row.engine)).size;
  if (unpriced > 0) return t.unpriced(unpriced);
  return sumRows(rows).isEstimate === true ? t.partlyEstimated : '';
}

const count =
  (read: (one: Usage) => number) =>
  (usage: readonly Usage[]): Cost => ({ value: usage.reduce((sum, one) => sum + read(one), 0), isComplete: true });

export const MEASURES = {
  cost: { label: t.cost, unit: 'money', sum: sumCosts },
  tokens: { label: t.tokens, unit: 'count', sum: count((one) => one.input_tokens + one.output_tokens) },
  runs: { label: t.pages.runs, unit: 'count', sum: count(({ runs }) => runs) },
} as const;

export type Measure = keyof typeof MEASURES;

/** The sums by engine and day. The days are those of the statistics, which begin at midnight UTC. */
export function sumByDay({ buckets }: StatisticsView, measure: Measure) {
  const days = [...new Set(buckets.map(({ at }) => at.slice(0, 10)))];
  const shown = buckets.flatMap(({ at, usage }) => usage.map((one) => ({ day: at.slice(0, 10), one })));
  const sum = (entries: typeof shown): Cost => MEASURES[measure].sum(entries.map(({ one }) => one));
  const engines = [...new Set(shown.map(({ one }) => one.engine))].sort();
  return {
    days,
    rows: engines.map((name) => {
      const own = shown.filter(({ one }) => one.engine === name);
      return { engine: name, sums: days.map((day) => sum(own.filter((entry) => entry.day === day))), total: sum(own) };
    }),
    totals: days.map((day) => sum(shown.filter((entry) => entry.day === day))),
    total: sum(shown),
  };
}

/** Formats the table as CSV with exact numbers; a value that an engine did not report is not zero, but empty. */
export function toCsv({ days, rows, totals, total }: ReturnType<typeof sumByDay>): string {
  const lines = [
    ['engine', ...days, 'total', 'complete', 'estimated'],
    ...rows.map((row) => [
      formatCell(row.engine),
      ...row.sums.map(formatSum),
      formatSum(row.total),
      row.total.isComplete,
      row.total.isEstimate ?? false,
    ]),
    ['total', ...totals.map(formatSum), formatSum(total), total.isComplete, total.isEstimate ?? false],
  ];
  return `${lines.map((cells) => cells.map(String).map(quoteCell).join(',')).join('\r\n')}\r\n`;
}

function formatSum({ value, isComplete }: Cost): string {
  return value === 0 && !isComplete ? '' : String(value);
}

function quoteCell(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Formats a name for a cell: names come from engines, and must create neither cells nor formulas. */
export function formatCell(label: string): string {
  const singleLine = label.replace(/\s+/g, ' ');
  return /^[=+\-@]/.test(singleLine) ? `'${singleLine}` : singleLine;
}
