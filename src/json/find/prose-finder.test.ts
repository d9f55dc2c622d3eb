import { describe, expect, test } from 'vitest';
import { policies } from '../fixtures/policies.js';
import { readValue } from '../reader/read-value.js';
import { findProseValues, type ReadOpen } from './prose-finder.js';

const policy = { ...policies.open, repairs: policies.strict.repairs };

function found(text: string, most = 100): string[] {
  const read: ReadOpen = (start, end) => readValue(text.slice(start, end), start, policy);
  return findProseValues(text, [{ start: 0, end: text.length }], most, read).map(({ start, end }) =>
    text.slice(start, end),
  );
}

describe('findProseValues', () => {
  test('finds values in running text, first first', () => {
    expect(found('a {"a": 1} b {"b": 2} c')).toEqual(['{"a": 1}', '{"b": 2}']);
  });

  test('objects come before arrays, filled values before empty ones', () => {
    expect(found('[1] {} [] {"a": 1} [2]')).toEqual(['{"a": 1}', '[1]', '[2]', '{}', '[]']);
  });

  test('what stands inside a value is not looked at again', () => {
    expect(found('x {"a": {"b": 1}} y')).toEqual(['{"a": {"b": 1}}']);
  });

  test('placeholders are passed over', () => {
    expect(found('Dear {name}, {"a": 1}')).toEqual(['{"a": 1}']);
  });

  test('a value that cannot be read is reported as a whole, so that its parts do not pass for it', () => {
    expect(found('x {"a": f(1), "b": {"c": 2}} y {"d": 3}')).toEqual(['{"a": f(1), "b": {"c": 2}}', '{"d": 3}']);
  });

  test('a value that is cut takes the rest of the text', () => {
    expect(found('x {"a": [1, {"b": 2}')).toEqual(['{"a": [1, {"b": 2}']);
  });

  test('an object in a set of braces is found', () => {
    expect(found('{{"a": 1}}')).toEqual(['{"a": 1}']);
  });

  test('finds no more values than asked for', () => {
    expect(found('{"a": 1} {"b": 2} {"c": 3}', 2)).toEqual(['{"a": 1}', '{"b": 2}']);
  });

  test.each(['{', '[', '{x} ', '[x] ', '{"a":', '{"a": f(1) ', '{ "'])('any number of %j comes to an end', (piece) => {
    expect(found(piece.repeat(50_000)).length).toBeLessThanOrEqual(100);
  });

  test('an object behind a megabyte of noise is found', () => {
    const noise = 'if (a[i] < 10) { return "x"; } // {note}\n'.repeat(25_000);
    expect(found(`${noise}{"a": 1}`)).toContain('{"a": 1}');
  });
});
