import { jsonrepair } from 'jsonrepair';
import { expect, test } from 'vitest';
import { parseWith } from './workbench.js';

const repair = (text: string): unknown => JSON.parse(jsonrepair(text));

test('a value counts as the same regardless of white space', () => {
  expect(parseWith('JSON.parse', JSON.parse, '{"a":[1,2]}', '{\n "a": [1, 2]\n}')).toEqual({
    parser: 'JSON.parse',
    outcome: 'same',
    text: '{\n  "a": [\n    1,\n    2\n  ]\n}',
  });
  expect(parseWith('jsonrepair', repair, "{a: 'x',}", '{"a":"x"}')).toMatchObject({ outcome: 'same' });
});

test('a parser that does not extract the value from prose has an error or a different value', () => {
  const answer = 'Here it is:\n```json\n{"a": 1}\n```\nDone.';
  expect(parseWith('JSON.parse', JSON.parse, answer, '{"a":1}')).toMatchObject({ outcome: 'error' });
  expect(parseWith('jsonrepair', repair, answer, '{"a":1}')).not.toMatchObject({ outcome: 'same' });
});

test('no value counts as the same if Sluice found no value, and long values are truncated', () => {
  const reading = parseWith('JSON.parse', JSON.parse, JSON.stringify('x'.repeat(10_000)), null);
  expect(reading.outcome).toBe('different');
  expect(reading.text.length).toBeLessThan(4100);
});
