import { showLine } from '../plain-text.js';
import { RESULT_CODES } from '../../records/index.js';
import type { Evidence, Problem, ResultCode, WorkResult } from '../../records/index.js';

/*
 * The wording of reasons. Whatever comes from a worker is put on one line, cut and made visible.
 */

/** Exit of an agent's process; both null if unknown. */
export interface End {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** The worker's result code, if Sluice knows it and it is not `none`. */
export function knownCode(code: string | undefined): ResultCode | undefined {
  return RESULT_CODES.find((known) => known === code && known !== 'none');
}

/** Describes the agent's report, and a code that Sluice does not know. */
export function describeReport({ summary, result_code: code }: WorkResult): string {
  const odd =
    code === undefined || (RESULT_CODES as readonly string[]).includes(code) ? '' : ` (${showLine(code, 50)})`;
  const words = showLine(summary, 200);
  return words === '' ? odd : `${odd}: ${words.replace(/[.\s]+$/, '')}`;
}

/** A note that the reported tests passed although the status is `fail`. */
export function describeDisagreement({ tests }: WorkResult): string {
  return tests !== undefined && tests !== 'n/a' && tests.result === 'pass'
    ? ' It also reports that its tests passed.'
    : '';
}

/** Describes how the process ended, as a part of a sentence. */
export function describeExit({ exitCode, signal }: End): string {
  if (signal !== null) return `its process was ended by signal ${showLine(signal, 20)}`;
  return exitCode === null ? 'its exit is unknown' : `its process exited with code ${exitCode}`;
}

/** Describes how the process ended, as a sentence. */
export function describeEnd(end: End): string {
  const words = describeExit(end);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** That a worker ended before it reported anything, how, and after what time. */
export function describeMissingResult(end: End, durationMs: number | null | undefined): string {
  const isSeen = end.exitCode !== null || end.signal !== null;
  const after = isSeen && typeof durationMs === 'number' ? ` after ${duration(durationMs)}` : '';
  return `The agent ended without a result: ${describeExit(end)}${after}.`;
}

function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds < 120 ? `${Number(seconds.toFixed(1))} s` : `${Math.round(seconds / 60)} min`;
}

/** The first problems; all of them are in the reading. */
export function listProblems(problems: readonly Problem[]): string {
  return problems
    .slice(0, 3)
    .map(({ path, message }) => showLine(path === undefined ? message : `${path}: ${message}`, 200))
    .join('; ');
}

/** Names in a row. */
export function listNames(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `${names
    .slice(0, 5)
    .map((name) => showLine(name, 100))
    .join(', ')}${more}`;
}

/** Text of any origin as a sentence. */
export function sentence(text: string): string {
  return `${showLine(text, 300).replace(/[.\s]+$/, '')}.`;
}

/** Describes why a result advances: what Sluice confirmed, what is only the agent's word, and what Sluice could not check. */
export function describeAdvance(evidence: readonly Evidence[] = []): string {
  const facts = evidence.filter(({ claim }) => claim !== 'result');
  const confirmed = listClaims(facts.filter(({ verdict }) => verdict === 'confirmed'));
  const open = facts.filter(({ claim, verdict }) => verdict === 'unchecked' && !confirmed.includes(claim));
  const reported = listClaims(open.filter(({ by }) => by === 'worker'));
  const unchecked = listClaims(open).filter((claim) => !reported.includes(claim));
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
