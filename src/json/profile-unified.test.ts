import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { isSluiceError } from '../base/index.js';
import { expectError, listRepairKinds, expectSuccess } from './fixtures/outcome.js';
import { type Normalizer, parse, ParseError, parseOrThrow, type ParseResult } from './index.js';

const Verdict = z.object({ verdict: z.enum(['buy', 'hold', 'sell']), confidence: z.number() });
const GOOD = '{"verdict": "hold", "confidence": 0.5}';
const VALUE = { verdict: 'hold', confidence: 0.5 };

function parseUnified(raw: string, normalizers: readonly Normalizer[] = []): ParseResult<unknown> {
  return parse(raw, undefined, { profile: 'unified', normalizers });
}

function lowerCaseVerdict(value: unknown): unknown {
  const fields = value as { readonly verdict: string };
  return { ...fields, verdict: fields.verdict.toLowerCase() };
}

/** Changes its argument, as a careless normalizer does. */
function removeVerdict(value: unknown): unknown {
  const fields = value as Record<string, unknown>;
  const { verdict, confidence } = fields;
  fields['verdict'] = undefined;
  return { verdict, confidence };
}

function createAppender(name: string): Normalizer {
  return (value) => [...(Array.isArray(value) ? (value as unknown[]) : []), name];
}

function throwString(): never {
  // oxlint-disable-next-line typescript/only-throw-error -- third-party code does not always throw an Error
  throw 'just text';
}

