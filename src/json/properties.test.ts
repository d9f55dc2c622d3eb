import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brokenJson, fragmentText, jsonContainer, jsonText, jsonValue } from './fixtures/arbitraries.js';
import { expectSuccess } from './fixtures/outcome.js';
import { createSchema, withFields } from './fixtures/schemas.js';
import { parse, PARSE_ERROR_CODES, ParseError, type ParseOptions, repairJson } from './index.js';

const anyText = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fragmentText,
  brokenJson,
);
const anyOptions: fc.Arbitrary<ParseOptions> = fc.record(
  {
    profile: fc.constantFrom('default', 'generic', 'tagged', 'unified'),
    allowPartial: fc.boolean(),
    ambiguous: fc.constantFrom('first', 'last', 'fail'),
    numbers: fc.constantFrom('double', 'bigint', 'raw'),
    detectDuplicates: fc.boolean(),
  },
  { requiredKeys: [] },
);
const anySchema = fc.constantFrom(
  undefined,
  withFields('a'),
  createSchema((value): value is unknown => value !== null),
);

/** The repaired JSON; undefined if it cannot be repaired. Any error other than a ParseError fails the test. */
function tryRepair(text: string): string | undefined {
  try {
    return repairJson(text);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

describe('parse', () => {
  test('never throws on any input, and fails only with a documented code', () => {
    fc.assert(
      fc.property(anyText, anySchema, anyOptions, (text, schema, options) => {
        const result = parse(text, schema, options);
        expect(result.ok || result.status === 'comment' || PARSE_ERROR_CODES.includes(result.error.code)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('a success is consistent: level, repairs, warnings and span agree', () => {
    fc.assert(
      fc.property(anyText, anySchema, anyOptions, (text, schema, options) => {
        const result = parse(text, schema, options);
        fc.pre(result.ok);
        const { repairLevel, repairs, warnings, candidate } = expectSuccess(result);
        expect(repairLevel).toBe(repairs.length === 0 ? 'none' : 'deterministic_generic');
        expect(warnings.some(({ code }) => code === 'OUTPUT_REPAIRED_GENERIC')).toBe(repairs.length > 0);
        expect(candidate.start).toBeGreaterThanOrEqual(0);
        expect(candidate.start).toBeLessThan(candidate.end);
        expect(candidate.end).toBeLessThanOrEqual(text.length);
        for (const { offset } of repairs) expect(offset).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 300 },
    );
  });

  test('repair level none means that JSON.parse reads the same value from the span', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('default', 'generic', 'tagged', 'unified'), (text, profile) => {
        const result = parse(text, undefined, { profile });
        fc.pre(result.ok && result.repairLevel === 'none');
        const { candidate, value } = expectSuccess(result);
        expect(value).toStrictEqual(JSON.parse(text.slice(candidate.start, candidate.end)));
      }),
    );
  });

  test("no object's prototype is changed", () => {
    fc.assert(
      fc.property(brokenJson, (text) => {
        const result = parse(text, undefined, { allowPartial: true });
        fc.pre(result.ok);
        for (const container of listContainers(expectSuccess(result).value)) {
          expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(container));
        }
      }),
    );
  });
});

describe('valid JSON is the identity', () => {
  test.each<[string, ParseOptions]>([
    ['by JSON.parse', {}],
    ['by our own reader', { detectDuplicates: true }],
    ['with allowPartial', { allowPartial: true, detectDuplicates: true }],
    ['in profile generic', { profile: 'generic' }],
  ])('%s: same value, level none, no repairs', (_, options) => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const result = expectSuccess(parse(text, undefined, options));
        expect(result).toMatchObject({ repairLevel: 'none', repairs: [] });
        expect(result.value).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test('numbers raw: numbers that a double represents exactly stay numbers', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const result = expectSuccess(parse(text, undefined, { numbers: 'raw' }));
        expect(result).toMatchObject({ value: JSON.parse(text) as unknown, repairLevel: 'none', repairs: [] });
      }),
    );
  });
});

describe('finds a valid value exactly, anywhere in the input', () => {
  const before = fc.constantFrom(
    '',
    'Sure! ',
    'Here is the result:\n',
    '结果如下：',
    'As noted in [ref], {name} gives ',
    'It\'s "this": ',
  );
  const trailer = fc.constantFrom('', '\nHope this helps!', ' – done.', '\n\nLet me know.', ' (see {notes})');
  const object = jsonContainer.filter((value) => Object.keys(value).length > 0 && !Array.isArray(value));
  const layout = fc.constantFrom(undefined, 2);

  test.each<[string, (json: string, start: string, end: string) => string]>([
    ['in prose', (json, start, end) => start + json + end],
    ['in a fence', (json, start, end) => `${start}\n\`\`\`json\n${json}\n\`\`\`\n${end}`],
    ['in a tag', (json, start, end) => `${start}<json>${json}</json>${end}`],
    ['after thinking', (json, start, end) => `<think>${start}{"draft": 1}</think>${json}${end}`],
    ['after a lone </think>', (json, start, end) => `${start}{"draft": 1}</think>${json}${end}`],
  ])('%s', (_, wrap) => {
    fc.assert(
      fc.property(object, layout, before, trailer, (value, space, start, end) => {
        const json = JSON.stringify(value, undefined, space);
        const result = expectSuccess(parse(wrap(json, start, end)));
        expect(result.value).toStrictEqual(JSON.parse(json));
        expect(result.repairs.filter(({ kind }) => kind !== 'extracted' && kind !== 'markdown')).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('in an envelope, once or twice encoded', () => {
    fc.assert(
      fc.property(
        jsonContainer,
        fc.constantFrom('response', 'result', 'content', 'text'),
        fc.boolean(),
        (value, field, isEncodedTwice) => {
          const wrapped = { wrapped: value };
          const inner = JSON.stringify({ [field]: JSON.stringify(wrapped) });
          const text = isEncodedTwice ? JSON.stringify({ output: inner }) : inner;
          expect(expectSuccess(parse(text, withFields('wrapped'))).value).toStrictEqual(
            JSON.parse(JSON.stringify(wrapped)),
          );
        },
      ),
    );
  });

  test('as the last NDJSON line', () => {
    fc.assert(
      fc.property(fc.array(object, { minLength: 2, maxLength: 5 }), (values) => {
        const lines = values.map((value) => JSON.stringify(value));
        expect(expectSuccess(parse(lines.join('\n'))).value).toStrictEqual(JSON.parse(lines.at(-1) ?? ''));
      }),
    );
  });
});

describe('truncation', () => {
  test('allowPartial returns a value whose finished scalars match the original', () => {
    fc.assert(
      fc.property(jsonContainer, fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const partial = text.slice(0, 1 + (cut % text.length));
        const result = expectSuccess(parse(partial, undefined, { allowPartial: true }));
        expect(isPrefix(result.value, JSON.parse(text))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('without allowPartial a truncated object or array is TRUNCATED, never a value', () => {
    fc.assert(
      fc.property(jsonContainer, fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const partial = text.slice(0, 1 + (cut % (text.length - 1)));
        expect(parse(partial)).toMatchObject({ ok: false, error: { code: 'TRUNCATED' } });
      }),
      { numRuns: 500 },
    );
  });
});

describe('repairJson', () => {
  test('throws only a ParseError, and its output can be parsed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = tryRepair(text);
        if (json !== undefined) JSON.parse(json);
      }),
      { numRuns: 2000 },
    );
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = tryRepair(text);
        fc.pre(json !== undefined);
        expect(repairJson(json)).toBe(json);
      }),
      { numRuns: 500 },
    );
  });

  test('returns valid JSON unchanged', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(repairJson(text)).toBe(text);
      }),
    );
  });

  test('always repairs broken containers', () => {
    fc.assert(
      fc.property(jsonValue, fc.nat(), (value, cut) => {
        const text = JSON.stringify([value]);
        expect(() => JSON.parse(repairJson(text.slice(0, 1 + (cut % text.length)))) as unknown).not.toThrow();
      }),
    );
  });
});

/** All objects and arrays of a value. */
function listContainers(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(listContainers)];
}

/**
 * Whether `part` can result from truncating the JSON of `whole`: the last string or number shortened, everything else
 * equal.
 */
function isPrefix(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part);
  if (typeof part === 'number') return typeof whole === 'number' && listNumberPrefixes(whole).includes(part);
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null || Array.isArray(part) !== Array.isArray(whole)) return false;
  const original = new Map(Object.entries(whole));
  return Object.entries(part).every(([key, value]) => original.has(key) && isPrefix(value, original.get(key)));
}

/** The numbers that a streamed number can be read as while it arrives. */
function listNumberPrefixes(whole: number): number[] {
  const text = JSON.stringify(whole);
  return Array.from(text, (_, length) => Number(text.slice(0, length + 1).replace(/e[+-]?$/, '')));
}
