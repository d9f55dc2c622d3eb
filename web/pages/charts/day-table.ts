import type { StatisticsView } from '../../../src/server/api/index.js';
import { formatCell, isReported, type Usage } from './chart-model.js';
import { t } from './texts.js';

/** The measures of the table of engines and days. */
export const MEASURES = {
  cost: { label: t.cost, unit: 'money', read: ({ cost }: Usage) => cost },
  tokens: { label: t.tokens, unit: 'count', read: (one: Usage) => one.input_tokens + one.output_tokens },
  runs: { label: t.runs, unit: 'count', read: ({ runs }: Usage) => runs },
} as const;

/** See {@link MEASURES}. */
export type Measure = keyof typeof MEASURES;

/** A sum; it is a lower bound if `isComplete` is false. */
export type Sum = Readonly<{ value: number; isComplete: boolean }>;

/** The sums by engine and day. The days are those of the statistics, which begin at midnight UTC. */
export interface DayTable {
  readonly days: readonly string[];
  readonly rows: readonly Readonly<{ engine: string; sums: readonly Sum[]; total: Sum }>[];
  readonly totals: readonly Sum[];
  readonly total: Sum;
}

/** Sums a measure by engine and day, with totals. */
export function sumByDay({ buckets }: StatisticsView, engine: string | null, measure: Measure): DayTable {
  const days = [...new Set(buckets.map(({ at }) => at.slice(0, 10)))];
  const used = buckets.flatMap(({ at, usage }) => usage.map((one) => ({ day: at.slice(0, 10), one })));
  const shown = used.filter(({ one }) => engine === null || one.engine === engine);
  const sum = (entries: typeof shown): Sum => ({
    value: entries.reduce((total, { one }) => total + MEASURES[measure].read(one), 0),
    isComplete: measure !== 'cost' || entries.every(({ one }) => isReported(one)),
  });
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
    ['engine', ...days, 'total', 'complete'],
    ...rows.map((row) => [
      formatCell(row.engine),
      ...row.sums.map(formatSum),
      formatSum(row.total),
      row.total.isComplete,
    ]),
    ['total', ...totals.map(formatSum), formatSum(total), total.isComplete],
  ];
  return `${lines.map((cells) => cells.map(quoteCell).join(',')).join('\r\n')}\r\n`;
}

function formatSum({ value, isComplete }: Sum): string {
  return value === 0 && !isComplete ? '' : String(value);
}

function quoteCell(cell: string | boolean): string {
  return /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell);
}