describe('profile unified: nine steps in order', () => {
  test.each(['', ' ', '\n\t \r\n', null, undefined])(
    'step 1: empty or blank input is rejected immediately (%j)',
    (raw) => {
      expect(expectError(parse(raw, Verdict, { profile: 'unified' })).code).toBe('EMPTY_INPUT');
    },
  );

  test('step 2: all think blocks are stripped, even across line breaks', () => {
    const raw = `<think>first\n{"verdict": "buy"}</think>${GOOD}<think>was that right?</think>`;
    expect(expectSuccess(parse(raw, Verdict, { profile: 'unified' })).value).toEqual(VALUE);
  });

  test('step 2: the second of two think blocks is stripped too', () => {
    const raw = `<think>first</think>\n<think>{"verdict": "buy"}</think>${GOOD}`;
    expect(expectSuccess(parse(raw, Verdict, { profile: 'unified' })).value).toEqual(VALUE);
  });

  test('step 2 before step 3: a think block inside the fence is stripped', () => {
    const raw = `\`\`\`json\n<think>{"verdict": "buy"}</think>${GOOD}\n\`\`\``;
    expect(expectSuccess(parse(raw, Verdict, { profile: 'unified' })).value).toEqual(VALUE);
  });

  test("step 2 before step 3: a fence inside the thinking is not the answer's fence", () => {
    const raw = `<think>\`\`\`json\n{"verdict": "buy"}\n\`\`\`</think>\n\`\`\`json\n${GOOD}\n\`\`\``;
    expect(expectSuccess(parse(raw, Verdict, { profile: 'unified' })).value).toEqual(VALUE);
  });

  test.each([
    ['with the language json', `\`\`\`json\n${GOOD}\n\`\`\``],
    ['with the language after a space', `\`\`\` json\n${GOOD}\n\`\`\``],
    ['without a language', `\`\`\`\n${GOOD}\n\`\`\``],
    ['with a language in capitals', `\`\`\`JSON\n${GOOD}\n\`\`\``],
    ['on one line', `\`\`\`json ${GOOD}\`\`\``],
    ['with text around it', `Here:\n\`\`\`json\n${GOOD}\n\`\`\`\nAnything else?`],
  ])('step 3: the Markdown fence is stripped, %s', (_, raw) => {
    const result = expectSuccess(parse(raw, Verdict, { profile: 'unified' }));
    expect(result).toMatchObject({ value: VALUE, candidate: { finder: 'fence' } });
  });

  test('step 3: a fence that is never closed hides nothing', () => {
    const result = parse(`Here:\n\`\`\`json\n${GOOD}\n`, Verdict, { profile: 'unified' });
    expect(expectSuccess(result).value).toEqual(VALUE);
  });

  test('step 3: reads from the first fence to the last, so a fence inside a string does not cut the answer', () => {
    const raw = '```json\n{"code": "```js\\nf()\\n```", "n": 1}\n```';
    expect(expectSuccess(parseUnified(raw)).value).toEqual({ code: '```js\nf()\n```', n: 1 });
  });

  test.each([
    ['a line feed', '{"a": "one\ntwo"}', 'one\ntwo'],
    ['more than one line feed', '{"a": "one\ntwo\n\nthree"}', 'one\ntwo\n\nthree'],
    ['a carriage return', '{"a": "one\r\ntwo"}', 'one\r\ntwo'],
    ['a tab', '{"a": "one\ttwo"}', 'one\ttwo'],
    ['a tab of a list item', '{"a": ["one\ttwo"]}', ['one\ttwo']],
    ['all of them in one string', '{"a": "\tone\r\ntwo\n"}', '\tone\r\ntwo\n'],
  ])('step 4: %s inside a string is read as its escape', (_, raw, text) => {
    const result = parseUnified(raw);
    expect(expectSuccess(result).value).toEqual({ a: text });
    expect(listRepairKinds(result)).toContain('control_character');
  });

  test('step 4: control characters between tokens are unchanged', () => {
    expect(expectSuccess(parseUnified('{\r\n\t"a":\t1\r\n}'))).toMatchObject({ value: { a: 1 }, repairLevel: 'none' });
  });

  test('step 5: the value is what JSON.parse returns', () => {
    expect(expectSuccess(parse(GOOD, Verdict, { profile: 'unified' }))).toMatchObject({
      value: VALUE,
      repairLevel: 'none',
      repairs: [],
    });
  });

  test('step 5: empty values are kept as JSON.parse returns them', () => {
    const raw = '{"text": "", "list": [], "object": {}, "none": null, "items": [""]}';
    expect(expectSuccess(parseUnified(raw)).value).toEqual(JSON.parse(raw));
  });

  test('step 5 comes first: a think tag inside a string of valid JSON is content', () => {
    const raw = '{"note": "<think>x</think>", "fence": "```"}';
    expect(expectSuccess(parseUnified(raw)).value).toEqual({ note: '<think>x</think>', fence: '```' });
  });

  test('step 6: otherwise reads from the first brace to its closing brace', () => {
    const raw = `The verdict is ${GOOD} as explained {above}.`;
    expect(expectSuccess(parse(raw, Verdict, { profile: 'unified' })).value).toEqual(VALUE);
  });

  test('step 6: only the first brace counts: a later object is not tried', () => {
    expect(expectError(parseUnified('As {explained} above: {"a": 1}')).code).toMatch(/SYNTAX|NO_JSON/);
  });

  test('step 6: searches only inside the fence', () => {
    expect(parseUnified('{"a": 1} is wrong.\n```json\nno object\n```\n{"a": 2}').ok).toBe(false);
  });

  test('step 6: braces inside strings do not count', () => {
    expect(expectSuccess(parseUnified('So: {"a": "} {", "b": {"c": 1}} ok')).value).toEqual({ a: '} {', b: { c: 1 } });
  });

  test('steps 4 and 6 together: control characters are repaired in the extracted object too', () => {
    expect(expectSuccess(parseUnified('So: {"a": "x\ny"} ok')).value).toEqual({ a: 'x\ny' });
  });

  test.each(['[1, 2]', '[]', '"text"', '42', 'true', 'null', '```json\n[{"a": 1}]\n```'])(
    'step 7: the root must be an object: %s',
    (raw) => {
      expect(expectError(parseUnified(raw)).code).toBe('ROOT_NOT_OBJECT');
    },
  );

  test('step 7 before step 8: normalizers never see a root that is not an object', () => {
    const normalizer = vi.fn<Normalizer>((value) => value);
    for (const raw of ['[1]', '"text"', '42', 'null']) parseUnified(raw, [normalizer]);
    expect(normalizer).not.toHaveBeenCalled();
  });

  test('step 8 before step 9: the schema receives the result of the normalizers', () => {
    const result = parse('{"verdict": "HOLD", "confidence": 0.5}', Verdict, {
      profile: 'unified',
      normalizers: [lowerCaseVerdict],
    });
    expect(expectSuccess(result).value).toEqual(VALUE);
  });

  test('step 8 before step 9: a value that a normalizer makes invalid is rejected', () => {
    const normalizers: Normalizer[] = [(value) => ({ ...(value as object), verdict: 'maybe' })];
    expect(expectError(parse(GOOD, Verdict, { profile: 'unified', normalizers })).code).toBe('SCHEMA_MISMATCH');
  });

  test('step 9: the schema validates and reports the path of each issue', () => {
    const error = expectError(parse('{"verdict": "maybe", "confidence": "high"}', Verdict, { profile: 'unified' }));
    expect(error.code).toBe('SCHEMA_MISMATCH');
    expect(error.issues?.map((issue) => issue.path)).toEqual([['verdict'], ['confidence']]);
  });

  test('the first successful read is final: a later object is not tried if the schema rejects the first', () => {
    const raw = `First {"verdict": "maybe"} then ${GOOD}`;
    expect(expectError(parse(raw, Verdict, { profile: 'unified' })).code).toBe('SCHEMA_MISMATCH');
  });

  test.each(["{'verdict': 'hold'}", '{"verdict": "hold",}', '{verdict: "hold"}', '// note\n{"a": 1'])(
    'no other repair is made: %s',
    (raw) => {
      expect(expectError(parseUnified(raw)).code).toMatch(/SYNTAX|TRUNCATED|NO_JSON/);
    },
  );

  test('step 6 handles an unclosed think block', () => {
    expect(expectSuccess(parse(`<think>hm ${GOOD}`, Verdict, { profile: 'unified' })).value).toEqual(VALUE);
  });

  test('finishes quickly on many unclosed think blocks after a closed one', () => {
    const text = `<think>x</think>${'<think>'.repeat(200_000)}`;
    expect(expectError(parse(text, undefined, { profile: 'unified' })).code).toBe('NO_JSON');
  });

  test('prose is NO_JSON', () => {
    expect(expectError(parseUnified('抱歉，我无法回答这个问题。')).code).toBe('NO_JSON');
  });
});

