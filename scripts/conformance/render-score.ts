import type { Miss, Score } from './run-cases.js';

/** The maximum number of characters shown of an input or a value. */
const MAX_SHOWN_LENGTH = 100;

/** Renders a set's score for humans: one line, then one block per miss. */
export function renderScore(name: string, score: Score): string {
  const right = score.cases - score.misses.length;
  const percent = score.cases === 0 ? '-' : `${((100 * right) / score.cases).toFixed(1)}%`;
  return [`${name}: ${right} of ${score.cases} (${percent})`, ...score.misses.map(renderMiss)].join('\n');
}

function renderMiss({ id, input, expectation, answer }: Miss): string {
  const outcome =
    'value' in answer ? shorten(answer.value) : 'error' in answer ? answer.error : `CRASH ${answer.crash}`;
  const expected = expectation === 'error' ? 'an error' : shorten(expectation.value);
  return `  ${id}\n    input     ${shorten(input)}\n    expected  ${expected}\n    got       ${outcome}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
