import type { ChartModel } from './chart-model.js';

/** The figures of a chart for a spreadsheet: columns between tabs, exact numbers, one line a step. */
export function toFiguresText({ times, series }: ChartModel): string {
  const head = ['time', ...series.map(({ label }) => cell(label))];
  const lines = times.map((time, index) => [
    new Date(time * 1000).toISOString(),
    ...series.map(({ values }) => String(values[index] ?? '')),
  ]);
  return `${[head, ...lines].map((columns) => columns.join('\t')).join('\n')}\n`;
}

/** Names come from engines: no tab or line of theirs makes a cell, and none is a formula. */
function cell(label: string): string {
  const flat = label.replace(/\s+/g, ' ');
  return /^[=+\-@]/.test(flat) ? `'${flat}` : flat;
}