describe('profile unified: normalizers', () => {
  test('run in the given order, each on the previous result', () => {
    const result = parse('{"a": 1}', undefined, {
      normalizers: [createAppender('first'), createAppender('second'), createAppender('third')],
    });
    expect(expectSuccess(result).value).toEqual(['first', 'second', 'third']);
  });

  test('are not run on input without a value', () => {
    const normalizer = vi.fn<Normalizer>((value) => value);
    parse('no JSON here', undefined, { normalizers: [normalizer] });
    expect(normalizer).not.toHaveBeenCalled();
  });

  test('receive the parsed value itself', () => {
    const normalizer = vi.fn<Normalizer>((value) => value);
    parse('```json\n{"a": [1, {"b": null}]}\n```', undefined, { normalizers: [normalizer] });
    expect(normalizer).toHaveBeenCalledWith({ a: [1, { b: null }] });
  });

  test('replace the value: a field that they leave out is gone', () => {
    const rename: Normalizer = (value) => ({ verdict: (value as { readonly vote: unknown }).vote });
    expect(expectSuccess(parseUnified('{"vote": "hold"}', [rename])).value).toEqual({ verdict: 'hold' });
  });

  test('a normalizer that throws causes NORMALIZER_FAILED with the parsed value, unchanged, and the cause', () => {
    const bug = new TypeError('cannot read verdict');
    const broken: Normalizer = (value) => {
      removeVerdict(value);
      throw bug;
    };
    const parsed = { verdict: 'buy', a: [1] };
    const rename: Normalizer = (value) => Object.assign(value as object, { renamed: true });
    const error = expectError(
      parse(JSON.stringify(parsed), undefined, { profile: 'unified', normalizers: [rename, broken] }),
    );
    expect(error.code).toBe('NORMALIZER_FAILED');
    expect(error.value).toEqual(parsed);
    expect(error.cause).toBe(bug);
    expect(error.message).toContain('cannot read verdict');
  });

  test('reports a normalizer that throws something other than an error', () => {
    const error = expectError(parse('{"a": 1}', undefined, { normalizers: [throwString] }));
    expect(error).toMatchObject({ code: 'NORMALIZER_FAILED', value: { a: 1 }, cause: 'just text' });
  });

  test('a normalizer that mutates the value does not affect the next candidate', () => {
    const raw = JSON.stringify({ response: GOOD });
    expect(expectSuccess(parse(raw, Verdict, { normalizers: [removeVerdict] })).value).toEqual(VALUE);
  });
});

