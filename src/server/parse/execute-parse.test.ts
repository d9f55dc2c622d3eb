import { describe, expect, it } from 'vitest';
import { toParseOutput } from '../api/index.js';
import { parse } from '../../json/index.js';
import { executeParse } from './execute-parse.js';

const compile = () => {
  throw new Error('No schema was sent.');
};

describe('a parse response', () => {
  it.each([
    '{"a":[1,"b"]}',
    ' {"a":1}\n',
    '"x"',
    '12345678901234567890',
    '{"a":1,}',
    'Here: {"a":1}',
    '\uFEFF{"a":1}',
    '"\u{1F600} \uD83D"',
    'none',
  ])('has the same fields as the output of `sluice parse`, in the same order: %s', (text) => {
    const output: unknown = JSON.parse(Buffer.from(executeParse({ text }, compile).json).toString());
    const expected: unknown = JSON.parse(JSON.stringify(toParseOutput(parse(text))));
    expect(output).toEqual(expected);
    expect(Object.keys(output as object)).toEqual(Object.keys(expected as object));
  });
});
