import { showLine } from '../plain-text.js';
import { draftFromFields } from './draft-result.js';
import { normalizeResult } from './normalize-result.js';
import type { ResultReading } from './read-json-result.js';
import type { Problem } from '../../records/index.js';
import { readResultFields } from './result-fields.js';

const HEADER_LINES = 100;
const HEADER = /^([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(.*)$/;
// Control characters are what it looks for.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029]/;
const NAMES = [
  'issue_ref',
  'run_id',
  'status',
  'pr',
  'commit',
  'tests',
  'evidence',
  'summary',
  'result_code',
  'blocked_by',
  'questions',
];

/**
 * Reads `work_result.txt`: `Key: Value` lines up to the first blank line, then free text, which is the summary. A line
 * of another form or a key that is there twice makes the header unreadable; unknown keys are left alone.
 *
 * @example
 * readTextResult('IssueRef: acme/shop#12\nRunId: 2026-11-15-qa-0001\nStatus: ok\nCommit: 1a2b3c4\nTests: npm test => pass\n\nDone.\n')
 */
export function readTextResult(text: string): ResultReading {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const blank = lines.findIndex((line) => line.trim() === '');
  const header = blank < 0 ? lines : lines.slice(0, blank);
  const body =
    blank < 0
      ? ''
      : lines
          .slice(blank + 1)
          .join('\n')
          .trim();
  const problems: Problem[] = [];
  const fields = new Map<string, string>();
  if (header.length === 0 || header.length > HEADER_LINES) {
    problems.push(malformed(`it must begin with 1 to ${HEADER_LINES} lines of the form Key: Value`));
  }
  for (const [index, line] of header.slice(0, HEADER_LINES).entries()) {
    const [, key, value] = HEADER.exec(line) ?? [];
    if (key === undefined || value === undefined || CONTROLS.test(line)) {
      problems.push(malformed(`line ${index + 1} is not of the form Key: Value: ${showLine(line, 80)}`));
      continue;
    }
    const [name] = readResultFields([[key, value]], NAMES).known.keys();
    if (name === undefined) continue;
    if (fields.has(name))
      problems.push({ code: 'DUPLICATE_KEY', message: 'it is there twice; keep one of them', path: name });
    else fields.set(name, value.trim());
  }
  const known = arrange(fields, body);
  const draft = draftFromFields(known);
  if (problems.length > 0) return { problems: problems.slice(0, 20), ...(draft === undefined ? {} : { draft }) };
  const { result, problems: found, notices } = normalizeResult({ known, conflicts: [] });
  return {
    problems: found,
    ...(notices.length === 0 ? {} : { notices }),
    ...(result === undefined ? (draft === undefined ? {} : { draft }) : { result }),
  };
}

/** The flat header in the shape of a result. */
function arrange(header: ReadonlyMap<string, string>, body: string): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>(header);
  const changes = [...header].filter(([name]) => name === 'pr' || name === 'commit');
  if (changes.length > 0) fields.set('changes', Object.fromEntries(changes));
  for (const name of ['blocked_by', 'questions']) {
    const list = header.get(name);
    if (list !== undefined) fields.set(name, list.split(name === 'questions' ? ';' : /[,;]/));
  }
  const evidence = header.get('evidence');
  const tests = header.get('tests') ?? '';
  const arrow = tests.lastIndexOf('=>');
  if (evidence !== undefined && arrow >= 0) {
    fields.set('tests', { command: tests.slice(0, arrow).trim(), result: tests.slice(arrow + 2).trim(), evidence });
  }
  const summary = [header.get('summary') ?? '', body].filter((part) => part !== '').join('\n\n');
  if (summary !== '') fields.set('summary', summary);
  return fields;
}

function malformed(message: string): Problem {
  return { code: 'HEADER_MALFORMED', message };
}
