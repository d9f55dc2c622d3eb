import { describe, expect, test, vi } from 'vitest';
import { hostileTexts } from './fixtures/hostile-texts.js';
import { expectError } from './fixtures/outcome.js';
import { withFields } from './fixtures/schemas.js';
import { parse, ParseError, type ParseResult, repairJson } from './index.js';

// Much text on a busy machine: these tests ask for the outcome, the benchmarks ask how long it takes.
vi.setConfig({ testTimeout: 60_000 });

const KILOBYTE = 1024;
/** Time is linear, so a part asks the same; `npm run torture` asks for all of it. */
const LENGTH = Number(process.env['HOSTILE_KILOBYTES'] ?? 64) * KILOBYTE;

/** The outcome in one word: a status, or the code of the error. */
function describeResult(result: ParseResult<unknown>): string {
  return result.ok || result.status === 'comment' ? result.status : result.error.code;
}

/** Whether the repaired text is valid JSON, or why there is none. Anything but a ParseError is a failure. */
function describeRepair(text: string): string {
  try {
    JSON.parse(repairJson(text));
    return 'success';
  } catch (error) {
    if (error instanceof ParseError) return error.code;
    throw error;
  }
}

describe('hostile input has one known outcome for every profile and reader', () => {
  test.each(hostileTexts)('much of %s', (_, make) => {
    const [text, half] = [make(LENGTH), make(LENGTH / 2)];
    const outcomes = {
      default: describeResult(parse(text)),
      generic: describeResult(parse(half, undefined, { profile: 'generic' })),
      tagged: describeResult(parse(half, undefined, { profile: 'tagged' })),
      unified: describeResult(parse(half, undefined, { profile: 'unified' })),
      raw: describeResult(parse(half, undefined, { detectDuplicates: true, numbers: 'raw' })),
      last: describeResult(parse(half, undefined, { prefer: 'last' })),
      repairJson: describeRepair(text),
    };
    expect(outcomes).toMatchSnapshot();
  });

  test.each(hostileTexts)('a schema that asks for a field refuses half of that of %s', (_, make) => {
    expect(expectError(parse(make(LENGTH / 2), withFields('wanted'), { allowPartial: true })).name).toBe('ParseError');
  });
});
