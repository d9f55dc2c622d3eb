import type { CaseReport } from './run-suite.js';

/**
 * Renders the reports as JUnit XML, which CI systems can display.
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

/** Longer values are shortened, so a change fits on one line. */
const MAX_LENGTH = 200;

/**
 * Describes a change in one line.
 *
 * @example
 * describeChange(change) // 'reading value.line: expected 3, found 4'
 */
export function describeChange({ part, path, expected, found }: CaseReport['changes'][number]): string {
  return `${part} ${path.join('.')}: expected ${formatValue(expected)}, found ${formatValue(found)}`;
}

function formatValue(value: unknown): string {
  const text = value === undefined ? 'no value' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

function quote(text: string): string {
  return `"${escape(text).replaceAll('\n', '&#10;')}"`;
}

/** Characters that XML 1.0 does not allow. They are replaced, because agents can print them. */
// oxlint-disable-next-line no-control-regex
const INVALID_IN_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu;

function escape(text: string): string {
  return text
    .replaceAll(INVALID_IN_XML, '\u{FFFD}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
