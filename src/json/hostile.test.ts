import { describe, expect, test, vi } from 'vitest';
import { hostileTexts } from './fixtures/hostile-texts.js';
import { errorOf } from './fixtures/outcome.js';
import { withFields } from './fixtures/schemas.js';
import { parse, PARSE_ERROR_CODES, ParseError, type ParseResult, repairJson } from './index.js';

// Much text on a busy machine: these tests ask whether there is an answer, the benchmarks ask when.
vi.setConfig({ testTimeout: 60_000 });

const KILOBYTE = 1024;
/** Time is linear, so an eighth asks the same; `npm run torture` asks for all of it. */
const LENGTH = Number(process.env['HOSTILE_KILOBYTES'] ?? 128) * KILOBYTE;

function isAnswered(result: ParseResult<unknown>): boolean {
  return result.ok || result.status === 'comment' || PARSE_ERROR_CODES.includes(result.error.code);
}

/** Valid JSON, or undefined where there is nothing to be saved. Anything but a ParseError is a failure. */
function repairedValue(text: string): unknown {
  try {
    return JSON.parse(repairJson(text));
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

describe('hostile input gets an answer or a typed error', () => {
  test.each(hostileTexts)('parse: much of %s', (_, make) => {
    expect(isAnswered(parse(make(LENGTH)))).toBe(true);
  });

  test.each(hostileTexts)('parse with allowPartial and a schema: half of that of %s', (_, make) => {
    expect(errorOf(parse(make(LENGTH / 2), withFields('wanted'), { allowPartial: true })).name).toBe('ParseError');
  });

  test.each(hostileTexts)('repairJson: much of %s', (_, make) => {
    expect(() => repairedValue(make(LENGTH))).not.toThrow();
  });

  test.each(hostileTexts)('the other profiles and readers: half of that of %s', (_, make) => {
    const text = make(LENGTH / 2);
    for (const profile of ['generic', 'tagged', 'unified'] as const)
      expect(isAnswered(parse(text, undefined, { profile }))).toBe(true);
    expect(isAnswered(parse(text, undefined, { detectDuplicates: true, numbers: 'raw' }))).toBe(true);
    expect(isAnswered(parse(text, undefined, { prefer: 'last' }))).toBe(true);
  });
});
