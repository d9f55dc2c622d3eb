import type { Miss, Score } from './run-cases.js';

/** Longest piece of an input or a value shown. */
const LONGEST = 100;

/** The score of a set for people: one line, then one block a miss. */
export function renderScore(name: string, score: Score): string {
  const right = score.cases - score.misses.length;
  const percent = score.cases === 0 ? '-' : `${((100 * right) / score.cases).toFixed(1)}%`;
  return [`${name}: ${right} of ${score.cases} (${percent})`, ...score.misses.map(renderMiss)].join('\n');
}

function renderMiss({ id, input, expectation, answer }: Miss): string {
  const got = 'value' in answer ? shorten(answer.value) : 'error' in answer ? answer.error : `CRASH ${answer.crash}`;
  const expected = expectation === 'error' ? 'an error' : shorten(expectation.value);
  return `  ${id}\n    input     ${shorten(input)}\n    expected  ${expected}\n    got       ${got}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
