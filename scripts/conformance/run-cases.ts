import { isDeepStrictEqual } from 'node:util';
import { getErrorMessage } from '../../src/base/sluice-error.js';
import { isSluiceError } from '../../src/base/index.js';
import { createJsonStream, parseOrThrow, repairJson } from '../../src/json/index.js';
import { fromJsonSchema } from '../../src/json/schema/index.js';
import type { ConformanceCase } from './conformance-case.js';

/** The outcome of a case: a value, or an error code. A `crash` is an exception that is not one of Sluice's own. */
export type Answer = { readonly value: unknown } | { readonly error: string } | { readonly crash: string };

/** A case whose outcome differs from the one its project expects. */
export interface Miss {
  readonly id: string;
  readonly input: string;
  readonly expectation: ConformanceCase['expectation'];
  readonly answer: Answer;
}

/** The score of a set of cases. */
export interface Score {
  readonly cases: number;
  readonly misses: readonly Miss[];
}

/** Runs every case with our counterpart of the function that its project tests. */
export function runCases(cases: readonly ConformanceCase[]): Score {
  const misses = cases.flatMap((one): Miss[] => {
    const answer = runCase(one);
    return isExpected(answer, one.expectation)
      ? []
      : [{ id: one.id, input: one.input, expectation: one.expectation, answer }];
  });
  return { cases: cases.length, misses };
}

function runCase(one: ConformanceCase): Answer {
  try {
    return { value: getValue(one) };
  } catch (thrown) {
    if (isSluiceError(thrown)) return { error: thrown.code };
    return { crash: getErrorMessage(thrown) };
  }
}

function getValue({ kind, input, schema = true }: ConformanceCase): unknown {
  switch (kind) {
    case 'repair':
      return JSON.parse(repairJson(input));
    case 'extract':
      // Where nothing decides between several values, the projects expect the first.
      return parseOrThrow(input, undefined, { allowPartial: true, ambiguous: 'first' });
    case 'partial':
      return readPartial(input);
    case 'schema':
      return parseOrThrow(input, fromJsonSchema(schema), { align: true, allowPartial: true, ambiguous: 'first' });
  }
}

/** Returns the stream's snapshot for an input; if it has none yet, the partial value at its end. */
function readPartial(text: string): unknown {
  const { value } = createJsonStream(undefined, { partial: { numbers: true, literals: true } }).push(text);
  return value ?? parseOrThrow(text, undefined, { allowPartial: true, ambiguous: 'first' });
}

function isExpected(answer: Answer, expectation: ConformanceCase['expectation']): boolean {
  if (expectation === 'error') return 'error' in answer;
  return 'value' in answer && isDeepStrictEqual(normalize(answer.value), normalize(expectation.value));
}

/** Turns -0 into 0: the cases were written as JSON, which lost the sign. */
function normalize(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
