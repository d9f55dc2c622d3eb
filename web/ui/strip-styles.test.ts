import { expect, test } from 'vitest';
import { stripStyles } from './strip-styles.js';

test.each([
  ['\u001B[32m✓\u001B[0m done', '✓ done'],
  ['\u001B[38;5;196mred\u001B[m', 'red'],
  ['\u001B[38:2::1:2:3mtrue colour', 'true colour'],
  ['10%\u001B[K', '10%'],
  ['no styles', 'no styles'],
])('%j becomes %j', (text, expected) => {
  expect(stripStyles(text)).toBe(expected);
});

test.each(['\u001B[2J', '\u001B[1A', '\u001B]8;;http://evil.example\u0007', '\u001B[', '\u001B'])(
  '%j stays, to be shown as text',
  (text) => {
    expect(stripStyles(text)).toBe(text);
  },
);

test('takes linear time', () => {
  const text = '\u001B['.repeat(500_000);
  expect(stripStyles(text)).toHaveLength(text.length);
});
