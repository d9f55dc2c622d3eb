import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDraft } from './use-draft.js';

const initial = { why: '', sure: false };

test('restores a stored draft', () => {
  expect(readDraft('{"why":"wrong branch","sure":true}', initial)).toEqual({ why: 'wrong branch', sure: true });
});

test.each([null, '', 'null', '[]', '7', '{'])('%j results in the initial values', (text) => {
  expect(readDraft(text, initial)).toEqual(initial);
});

test('a stored field of another type keeps its initial value, and unknown fields are ignored', () => {
  expect(readDraft('{"why":7,"sure":true,"more":1,"__proto__":{"why":"x"}}', initial)).toEqual({ why: '', sure: true });
});

test('the fields match the form, no matter what was stored', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const read = readDraft(text, initial);
      expect(Object.keys(read)).toEqual(['why', 'sure']);
      expect([typeof read.why, typeof read.sure]).toEqual(['string', 'boolean']);
    }),
  );
});
