import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { moreAnswers } from './fixtures/more-answers.js';
import { realisticAnswers, type RealisticAnswer } from './fixtures/realistic-answers.js';
import { parse } from './index.js';

const ANSWERS = { ...realisticAnswers, ...moreAnswers };

/** Answers that are refused although a careful human could read them. A wrong value is never acceptable. */
const REFUSED: readonly string[] = ['a number with a unit', 'a page URL'];

function judge({ text, schema, options, ...expected }: RealisticAnswer): 'right' | 'refused' | `wrong: ${string}` {
  const result = parse(text, schema, options);
  if (!result.ok) return 'value' in expected ? 'refused' : 'right';
  const isRight = 'value' in expected && isDeepStrictEqual(result.value, expected.value);
  return isRight ? 'right' : `wrong: ${JSON.stringify(result.value)}`;
}

describe.each(Object.entries(ANSWERS))('answers as models write them: %s', (_, answers) => {
  test.each(answers.map((answer) => [answer.title, answer] as const))('%s', (title, answer) => {
    expect(judge(answer)).toBe(REFUSED.includes(title) ? 'refused' : 'right');
  });
});

test('there are enough answers for a score', () => {
  expect(Object.values(ANSWERS).flat().length).toBeGreaterThanOrEqual(250);
});
