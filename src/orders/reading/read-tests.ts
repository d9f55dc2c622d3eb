import { isNoneLike } from '../evidence/missing-evidence.js';
import { invalidValue } from '../shapes/check-shape.js';
import { TEST_RESULTS } from '../../records/index.js';
import type { Problem, WorkResult } from '../../records/index.js';
import { isFields, readResultFields } from './result-fields.js';

/** What was said about tests; neither key where nothing was. */
export interface TestsFound {
  readonly tests?: WorkResult['tests'];
  readonly problem?: Problem;
}

const HOW_TO = 'write the command and pass, fail or n/a; n/a alone where there are no tests';

/**
 * Reads `{ Command, Result, Evidence }`, `npm test => pass` or `n/a`. Empty, `none` and `{}` say nothing, and nothing
 * is not `n/a`.
 */
export function readTests(value: unknown): TestsFound {
  if (value === undefined || value === null) return {};
  if (typeof value === 'string') return readLine(value.trim());
  return isFields(value) ? readReport(value) : { problem: invalidValue('tests', HOW_TO) };
}

function readLine(line: string): TestsFound {
  if (line.toLowerCase() === 'n/a') return { tests: 'n/a' };
  if (isNoneLike(line)) return {};
  // The last arrow counts: a command may hold one.
  const arrow = line.lastIndexOf('=>');
  const command = line.slice(0, Math.max(arrow, 0)).trim();
  const result = resultOf(line.slice(arrow + 2));
  if (arrow < 0 || result === undefined || isNoneLike(command)) return { problem: invalidValue('tests', HOW_TO) };
  return { tests: { command, result, evidence: '' } };
}

function readReport(report: Readonly<Record<string, unknown>>): TestsFound {
  const { known, conflicts } = readResultFields(Object.entries(report), ['command', 'result', 'evidence']);
  if (conflicts[0] !== undefined) return { problem: { ...conflicts[0], path: `tests.${conflicts[0].path}` } };
  const words = new Map<string, string>();
  for (const [name, value] of known) {
    if (typeof value === 'string') words.set(name, value.trim());
    else if (value !== null) return { problem: invalidValue(`tests.${name}`, 'it must be a text') };
  }
  const command = words.get('command') ?? '';
  const said = words.get('result') ?? '';
  if (isNoneLike(command)) {
    if (said.toLowerCase() === 'n/a') return { tests: 'n/a' };
    return said === '' || isNoneLike(said) ? {} : { problem: invalidValue('tests.command', HOW_TO) };
  }
  const result = resultOf(said);
  if (result === undefined) return { problem: invalidValue('tests.result', HOW_TO) };
  const evidence = words.get('evidence') ?? '';
  return { tests: { command, result, evidence: isNoneLike(evidence) ? '' : evidence } };
}

function resultOf(text: string): (typeof TEST_RESULTS)[number] | undefined {
  const word = text.trim().toLowerCase();
  return TEST_RESULTS.find((result) => result === word);
}
