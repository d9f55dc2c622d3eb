import { jsonrepair } from 'jsonrepair';
import { expect, test } from 'vitest';
import { parseWith } from './other-parsers.js';

const repair = (text: string): unknown => JSON.parse(jsonrepair(text));

test('reports that a parser found the same value, regardless of white space', () => {
  expect(parseWith('JSON.parse', JSON.parse, '{"a":[1,2]}', '{\n "a": [1, 2]\n}')).toEqual({
    parser: 'JSON.parse',
    outcome: 'same',
    text: '{\n  "a": [\n    1,\n    2\n  ]\n}',
  });
  expect(parseWith('jsonrepair', repair, "{a: 'x',}", '{"a":"x"}')).toMatchObject({ outcome: 'same' });
});

test('a value that a parser extracts from prose is shown next to the right one', () => {
  const answer = 'Here it is:\n```json\n{"a": 1}\n```\nDone.';
  expect(parseWith('JSON.parse', JSON.parse, answer, '{"a":1}')).toMatchObject({ outcome: 'error' });
  expect(parseWith('jsonrepair', repair, answer, '{"a":1}')).not.toMatchObject({ outcome: 'same' });
});

test('nothing counts as the same if Sluice has found no value, and long values are shortened', () => {
  const reading = parseWith('JSON.parse', JSON.parse, JSON.stringify('x'.repeat(10_000)), null);
  expect(reading.outcome).toBe('different');
  expect(reading.text.length).toBeLessThan(4100);
});
