import * as v from 'valibot';
import { type } from 'arktype';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectError, listRepairKinds, expectSuccess, listWarnings } from './fixtures/outcome.js';
import { withFields, withFieldsAsync } from './fixtures/schemas.js';
import {
  type FinderName,
  parse,
  PARSE_ERROR_CODES,
  parseAsync,
  type ParseErrorCode,
  type ParseOptions,
  parseOrThrow,
} from './index.js';

const A = withFields('a');

describe('the finder order', () => {
  /** One row per finder, in the order they are tried. */
  const whole = '{"a": 0}';
  const tag = '<json>{"a": 1}</json>';
  const ndjson = '{"a": 2}\n{"b": 2}';
  const envelope = '{"response": "{\\"a\\": 3}"}';
  const fence = '```json\n{"a": 4}\n```';
  const prose = 'so: {"a": 5}.';

  test.each<[FinderName, string]>([
    ['whole', whole],
    ['tag', `${prose}\n${tag}`],
    ['tag', `${fence}\n${tag}`],
    ['ndjson', ndjson],
    ['envelope', envelope],
    ['fence', `I saw {"a": 5} before.\n${fence}`],
    ['prose', prose],
  ])('%s wins in %j', (finder, text) => {
    expect(expectSuccess(parse(text, A)).candidate.finder).toBe(finder);
  });

  test('uses the last tag that matches the schema', () => {
    expect(expectSuccess(parse('<json>{"a": 1}</json><json>{"a": 2}</json><json>{"b": 3}</json>', A)).value).toEqual({
      a: 2,
    });
  });

  test('uses the last NDJSON line that matches the schema', () => {
    expect(expectSuccess(parse('{"a": 1}\n{"a": 2}\n{"b": 3}\n', A)).value).toEqual({ a: 2 });
  });

  test('uses the first fence that matches', () => {
    expect(expectSuccess(parse('```\n{"b": 1}\n```\n```\n{"a": 2}\n```', A)).value).toEqual({ a: 2 });
  });

  test('uses the first matching object in prose', () => {
    expect(expectSuccess(parse('x {"b": 1} y {"a": 2} z', A)).value).toEqual({ a: 2 });
  });

  test('prefers objects in prose to arrays, and non-empty values to empty ones', () => {
    expect(expectSuccess(parse('see [1], {} and then {"x": 1}')).value).toEqual({ x: 1 });
    expect(expectSuccess(parse('see {} and then ["a"]')).value).toEqual(['a']);
  });

  test('without a schema an envelope that parses is itself the value', () => {
    expect(expectSuccess(parse(envelope))).toMatchObject({ value: { response: '{"a": 3}' }, repairLevel: 'none' });
  });

  test('a scalar is an answer if it is the whole input', () => {
    expect(expectSuccess(parse('42')).value).toBe(42);
    expect(expectSuccess(parse(' "yes" ')).value).toBe('yes');
    expect(expectSuccess(parse('null')).value).toBeNull();
  });
});

describe("the candidate has the value's offsets", () => {
  test.each<[FinderName, string, string]>([
    ['whole', '{"a": 1}', '{"a": 1}'],
    ['tag', 'x <json>{"a": 1}</json> y', '{"a": 1}'],
    ['ndjson', '{"b": 1}\n{"a": 1}', '{"a": 1}'],
    ['fence', 'x\n```json\n{"a": 1}\n```\ny', '{"a": 1}'],
    ['prose', 'x {"a": 1} y', '{"a": 1}'],
    ['envelope', '{"text": "{\\"a\\": 1}"}', '{"text": "{\\"a\\": 1}"}'],
  ])('%s: start and end are offsets into the input', (finder, text, span) => {
    const { candidate } = expectSuccess(parse(text, A));
    expect(candidate.finder).toBe(finder);
    expect(text.slice(candidate.start, candidate.end)).toBe(span);
  });

  test('repair offsets refer to the input, wherever the value is', () => {
    const text = 'Thinking about it… here: {"a": True, "b": [1,]} done';
    const { repairs } = expectSuccess(parse(text));
    expect(repairs.map(({ kind, offset }) => [kind, text.slice(offset, offset + 4)])).toEqual([
      ['extracted', '{"a"'],
      ['literal', 'True'],
      ['extra_comma', ',]} '],
    ]);
  });
});

