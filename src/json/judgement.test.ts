import { describe, expect, test } from 'vitest';
import {
  decisionCases,
  disputeCases,
  elisionCases,
  profileCases,
  type JudgedAnswer,
} from './fixtures/judgement-cases.js';
import { answerCases, insideCases } from './fixtures/inside-cases.js';
import { parse, type ParseOptions } from './index.js';

/** Reads an answer; of the warnings, only those about the choice and the value. */
function judge({ text, schema, options }: JudgedAnswer): Pick<JudgedAnswer, 'value' | 'warning' | 'code'> {
  const result = parse(text, schema, options);
  const warning = result.warnings.find(({ code }) =>
    /^(?:ANSWER|AMBIGUOUS|DUPLICATE|PARTIAL|SUSPECT)/.test(code),
  )?.code;
  if (result.status === 'failed') return { code: result.error.code };
  return { value: result.ok && result.value, ...(warning !== undefined && { warning }) };
}

describe.each(Object.entries({ disputeCases, decisionCases, profileCases, elisionCases, insideCases, answerCases }))(
  'the judgement of a careful reader: %s',
  (_, cases) => {
    test.each(cases.map((answer) => [answer.title, answer] as const))('%s', (_title, answer) => {
      const { value, warning, code } = answer;
      expect(judge(answer)).toEqual(
        code === undefined ? { value, ...(warning !== undefined && { warning }) } : { code },
      );
    });
  },
);

/** The message of a refused answer. */
function refuse(text: string, options: ParseOptions = {}): string | undefined {
  const result = parse(text, undefined, options);
  return result.status === 'failed' ? result.error.message : undefined;
}

describe('the message of a refused answer', () => {
  test('quotes the words that take the only value back, and says what to do', () => {
    expect(refuse('{"total": 12}\n\nWait, that is wrong. I forgot the shipping.')).toBe(
      'The text takes the value back: "Wait, that is wrong. I forgot the shipping." (offset 0). Ask again, or set ambiguous (--ambiguous) to \'first\' to take a value anyway.',
    );
    expect(refuse('The answer is not {"total": 12}.')).toContain('takes the value back: "not" (offset 18)');
  });

  test('quotes the words that put it in doubt', () => {
    expect(refuse('If the customer pays in cash, it is {"total": 12}.', { ambiguous: 'fail' })).toContain(
      'The text doubts the value: "If the customer pays in cash, it is" (offset 36). Ask again',
    );
  });

  test('quotes at most a few words', () => {
    expect(refuse(`{"total": 12}\n\nActually, the total should be 15${' and so on'.repeat(20)}`)?.length).toBeLessThan(
      250,
    );
  });

  test('offers the first or the last of several values', () => {
    expect(refuse('Either {"total": 12} or {"total": 15}.')).toContain(
      "Ask again, or set ambiguous (--ambiguous) to 'first' or 'last' to take a value anyway. Candidates tried: 2.",
    );
  });
});
