import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from '../index.js';
import { truncated, multiple } from './fixtures/held-out/truncated-and-multiple.js';
import { MORE_HELD_OUT_ANSWERS } from './fixtures/held-out/more-answers.js';
import type { HeldOutAnswer } from './fixtures/held-out/held-out-answer.js';
import { languages, markdown } from './fixtures/held-out/markdown-and-languages.js';
import { aligned, syntax } from './fixtures/held-out/syntax-and-types.js';
import { reasoning, toolCalls } from './fixtures/held-out/thinking-and-tools.js';
import { fromJsonSchema } from './from-json-schema.js';

/**
 * Refused although a careful human could read them: full-width braces after words, a truncated word that only one enum
 * member starts with, assignments in a string.
 *
 * Before any rule was changed for them, 85 of the first 103 answers were right, 10 refused and 8 wrong; of 78 more, 66,
 * 3 and 9. Seven expectations did not survive a second look (for example, valid JSON is not reinterpreted): three
 * answers were rewritten, three expectations changed, one answer (`010`) removed. The adjusted scores are 88, 10 and 5;
 * and 68, 3 and 6. The rules were then changed with these answers in view, so they no longer measure the results for
 * unseen answers.
 */
const REFUSED: readonly string[] = [
  'a Japanese answer with corner brackets and full-width punctuation',
  'cut in an enum that has one member left',
  JSON.stringify('{"path": "a.js", "content": "const s = "a", t = "b";"}').slice(0, 100),
];

function judge({ text, schema, options = {}, ...expected }: HeldOutAnswer): 'right' | 'refused' | `wrong: ${string}` {
  const result = parse(text, schema === undefined ? undefined : fromJsonSchema(schema), options);
  if (!result.ok) return 'value' in expected ? 'refused' : 'right';
  const isRight = 'value' in expected && isDeepStrictEqual(result.value, expected.value);
  return isRight ? 'right' : `wrong: ${JSON.stringify(result.value)}`;
}

/** All answers, written before the rules were changed for any of them. */
const ANSWERS = {
  reasoning,
  'tool calls': toolCalls,
  markdown,
  languages,
  'truncated answers': truncated,
  'multiple answers': multiple,
  syntax,
  aligned,
  further: MORE_HELD_OUT_ANSWERS,
};

describe.each(Object.entries(ANSWERS))('answers written before the rules: %s', (_kind, answers) => {
  test.each(answers.map((answer) => [answer.title, answer] as const))('%s', (title, answer) => {
    expect(judge(answer)).toBe(REFUSED.includes(title) ? 'refused' : 'right');
  });
});