describe('AMBIGUOUS_CANDIDATES', () => {
  test('warns, with the offset, if another candidate in prose passes with a different value', () => {
    const text = 'Answer: {"a": 1}, not {"a": 2}.';
    const result = parse(text, A);
    expect(expectSuccess(result).value).toEqual({ a: 1 });
    expect(result.warnings.at(-1)).toMatchObject({ code: 'AMBIGUOUS_CANDIDATES', offset: text.lastIndexOf('{') });
  });

  test.each([
    ['two fences', 'Draft:\n```\n{"a": 1}\n```\nFinal:\n```\n{"a": 2}\n```'],
    ['a fence and an object in prose', '```\n{"a": 1}\n```\nor rather {"a": 2}'],
    ['without a schema', 'Not {"x": 1} but {"x": 2}.'],
  ])('%s', (_, text) => {
    expect(listWarnings(parse(text, text.includes('x') ? undefined : A))).toContain('AMBIGUOUS_CANDIDATES');
  });

  test.each([
    ['the same value again', 'It is {"a": 1}. I repeat: {"a":1}'],
    ['another value that the schema rejects', 'It is {"a": 1}, not {"b": 1}.'],
    ['a tag names the answer', 'Perhaps {"a": 2}. <json>{"a": 1}</json>'],
    ['a part of the answer', 'It is {"a": {"a": 1}}.'],
  ])('no warning: %s', (_, text) => {
    expect(listWarnings(parse(text, A))).not.toContain('AMBIGUOUS_CANDIDATES');
  });

  test.each(['generic', 'unified', 'tagged'] as const)('warns in profile %s too', (profile) => {
    const text = 'One <json>{"a": 1}</json> and another <json>{"a": 2}</json>.';
    const result = parse(text, A, { profile });
    expect(expectSuccess(result).value).toEqual({ a: profile === 'tagged' ? 2 : 1 });
    expect(listWarnings(result)).toContain('AMBIGUOUS_CANDIDATES');
  });

  test('at most 32 more candidates are checked', () => {
    const refused = ' {"b": 0}';
    const first = { ambiguous: 'first' } as const;
    expect(listWarnings(parse(`{"a": 1}${refused.repeat(31)} {"a": 2} end`, A, first))).toContain(
      'AMBIGUOUS_CANDIDATES',
    );
    expect(listWarnings(parse(`{"a": 1}${refused.repeat(33)} {"a": 2} end`, A, first))).not.toContain(
      'AMBIGUOUS_CANDIDATES',
    );
  });
});

describe('repairLevel, repairs and warnings', () => {
  test.each([
    ['valid JSON', '{"a": 1}', 'none', [], []],
    ['valid JSON cut out', 'x {"a": 1}', 'deterministic_generic', ['extracted'], ['OUTPUT_REPAIRED_GENERIC']],
    ['broken JSON', '{"a": 1,}', 'deterministic_generic', ['extra_comma'], ['OUTPUT_REPAIRED_GENERIC']],
    ['both', 'x {"a": 1,}', 'deterministic_generic', ['extracted', 'extra_comma'], ['OUTPUT_REPAIRED_GENERIC']],
  ])('%s', (_, text, repairLevel, kinds, warnings) => {
    const result = parse(text);
    expect(expectSuccess(result).repairLevel).toBe(repairLevel);
    expect(listRepairKinds(result)).toEqual(kinds);
    expect(listWarnings(result)).toEqual(warnings);
  });

  test.each(['default', 'tagged'] as const)(
    'profile %s: a single clean, closed <json> block needs no repair',
    (profile) => {
      for (const text of [
        '<json>{"a": 1}</json>',
        'x <json>{"a": 1}</json>',
        'The answer in <json> tags, {as asked}:\n\n<json>\n{"a": 1}\n</json>\nAnything else?',
        '<json>{"a": 1}</json>\nI put it between `<json>` and `</json>`.',
        'First ```json\n{"a": "no"}\n``` then <json>{"a": 1}</json>',
      ]) {
        const { value, repairLevel, repairs, warnings, candidate } = expectSuccess(parse(text, A, { profile }));
        expect({ text, value, repairLevel, repairs, warnings, finder: candidate.finder }).toEqual({
          text,
          value: { a: 1 },
          repairLevel: 'none',
          repairs: [],
          warnings: [],
          finder: 'tag',
        });
      }
    },
  );

  test.each([
    ['not closed', '<json>{"a": 1}', ['extracted']],
    ['not clean', 'x <json>{"a": 1,}</json>', ['extra_comma']],
    ['with words in it', '<json>Here: {"a": 1}</json>', ['extracted']],
    ['with a fence in it', '<json>```json\n{"a": 1}\n```</json>', ['markdown', 'markdown']],
    ['one of two', '<json>{"a": 2}</json> or <json>{"a": 1}</json>', ['extracted']],
    ['one of two equal blocks', '<json>{"a": 1}</json> that is <json>{"a": 1}</json>', ['extracted']],
    ['in an envelope', '{"response": "<json>{\\"a\\": 1}</json>"}', ['extracted']],
  ])('a <json> block %s is deterministic_generic', (_, text, kinds) => {
    const result = parse(text, A);
    expect(expectSuccess(result)).toMatchObject({ value: { a: 1 }, repairLevel: 'deterministic_generic' });
    expect(listRepairKinds(result)).toEqual(kinds);
    expect(listWarnings(result)).toContain('OUTPUT_REPAIRED_GENERIC');
  });

  test('every repair has a message and an offset', () => {
    for (const repair of expectSuccess(parse("x {a: 'b', // c\n d: None,}")).repairs) {
      expect(repair.message).not.toBe('');
      expect(repair.offset).toBeGreaterThanOrEqual(0);
    }
  });

  test('a failure has repair level none, at every stage', () => {
    expect(parse('x {"b": 1,}', A)).toMatchObject({ status: 'failed', repairLevel: 'none', warnings: [] });
  });
});

