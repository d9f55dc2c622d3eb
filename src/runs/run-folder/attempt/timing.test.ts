import { expect, test } from 'vitest';
import { parseTimingLine } from './attempt-chunks.js';

test('a line contains the time of a byte range', () => {
  for (const stream of ['pty', 'stdin']) {
    const entry = { ms: 12.5, stream, offset: 3, bytes: 4 };
    expect(parseTimingLine(JSON.stringify(entry))).toEqual(entry);
  }
});

test.each([
  '',
  'null',
  '[]',
  '{"ms":1,"stream":"stdout","offset":0',
  '{"ms":-1,"stream":"stdout","offset":0,"bytes":1}',
  '{"ms":1e300,"stream":"stdout","offset":0,"bytes":1}',
  '{"ms":"1","stream":"stdout","offset":0,"bytes":1}',
  '{"ms":1,"stream":"constructor","offset":0,"bytes":1}',
  '{"ms":1,"stream":"stdout","offset":-1,"bytes":1}',
  '{"ms":1,"stream":"stdout","offset":0,"bytes":1.5}',
  '{"ms":1,"stream":"stdout","offset":0}',
])('%s is not usable', (line) => {
  expect(parseTimingLine(line)).toBeUndefined();
});
