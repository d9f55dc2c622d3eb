import { stripVTControlCharacters } from 'node:util';
import { dropFullStop, showLine, showNames } from '../plain-text.js';
import { RESULT_CODES } from '../../store/records/index.js';
import type { Evidence, Problem, ResultCode, WorkResult } from '../../store/records/index.js';

/*
 * The wording of reasons. Text from an agent is put on one line, truncated, and its invisible characters are escaped.
 */

/** How an agent's process exited; both are null if unknown. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Returns the agent's result code if it is known and not `none`. */
export function findKnownCode(code: string | undefined): ResultCode | undefined {
  return RESULT_CODES.find((knownCode) => knownCode === code && knownCode !== 'none');
}

/** Describes the agent's report: its summary, and its result code if Sluice does not define it. */
export function describeReport({ summary, result_code: code }: WorkResult): string {
  const unknownCode =
    code === undefined || (RESULT_CODES as readonly string[]).includes(code) ? '' : ` (${showLine(code, 50)})`;
  const text = showLine(summary, 200);
  return text === '' ? unknownCode : `${unknownCode}: ${dropFullStop(text)}`;
}

/** Notes that the tests passed, as reported, although the status is `fail`. */
export function describeDisagreement({ tests }: WorkResult): string {
  return tests !== undefined && tests !== 'n/a' && tests.result === 'pass'
    ? ' It also reports that its tests passed.'
    : '';
}

/** Describes how the process exited, as a clause. */
export function describeExit({ exitCode, signal }: ProcessExit): string {
  if (signal !== null) return `its process was terminated by signal ${showLine(signal, 20)}`;
  return exitCode === null ? 'its exit status is unknown' : `its process exited with code ${exitCode}`;
}

/** Describes how the process exited, as a full sentence. */
export function describeExitSentence(end: ProcessExit): string {
  const text = describeExit(end);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Describes how, and after how long, an agent exited without a result. */
export function describeMissingResult(end: ProcessExit, durationMs: number | null | undefined): string {
  const isExitKnown = end.exitCode !== null || end.signal !== null;
  const duration = isExitKnown && typeof durationMs === 'number' ? ` after ${formatDuration(durationMs)}` : '';
  return `The agent exited without a result: ${describeExit(end)}${duration}.`;
}

const OUTPUT_LINES = 3;
const OUTPUT_LENGTH = 300;

/** Quotes the last lines that the agent printed; empty if it printed nothing. */
export function describeLastOutput(output = ''): string {
  const lines = stripVTControlCharacters(output).split(/[\r\n]+/);
  const printed = lines.filter((line) => line.trim() !== '');
  const text = printed.slice(-OUTPUT_LINES).join(' | ');
  const start = Math.max(0, text.length - OUTPUT_LENGTH);
  if (text === '') return '';
  return ` Last output: ${start === 0 ? '' : '…'}${showLine(text.slice(start).replace(/^[\uDC00-\uDFFF]/, ''), OUTPUT_LENGTH)}`;
}

function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds < 120 ? `${Number(seconds.toFixed(1))} s` : `${Math.round(seconds / 60)} min`;
}

/** Lists the first three problems; the reading contains all of them. */
export function listProblems(problems: readonly Problem[]): string {
  return problems
    .slice(0, 3)
    .map(({ path, message }) => dropFullStop(showLine(path === undefined ? message : `${path}: ${message}`, 200)))
    .join('; ');
}

/** Lists the first five names and the number of remaining ones. */
export function listNames(names: readonly string[]): string {
  return showNames(names, 5, 100);
}

/** Puts text from any source on one line that ends with a full stop. */
export function toSentence(text: string): string {
  return `${dropFullStop(showLine(text, 300))}.`;
}

/**
 * Describes why a result advances: facts that Sluice confirmed, claims that only the agent reports, and claims that
 * Sluice could not check.
 */
export function describeAdvance(evidence: readonly Evidence[] = []): string {
  const facts = evidence.filter(({ claim }) => claim !== 'result');
  const confirmed = listClaims(facts.filter(({ verdict }) => verdict === 'confirmed'));
  const uncheckedFacts = facts.filter(({ claim, verdict }) => verdict === 'unchecked' && !confirmed.includes(claim));
  const reported = listClaims(uncheckedFacts.filter(({ by }) => by === 'worker'));
  const unchecked = listClaims(uncheckedFacts).filter((claim) => !reported.includes(claim));
  return [
    'The agent reports ok with evidence, and nothing contradicts it.',
    ...(confirmed.length === 0 ? [] : [`Verified: ${confirmed.join(', ')}.`]),
    ...(reported.length === 0 ? [] : [`Reported, not verified: ${reported.join(', ')}.`]),
    ...(unchecked.length === 0 ? [] : [`Not checked: ${unchecked.join(', ')}.`]),
  ].join(' ');
}

function listClaims(evidence: readonly Evidence[]): readonly Evidence['claim'][] {
  return [...new Set(evidence.map(({ claim }) => claim))];
}