describe('reports the error of the furthest stage', () => {
  const broken: ParseOptions['normalizers'] = [
    () => {
      throw new Error('bug');
    },
  ];

  const failingInputs: readonly [ParseErrorCode, string, ParseOptions][] = [
    ['EMPTY_INPUT', '', {}],
    ['AMBIGUOUS', 'Either {"a": 1} or {"a": 2}', {}],
    ['EMPTY_INPUT', ' \n\t', {}],
    ['NO_JSON', 'Nothing to see here.', {}],
    ['SYNTAX', '{"a": 1 + 1}', {}],
    ['SYNTAX', 'x {"a": f(1)}', {}],
    ['TRUNCATED', '{"a": 1', {}],
    ['TRUNCATED', 'bad {"a": f(1)} then {"a": [1', {}],
    ['ROOT_NOT_OBJECT', '[1]', { profile: 'unified' }],
    ['SCHEMA_MISMATCH', '{"b": 1}', {}],
    ['SCHEMA_MISMATCH', 'whole {"b": 1} cut <json>{"a": 1', {}],
    ['SCHEMA_MISMATCH', '{"b": 1} and {"a": ', {}],
    ['NORMALIZER_FAILED', '{"a": 1}', { normalizers: broken }],
    ['LIMIT_EXCEEDED', '{"a": [[[1]]]}', { limits: { depth: 3 } }],
    ['LIMIT_EXCEEDED', 'x {"b": 1} y {"a": [[[1]]]}', { limits: { depth: 3 } }],
  ];

  test.each(failingInputs)('%s: %j', (code, text, options) => {
    expect(expectError(parse(text, A, options)).code).toBe(code);
  });

  test('records every candidate as an attempt with finder, offsets, code and reason', () => {
    const text = 'x {"b": 1} y {"c": f(x)} z';
    const { attempts } = expectError(parse(text, A));
    expect(attempts.map(({ candidate, code }) => [candidate.finder, candidate.start, code])).toEqual([
      ['prose', 2, 'SCHEMA_MISMATCH'],
      ['prose', 13, 'SYNTAX'],
    ]);
    for (const { message } of attempts) expect(message).not.toBe('');
  });

  test('result.attempts and error.attempts are the same', () => {
    const result = parse('x {"b": 1} y', A);
    expect(result).toMatchObject({ attempts: expectError(result).attempts });
  });

  test('the message contains the label, the reason and the number of candidates', () => {
    const { message } = expectError(parse('x {"b": 1} y {"c": 2} z', A, { label: 'research/macro' }));
    expect(message).toMatch(/^research\/macro: /);
    expect(message).toContain('a: is missing');
    expect(message).toContain('Candidates tried: 2.');
  });

  test.each([
    ['a call', '{"a": ¦f(1)}'],
    ['an operator', '{"a": ¦x && y}'],
    ['a string in code', '{"n": 1, "a": ¦"x" or "y"}'],
    ['an invalid key', '{"n": 1, ¦*a*: 1}'],
    ['an extra colon', '{"a":¦: 1}'],
  ])('a syntax error reports its position: %s', (_, marked) => {
    expect(expectError(parse(marked.replace('¦', ''))).message).toContain(`(offset ${marked.indexOf('¦')})`);
  });

  test('valid JSON that the schema rejects counts as one attempt', () => {
    expect(expectError(parse('{"b": 1}', A)).attempts).toHaveLength(1);
    expect(expectError(parse('"{\\"b\\": 1}"', A)).attempts).toHaveLength(2);
  });

  test('reports the offset of the envelope for errors inside its content', () => {
    const text = `x ${JSON.stringify({ response: '{"a": f(1)}' })}`;
    const [, content] = expectError(parse(text, withFields('b'))).attempts;
    expect(content).toMatchObject({ candidate: { finder: 'envelope', start: 2, end: text.length } });
    expect(content?.message).toContain('(offset 2)');
  });

  test('no message contains the whole input', () => {
    const secret = 'S3CRET'.repeat(100);
    for (const text of [
      secret,
      `{"x": "${secret}"}`,
      `{"x": "${secret}`,
      `{"${secret}": f(1)}`,
      `{"x": ${secret}(1)}`,
      `"${secret}" is "it"`,
    ]) {
      const error = expectError(parse(text, A));
      expect(error.message).not.toContain(secret);
      for (const { message } of error.attempts) expect(message).not.toContain(secret);
    }
  });

  test('every error code can be produced by parse, except REFUSED, which only a stream reports', () => {
    const codes = failingInputs.map(([code]) => code);
    expect(new Set([...codes, 'REFUSED'])).toEqual(new Set(PARSE_ERROR_CODES));
  });
});

