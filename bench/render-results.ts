import type { PartResult, Table } from './part-result.js';

/** A part's result, with the date and the host. */
export interface RecordedPart {
  readonly result: PartResult;
  readonly environment: string;
}

const INTRODUCTION = `# Results of \`npm run bench\`

Ratios of processor time, measured side by side in one process: in every round each tool runs once, and the value is the median over the rounds. Rely on ratios, not on milliseconds: the host may be shared. Sluice is the built package (\`dist\`);
the inputs come from a seeded generator. Values are checked: a tool that returns an unintended value is marked \`wrong\`, and a tool that returns no value \`refuses\`.

![Multiples of the base, shorter is better](results.svg)
`;

/** Renders the page with all results. */
export function renderResults(parts: readonly RecordedPart[]): string {
  const targets: Table = {
    title: 'Targets',
    columns: ['what', 'target', 'measured', ''],
    rows: parts.flatMap(({ result }) =>
      result.targets.map(({ what, limit, measured, met }) => [what, limit, measured, met ? 'met' : '**missed**']),
    ),
  };
  const sections = parts.map(({ result, environment }) =>
    [
      `## ${result.title}`,
      `${environment}.`,
      ...result.tables.map((table) => `### ${table.title}\n\n${renderTable(table)}`),
    ].join('\n\n'),
  );
  return `${[INTRODUCTION, `## Targets\n\n${renderTable(targets)}`, ...sections].join('\n\n')}\n`;
}

function renderTable({ columns, rows }: Table): string {
  const lines = [
    columns,
    columns.map(() => '---'),
    ...rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|'))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
