import { describe, expect, test } from 'vitest';
import {
  decisionCases,
  disputeCases,
  elisionCases,
  profileCases,
  type JudgedAnswer,
} from './fixtures/judgement-cases.js';
import { answerCases, insideCases } from './fixtures/inside-cases.js';
import { parse } from './index.js';

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
