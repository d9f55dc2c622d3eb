import type { Clause, Deviation, Requirements } from './clauses.js';

const HEAD = ['| number | behaviour | test file | test |', '| --- | --- | --- | --- |'];
const DEVIATIONS_HEAD = [
  '| the document | what we do instead | why | test file | test |',
  '| --- | --- | --- | --- | --- |',
];

/** Renders `docs/requirements.md`. */
export function renderPage({ introduction, documents }: Requirements): string {
  const sections = documents.map(({ title, clauses, note, deviations }) =>
    [
      `## ${title}`,
      [...HEAD, ...clauses.map(renderRow)].join('\n'),
      ...(deviations.length === 0
        ? []
        : [
            'The document and what we do instead:',
            [...DEVIATIONS_HEAD, ...deviations.map(renderDeviation)].join('\n'),
          ]),
      ...(note === '' ? [] : [note]),
    ].join('\n\n'),
  );
  return `${['# Requirements', introduction, ...sections].join('\n\n')}\n`;
}

function renderRow({ number, behaviour, tests }: Clause): string {
  return `| ${number} | ${behaviour} | ${renderTests(tests)} |`;
}

function renderDeviation({ document, instead, reason, tests }: Deviation): string {
  return `| ${document} | ${instead} | ${reason} | ${renderTests(tests)} |`;
}

function renderTests(tests: Clause['tests']): string {
  const files = [...new Set(tests.map(({ file }) => `[${file}](../${file})`))];
  const names = tests.map(({ name }) => `\`${name}\``);
  return `${files.join('<br>')} | ${names.join('<br>')}`;
}
