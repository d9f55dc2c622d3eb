import { describe, expect, test } from 'vitest';
import { findFencedSpans, findNdjsonLines } from './spans.js';

function listLines(text: string, max = 100): string[] {
  return findNdjsonLines(text, [{ start: 0, end: text.length }], max).map(({ start, end }) => text.slice(start, end));
}

describe('findNdjsonLines', () => {
  test('returns the lines that contain a value, last first', () => {
    expect(listLines('{"a": 1}\n{"b": 2}\n{"c": 3}\n')).toEqual(['{"c": 3}', '{"b": 2}', '{"a": 1}']);
  });

  test('skips log lines and blank lines between them', () => {
    const text = 'started\n{"a": 1}\n{"b": 2}\n\nworking…\n{"c": 3}\ndone';
    expect(listLines(text)).toEqual(['{"c": 3}', '{"b": 2}', '{"a": 1}']);
  });

  test('returns nothing if words introduce each line', () => {
    expect(listLines('Here it is:\n{"a": 1}\n\nAlternatively:\n{"b": 2}')).toEqual([]);
    expect(listLines('**Result**\n{"a": 1}\n## Notes\n{"b": 2}')).toEqual([]);
  });

  test('accepts indentation and carriage returns', () => {
    expect(listLines('  {"a": 1}  \r\n\t{"b": 2}\r\n').map((line) => line.trim())).toEqual(['{"b": 2}', '{"a": 1}']);
  });

  test.each([
    ['a single line', '{"a": 1}'],
    ['no line', 'a\nb'],
    ['a multi-line value', '{\n"a": [\n{"b": 1},\n{"c": 2}\n]\n}'],
    ['lists', '[1]\n[2]'],
    ['two sides of a merge conflict', '<<<<<<< HEAD\n{"a": 1}\n=======\n{"a": 2}\n>>>>>>> fix'],
    ['fenced blocks', '```json\n{"a": 1}\n```\n{"b": 2}'],
    ['a multi-line array', '[\n{"a": 1},\n{"b": 2}\n]'],
  ])('returns nothing for %s', (_, text) => {
    expect(listLines(text)).toEqual([]);
  });

  test('returns no more lines than requested, counted from the end', () => {
    expect(listLines('{"a": 1}\n{"b": 2}\n{"c": 3}', 2)).toEqual(['{"c": 3}', '{"b": 2}']);
  });

  test('skips a truncated line', () => {
    expect(listLines('{"a": 1}\n{"b": 2}\n{"c": ')).toEqual(['{"b": 2}', '{"a": 1}']);
  });
});

function listStarts(text: string): string[] {
  return [...findFencedSpans(text, [{ start: 0, end: text.length }])].map(({ start }) => text.slice(start, start + 2));
}

describe('findFencedSpans', () => {
  test.each([
    ['a language', '```json\n{1'],
    ['none', '```\n{1'],
    ['another language', '```typescript\n{1'],
    ['attributes', '```json title="a.json" {highlight}\n{1'],
    ['tildes', '~~~json\n{1'],
    ['one line', '```json {1```'],
    ['glued', '```{1```'],
    ['blank lines', '```json\n\n\n  {1'],
    ['four backticks', '````json\n{1'],
  ])('finds the value after a fence: %s', (_, text) => {
    expect(listStarts(text)).toEqual(['{1']);
  });

  test('finds all values after fences, in order', () => {
    expect(listStarts('```\n{1\n```\n```\n[2\n```')).toEqual(['{1', '[2']);
  });

  test.each(['no fence {1', '`{1`', '``{1', '```js\nlet a = {1', '```\ntext\n```'])('finds nothing in %s', (text) => {
    expect(listStarts(text)).toEqual([]);
  });

  test('extends values to the end of their region', () => {
    const text = '```\n{1}\n```\nmore';
    expect([...findFencedSpans(text, [{ start: 0, end: 11 }])]).toMatchObject([{ start: 4, end: 11 }]);
  });

  test('searches only the specified regions', () => {
    const text = '```\n{1}\n```\n```\n{2}\n```';
    expect(
      [...findFencedSpans(text, [{ start: 11, end: text.length }])].map(({ start }) => text.slice(start, start + 3)),
    ).toEqual(['{2}']);
  });

  test('handles any number of fences', () => {
    expect(listStarts('```'.repeat(100_000))).toEqual([]);
    expect(listStarts('```\n{'.repeat(20_000))).toHaveLength(20_000);
  });
});
