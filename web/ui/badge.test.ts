import { expect, test } from 'vitest';
import { toneOf } from './badge.js';

test('words without a colour are plain, whatever every object calls its own', () => {
  expect([toneOf('success'), toneOf('blocked'), toneOf('running')]).toEqual(['good', 'bad', 'plain']);
  expect([toneOf('constructor'), toneOf('__proto__')]).toEqual(['plain', 'plain']);
});
