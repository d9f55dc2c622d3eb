import { describe, expect, test } from 'vitest';
import { adversarialInputs } from './fixtures/adversarial-inputs.js';
import { expectError } from './fixtures/outcome.js';
import { withFields } from './fixtures/schemas.js';
import { parse, ParseError, type ParseResult, repairJson } from './index.js';

const KILOBYTE = 1024;
/** The time is linear, so part of each input is enough here; `npm run torture` uses all of it. */
const LENGTH = Number(process.env['ADVERSARIAL_KILOBYTES'] ?? 64) * KILOBYTE;

/** The outcome in one word: a status, or the error code. */
function describeResult(result: ParseResult<unknown>): string {
  return result.ok || result.status === 'comment' ? result.status : result.error.code;
}

/**
 * Whether the repaired output is valid JSON, or why the repair failed. Any error other than a ParseError fails the
 * test.
 */
function describeRepair(text: string): string {
  try {
    JSON.parse(repairJson(text));
    return 'success';
  } catch (error) {
    if (error instanceof ParseError) return error.code;
    throw error;
  }
}

describe('adversarial input has a fixed outcome for every profile and reader', () => {
  test.each(adversarialInputs)('a long input of %s', (_, createInput) => {
    const [text, half] = [createInput(LENGTH), createInput(LENGTH / 2)];
    const outcomes = {
      default: describeResult(parse(text)),
      generic: describeResult(parse(half, undefined, { profile: 'generic' })),
      tagged: describeResult(parse(half, undefined, { profile: 'tagged' })),
      unified: describeResult(parse(half, undefined, { profile: 'unified' })),
      raw: describeResult(parse(half, undefined, { detectDuplicates: true, numbers: 'raw' })),
      last: describeResult(parse(half, undefined, { ambiguous: 'last' })),
      repairJson: describeRepair(text),
    };
    expect(outcomes).toMatchSnapshot();
  });

  test.each(adversarialInputs)('a schema that requires a field rejects a long input of %s', (_, createInput) => {
    expect(expectError(parse(createInput(LENGTH / 2), withFields('wanted'), { allowPartial: true })).name).toBe(
      'ParseError',
    );
  });
});
