import type { StatisticsView } from '../../../src/server/api/index.js';
import { sumCosts, type Cost } from '../../ui/format.js';
import { formatCell } from './chart-model.js';
import { t } from './texts.js';
import type { Usage } from './usage.js';

const count =
  (read: (one: Usage) => number) =>
  (usage: readonly Usage[]): Cost => ({ value: usage.reduce((sum, one) => sum + read(one), 0), isComplete: true });

/** The measures of the table of engines and days. */
export const MEASURES = {
  cost: { label: t.cost, unit: 'money', sum: sumCosts },
  tokens: { label: t.tokens, unit: 'count', sum: count((one) => one.input_tokens + one.output_tokens) },
  runs: { label: t.runs, unit: 'count', sum: count(({ runs }) => runs) },
} as const;

/** See {@link MEASURES}. */
export type Measure = keyof typeof MEASURES;

/** The sums by engine and day. The days are those of the statistics, which begin at midnight UTC. */
export interface DayTable {
  readonly days: readonly string[];
  readonly rows: readonly Readonly<{ engine: string; sums: readonly Cost[]; total: Cost }>[];
  readonly totals: readonly Cost[];
  readonly total: Cost;
}

/** Sums a measure by engine and day, with totals. */
export function sumByDay({ buckets }: StatisticsView, engine: string | null, measure: Measure): DayTable {
  const days = [...new Set(buckets.map(({ at }) => at.slice(0, 10)))];
  const used = buckets.flatMap(({ at, usage }) => usage.map((one) => ({ day: at.slice(0, 10), one })));
  const shown = used.filter(({ one }) => engine === null || one.engine === engine);
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
export function toCsv({ days, rows, totals, total }: DayTable): string {
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
  return `${lines.map((cells) => cells.map(quoteCell).join(',')).join('\r\n')}\r\n`;
}

function formatSum({ value, isComplete }: Cost): string {
  return value === 0 && !isComplete ? '' : String(value);
}

function quoteCell(cell: string | boolean): string {
  return /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell);
}
