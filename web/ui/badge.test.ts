import { expect, test } from 'vitest';
import { chooseTone, labelState, listStateOptions } from './parts.js';

test('states without a tone are plain, even when named like built-in object properties', () => {
  expect([chooseTone('success'), chooseTone('blocked'), chooseTone('running')]).toEqual(['good', 'bad', 'plain']);
  expect([chooseTone('constructor'), chooseTone('__proto__')]).toEqual(['plain', 'plain']);
});

test('states have labels in sentence case, and unknown ones are labeled by their name', () => {
  expect(['dead', 'needs-human', 'delivered', 'constructor', 'two_words'].map(labelState)).toEqual([
    'Failed',
    'Needs a decision',
    'Delivered',
    'Constructor',
    'Two words',
  ]);
  expect(listStateOptions(['waiting', 'dead'])).toEqual([
    { value: 'waiting', label: 'Waiting' },
    { value: 'dead', label: 'Failed' },
  ]);
});
