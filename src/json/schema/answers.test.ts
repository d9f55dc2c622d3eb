import { describe, expect, test } from 'vitest';
import { parse } from '../parse.js';
import { ANSWERS } from './fixtures/answers.js';
import { NON_JSON_ANSWERS } from './fixtures/non-json-answers.js';
import { MORE_ANSWERS } from './fixtures/more-answers.js';
import { replayChanges } from './fixtures/replay-changes.js';
import { fromJsonSchema } from './from-json-schema.js';

describe.each(Object.entries({ ...ANSWERS, ...NON_JSON_ANSWERS, ...MORE_ANSWERS }))('align: %s', (_kind, answers) => {
  const accepted = answers.filter((answer) => 'value' in answer);
  const refused = answers.filter((answer) => !('value' in answer));

  test.each(accepted)('reads $title', ({ text, schema, value, allowPartial = false }) => {
    const result = parse(text, fromJsonSchema(schema), { align: true, allowPartial });
    expect(result).toMatchObject({ ok: true, value });
    expect(result).toHaveProperty('value', value);
  });

  test.each(refused)('refuses $title', ({ text, schema, allowPartial = false }) => {
    expect(parse(text, fromJsonSchema(schema), { align: true, allowPartial }).ok).toBe(false);
  });
});

describe('readings of input that is not JSON', () => {
  const nonJsonAnswers = Object.values(NON_JSON_ANSWERS).flat();

  test('never replace the value that is found without align', () => {
    for (const { text, schema, value } of nonJsonAnswers) {
      const result = parse(text, fromJsonSchema(schema));
      expect(result.ok ? result.value : value).toEqual(value);
    }
  });

  test('are recorded as changes that lead to the value', () => {
    for (const { text, schema } of nonJsonAnswers) {
      const { value, changes } = fromJsonSchema(schema)['~sluice'].readText?.(text) ?? { value: text, changes: [] };
      expect(replayChanges(text, changes)).toEqual(value);
    }
  });

  test('are refused if the schema requires nothing', () => {
    const open = fromJsonSchema({ type: 'object', properties: { name: { type: 'string' }, note: { type: 'string' } } });
    expect(parse('name: Ann\nnote: fine', open, { align: true }).ok).toBe(false);
  });

  test('are refused if two of them differ and both pass', () => {
    const inner = {
      type: 'object',
      properties: { tags: { type: 'array' }, n: { type: 'integer' } },
      required: ['tags'],
    };
    const either = fromJsonSchema({
      type: 'object',
      properties: { a: inner, n: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
    });
    expect(parse('{"a": {"tags": ["x"}, "n": 1}, "b": 2}', either, { align: true }).ok).toBe(false);
  });

  test.each([
    '{',
    '(',
    '{"',
    "{'",
    '"',
    '"\\"',
    '{"a": x ',
    'name: x, ',
    'name: x\n',
    'tags:\n- a\n',
    '[,\n',
    '<function=a>',
    '<function=a><parameter=b>',
    '<tool_call>a<arg_key>b</arg_key>',
    '<a>',
    '<a></a>',
    '<![CDATA[',
    'f(a=1)',
    'f(a=[',
    'f(a=["\\"',
    '```\n',
    ']\n',
    'a b ',
  ])('are fast for input that repeats %j', (part) => {
    const schema = fromJsonSchema({
      type: 'object',
      properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['name', 'tags'],
    });
    const text = part.repeat(Math.floor(100_000 / part.length));
    for (const whole of [text, `{"tags": [${text}`, `{${text}}`])
      expect(schema['~sluice'].readText?.(whole).changes).toEqual([]);
  });

  test.each([
    ['\\boxed{', ' ', 'x{'],
    ['name:', ' ', 'x\rx'],
    ['tags:\n- ', ' ', 'x\rx'],
    ['{"name": x', '\n', '}'],
    ['[', 'a,', 'a]'],
    ['tags: ', 'x and ', 'x!'],
  ])('are fast for %j and a repeated %j', (before, part, after) => {
    const schema = fromJsonSchema({
      type: 'object',
      properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['name', 'tags'],
    });
    const text = before + part.repeat(Math.floor(90_000 / part.length)) + after;
    expect(schema['~sluice'].readText?.(text).changes).toEqual([]);
  });
});
