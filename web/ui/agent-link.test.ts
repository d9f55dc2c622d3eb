import { expect, test } from 'vitest';
import { resolveWebAddress } from './markdown.js';

test.each([
  ['https://a.example/x?y#z', 'https://a.example/x?y#z'],
  ['HTTP://A.example', 'http://a.example/'],
  ['https://еxample.com', 'https://xn--xample-2of.com/'],
  ['https://a.example@b.example', 'https://a.example@b.example/'],
])('%s links to %s', (address, expected) => {
  expect(resolveWebAddress(address)).toBe(expected);
});

test.each([
  'javascript:alert(1)',
  ' \u0001javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '/v1/runs',
  'x',
  '',
])('%j is not a link', (address) => {
  expect(resolveWebAddress(address)).toBeNull();
});
