import { describe, expect, test } from 'vitest';
import { fromJsonSchema } from './index.js';
import { parse } from '../parse.js';
import type { AlignableSchema } from '../schema.js';

const verdict = fromJsonSchema({ enum: ['BUY', 'HOLD', 'SELL'] });

/** Returns the value, or the error code. */
function readAnswer(text: string, schema: AlignableSchema, align = true): unknown {
  const result = parse(text, schema, { align });
  return result.ok ? result.value : result.status === 'failed' && result.error.code;
}

describe('align: an answer in plain words', () => {
  test.each([
    ['HOLD', 'HOLD'],
    ['hold', 'HOLD'],
    ['My verdict is SELL.', 'SELL'],
    ['<think>BUY or SELL?</think>\nBUY', 'BUY'],
  ])('%s is %s if the schema expects one of its words', (text, value) => {
    expect(readAnswer(text, verdict)).toBe(value);
  });

  test.each(['BUY or SELL', 'not a BUY', 'I cannot say.', '<think>BUY</think>'])('%s is not an answer', (text) => {
    expect(readAnswer(text, verdict)).toBe('NO_JSON');
  });

  test('the input is the answer if the schema accepts any string', () => {
    expect(readAnswer('Hello there.', fromJsonSchema({ type: 'string' }))).toBe('Hello there.');
  });

  test('invalid JSON is not the answer', () => {
    expect(readAnswer('{"a": oops(}', fromJsonSchema({ type: 'string' }))).toBe('SYNTAX');
  });

  test('a refusal is not a list', () => {
    const list = fromJsonSchema({ type: 'array', items: { type: 'string' } });
    expect(readAnswer('I am sorry, but I cannot do that.', list)).toBe('NO_JSON');
  });

  test.each([{ const: 'TWO' }, { type: 'string', const: 'TWO' }])('a constant is an enum of one: %j', (schema) => {
    expect(readAnswer('The answer is TWO', fromJsonSchema(schema))).toBe('TWO');
    expect(readAnswer('The answer is THREE', fromJsonSchema(schema))).toBe('NO_JSON');
  });

  test('words are not JSON without align', () => {
    expect(readAnswer('HOLD', verdict, false)).toBe('NO_JSON');
  });
});
