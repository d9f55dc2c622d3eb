import type { CaseReport } from './run-suite.js';

/**
 * The reports as JUnit XML, which CI systems show.
 *
 * @example
 * await writeFile('suite.xml', renderJunit(reports))
 */
export function renderJunit(reports: readonly CaseReport[]): string {
  const count = (status: CaseReport['status']): number => reports.filter((report) => report.status === status).length;
  const cases = reports.map((report) => {
    const head = `    <testcase classname="sluice-suite" name=${quote(report.name)} time="${(report.ms / 1000).toFixed(3)}"`;
    if (report.status === 'same') return `${head}/>`;
    const kind = report.status === 'changed' ? 'failure' : 'error';
    const lines = report.changes.map(describeChange);
    const message = report.problem ?? lines.join('; ');
    return `${head}>\n      <${kind} message=${quote(message)}>${escape(lines.join('\n'))}</${kind}>\n    </testcase>`;
  });
  const totals = `tests="${reports.length}" failures="${count('changed')}" errors="${count('broken')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="sluice-suite" ${totals}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** Long values are cut: the file with the whole one is in the suite. */
const SHOWN = 200;

/**
 * Describes a change in one line.
 *
 * @example
 * describeChange(change) // 'reading value.line: expected 3, found 4'
 */
export function describeChange({ part, path, expected, found }: CaseReport['changes'][number]): string {
  return `${part} ${path.join('.')}: expected ${show(expected)}, found ${show(found)}`;
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function quote(text: string): string {
  return `"${escape(text).replaceAll('\n', '&#10;')}"`;
}

/** Characters that XML 1.0 cannot hold are replaced; agents print them. */
// oxlint-disable-next-line no-control-regex
const NOT_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu;

function escape(text: string): string {
  return text
    .replaceAll(NOT_XML, '\u{FFFD}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