describe('schemas', () => {
  const text = 'Result: {"file": "a.ts", "line": 3}';
  const value = { file: 'a.ts', line: 3 };

  test.each([
    ['zod', z.object({ file: z.string(), line: z.number().min(1) })],
    ['valibot', v.object({ file: v.string(), line: v.pipe(v.number(), v.minValue(1)) })],
    ['arktype', type({ file: 'string', line: 'number >= 1' })],
  ])('%s: passes, fails with the path of each issue', (_, schema) => {
    expect(expectSuccess(parse(text, schema)).value).toEqual(value);
    const error = expectError(parse('{"file": "a.ts", "line": 0}', schema));
    expect(error.code).toBe('SCHEMA_MISMATCH');
    expect(error.issues?.map((issue) => issue.path)).toEqual([['line']]);
    expect(error.value).toEqual({ file: 'a.ts', line: 0 });
  });

  test.each([
    ['zod', z.object({ list: z.array(z.object({ id: z.number() })) })],
    ['valibot', v.object({ list: v.array(v.object({ id: v.number() })) })],
    ['arktype', type({ list: type({ id: 'number' }).array() })],
  ])('%s: paths are plain keys and indexes', (_, schema) => {
    const { issues } = expectError(parse('{"list": [{"id": 1}, {"id": "x"}]}', schema));
    expect(issues?.[0]?.path).toEqual(['list', 1, 'id']);
  });

  test("returns the schema's output, with its defaults and transforms applied", () => {
    const schema = z.object({ a: z.string().transform(Number), b: z.number().default(5) });
    expect(expectSuccess(parse('{"a": "7"}', schema)).value).toEqual({ a: 7, b: 5 });
  });

  test('parse and parseOrThrow reject an asynchronous schema as misuse', () => {
    for (const misuse of [parse, parseOrThrow]) {
      expect(() => misuse('{"a": 1}', withFieldsAsync('a'))).toThrow(expect.objectContaining({ code: 'ASYNC_SCHEMA' }));
    }
  });

  test('parseAsync returns the same result as parse for every schema', async () => {
    for (const raw of ['{"a": 1}', 'x {"b": 1} y {"a": 2} z {"a": 3}', '{"b": 1}', 'prose', '{"a": ', '']) {
      expect(await parseAsync(raw, withFieldsAsync('a'))).toEqual(parse(raw, A));
      expect(await parseAsync(raw)).toEqual(parse(raw));
    }
  });

  test('parseAsync accepts the options of parse', async () => {
    expect(expectSuccess(await parseAsync('{"a": [1', withFieldsAsync('a'), { allowPartial: true })).value).toEqual({
      a: [1],
    });
    await expect(parseAsync('{"a": 1}', withFieldsAsync('a'), { align: true })).rejects.toMatchObject({
      code: 'ALIGN_UNSUPPORTED',
    });
  });

  test('the summary in the message shows the first issues and counts the rest', () => {
    const schema = withFields('a', 'b', 'c', 'd', 'e', 'f', 'g');
    const { message, issues } = expectError(parse('{}', schema));
    expect(issues).toHaveLength(7);
    expect(message).toContain('a: is missing');
    expect(message).toContain('and 2 more');
  });
});

test('lists a thousand repairs and counts the rest', () => {
  const result = parse(`[${'1,,'.repeat(5000)}1]`);
  expect(result.ok && result.repairs).toHaveLength(1000);
  expect(result.ok && result.repairs.at(-1)).toMatchObject({ kind: 'extra_comma', omitted: 4000 });
  expect(result.ok && result.repairs.filter(({ omitted }) => omitted !== undefined)).toHaveLength(1);
});
