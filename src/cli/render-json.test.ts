import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderJson } from './render-json.js';

describe('renderJson', () => {
  it('writes the same value as JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        expect(JSON.parse(renderJson(value, indent))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('indents like JSON.stringify', () => {
    const value = { a: [1, { b: null }], c: {}, d: [], e: 'x' };
    expect(renderJson(value, 2)).toBe(JSON.stringify(value, null, 2));
    expect(renderJson(value)).toBe(JSON.stringify(value));
  });

  it('writes a bigint as a number', () => {
    expect(renderJson({ id: 12345678901234567890n })).toBe('{"id":12345678901234567890}');
  });

  it('omits undefined members', () => {
    expect(renderJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('escapes control characters that a terminal might interpret', () => {
    expect(renderJson('\u001B[31m\u009B31m\u007F')).toBe(String.raw`"\u001b[31m\u009b31m\u007f"`);
  });

  it('writes values deeper than the call stack allows', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) value = [value];
    expect(renderJson(value)).toBe(`${'['.repeat(100_000)}1${']'.repeat(100_000)}`);
  });
});
