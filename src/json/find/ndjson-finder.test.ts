import { describe, expect, test } from 'vitest';
import { findNdjsonLines } from './ndjson-finder.js';

function lines(text: string, most = 100): string[] {
  return findNdjsonLines(text, [{ start: 0, end: text.length }], most).map(({ start, end }) => text.slice(start, end));
}

describe('findNdjsonLines', () => {
  test('gives the lines that hold a value, last first', () => {
    expect(lines('{"a": 1}\n[2]\n{"c": 3}\n')).toEqual(['{"c": 3}', '[2]', '{"a": 1}']);
  });

  test('log lines and blank lines between them are passed over', () => {
    expect(lines('started\n{"a": 1}\n\nworking…\n{"b": 2}\ndone')).toEqual(['{"b": 2}', '{"a": 1}']);
  });

  test('indentation and carriage returns do no harm', () => {
    expect(lines('  {"a": 1}  \r\n\t{"b": 2}\r\n').map((line) => line.trim())).toEqual(['{"b": 2}', '{"a": 1}']);
  });

  test.each([
    ['a single line', '{"a": 1}'],
    ['no line', 'a\nb'],
    ['a value over several lines', '{\n"a": [\n{"b": 1},\n{"c": 2}\n]\n}'],
    ['fenced blocks', '```json\n{"a": 1}\n```\n{"b": 2}'],
    ['an array over several lines', '[\n{"a": 1},\n{"b": 2}\n]'],
  ])('%s is no NDJSON', (_, text) => {
    expect(lines(text)).toEqual([]);
  });

  test('gives no more lines than asked for, counted from the end', () => {
    expect(lines('{"a": 1}\n{"b": 2}\n{"c": 3}', 2)).toEqual(['{"c": 3}', '{"b": 2}']);
  });

  test('a line that is cut is not a value', () => {
    expect(lines('{"a": 1}\n{"b": 2}\n{"c": ')).toEqual(['{"b": 2}', '{"a": 1}']);
  });
});
