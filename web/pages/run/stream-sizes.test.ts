import { expect, test } from 'vitest';
import { streamSizes } from './stream-sizes.js';

test('files of streams are told by their names, others are not streams', () => {
  const files = ['stdout.1.log', 'pty-output.2.log', 'meta.1.json', 'stdin.1.log', 'work_result.json', 'stdout.x.log'];
  expect(streamSizes(files.map((name) => ({ name, size: 7 })))).toEqual([
    { name: { attempt_number: 1, stream: 'stdout' }, size: 7 },
    { name: { attempt_number: 2, stream: 'pty' }, size: 7 },
  ]);
});