describe('profile unified: functions and errors', () => {
  class ResearchError extends Error {
    override readonly name = 'ResearchError';
  }

  test('parseOrThrow returns the validated value', () => {
    expect(parseOrThrow(`<think>x</think>${GOOD}`, Verdict, { profile: 'unified' })).toEqual(VALUE);
  });

  test.each([
    ['a schema', GOOD, []],
    ['a schema and a normalizer', '{"verdict": "HOLD", "confidence": 0.5}', [lowerCaseVerdict]],
  ])('%s are all that one of several agents needs', (_, raw, normalizers) => {
    expect(parseOrThrow(raw, Verdict, { profile: 'unified', normalizers })).toEqual(VALUE);
    expect(() => parseOrThrow('{"verdict": "SHORT"}', Verdict, { profile: 'unified', normalizers })).toThrow(
      ParseError,
    );
  });

  test('parseOrThrow returns the value as the schema transforms it', () => {
    const Percent = z.object({
      confidence: z.number().transform((share) => share * 100),
      verdict: z.string().optional(),
    });
    const value = parseOrThrow('{"confidence": 0.5, "note": "x"}', Percent, { profile: 'unified' });
    expect(value).toEqual({ confidence: 50 });
  });

  test.each([
    ['prose', 'nothing', {}],
    ['empty input', '', {}],
    ['input that is too long', GOOD, { limits: { bytes: 9 } }],
    ['a schema mismatch', '{"verdict": 1}', {}],
  ])('parseOrThrow throws a ParseError, which is a SluiceError: %s', (_, raw, options) => {
    let thrown: unknown;
    try {
      parseOrThrow(raw, Verdict, options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ParseError);
    expect(isSluiceError(thrown)).toBe(true);
  });

  test('a caller can wrap the error in its own in three lines', () => {
    const readVerdict = (raw: string): z.infer<typeof Verdict> => {
      try {
        return parseOrThrow(raw, Verdict, { profile: 'unified', label: 'judge/verdict' });
      } catch (error) {
        throw error instanceof ParseError ? new ResearchError(error.message, { cause: error }) : error;
      }
    };
    expect(readVerdict(GOOD)).toEqual(VALUE);
    expect(() => readVerdict('{"verdict": 1}')).toThrow(ResearchError);
    expect(() => readVerdict('{"verdict": 1}')).toThrow(/^judge\/verdict: /);
  });

  test('every message contains the label', () => {
    for (const raw of ['', 'prose', '[1]', '{"verdict": 1}', '{"a": ']) {
      expect(expectError(parse(raw, Verdict, { profile: 'unified', label: 'research/macro' })).message).toMatch(
        /^research\/macro: /,
      );
    }
    const options = { profile: 'tagged', label: 'research/macro' } as const;
    expect(() => parseOrThrow('prose', Verdict, options)).toThrow(/^research\/macro: /);
  });
});
