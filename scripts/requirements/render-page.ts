import type { Clause, Requirements } from './clauses.js';

const HEAD = ['| number | behaviour | test file | test |', '| --- | --- | --- | --- |'];

/** Renders `docs/requirements.md`. */
export function renderPage({ introduction, documents }: Requirements): string {
  const sections = documents.map(({ title, clauses, note }) =>
    [`## ${title}`, [...HEAD, ...clauses.map(renderRow)].join('\n'), note].join('\n\n'),
  );
  return `${['# Requirements', introduction, ...sections].join('\n\n')}\n`;
}

function renderRow({ number, behaviour, tests }: Clause): string {
  const files = tests.map(({ file }) => `[${file}](../${file})`);
  const names = tests.map(({ name }) => `\`${name}\``);
  return `| ${number} | ${behaviour} | ${files.join('<br>')} | ${names.join('<br>')} |`;
}
