import { expect, test } from 'vitest';
import { chooseTone } from './badge.js';

test('words without a colour are plain, also names of built-in object properties', () => {
  expect([chooseTone('success'), chooseTone('blocked'), chooseTone('running')]).toEqual(['good', 'bad', 'plain']);
  expect([chooseTone('constructor'), chooseTone('__proto__')]).toEqual(['plain', 'plain']);
});
