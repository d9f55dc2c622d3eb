import { describe, expect, test } from 'vitest';
import { isOtherIntended, type Choice } from './choice.js';

/** Chooses between the two values of a text. */
function choose(text: string): Choice {
  const [first, second] = [...text.matchAll(/\{[^}]*\}/g)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
  if (first === undefined || second === undefined) throw new Error('two values expected');
  return isOtherIntended(text, first, second);
}

describe('the later value is intended', () => {
  test.each([
    ['words of correction', '{"a": 1} Sorry, {"a": 2}'],
    ['words of correction after a label', 'Answer: {"a": 1}\nWait.\n{"a": 2}'],
    ['a label of an answer', '{"a": 1}\nFinal answer: {"a": 2}'],
    ['an example before', 'such as {"a": 1}. {"a": 2}'],
    ['a value inside a sentence, then a standalone value', 'At first I saw {"a": 1} here.\n\n{"a": 2}'],
    ['a value within a sentence that continues', '{"a": 1} came up first.\n\n{"a": 2}'],
    ['its own introduction, in any language', '{"a": 1}\nTarkemmin laskettuna:\n{"a": 2}'],
    ['the added line of a diff', '- {"a": 1}\n+ {"a": 2}'],
    ['a sentence with but', 'I leaned to {"a": 1} but took {"a": 2}'],
    ['struck out', '<del>{"a": 1}</del> <ins>{"a": 2}</ins>'],
  ])('%s', (_, text) => {
    expect(choose(text)).toBe(true);
  });
});

describe('the first value is intended', () => {
  test.each([
    ['a value inside a sentence after a standalone value', '{"a": 1}\n\nThe service returns {"a": 2} on Sundays.'],
    ['an alternative', '{"a": 1}\n\nAlternatively:\n{"a": 2}'],
    ['a condition', '{"a": 1}\n\nOnce it is fixed, this becomes {"a": 2}.'],
    ['a label of an answer before it', 'Answer: {"a": 1}\nMore words:\n{"a": 2}'],
    ['a later example', '{"a": 1}\nExample: {"a": 2}'],
    ['a negation', 'It is {"a": 1}, not {"a": 2}.'],
    ['a question that the model invented', '{"a": 1}\n\nQ: And now?\nA: {"a": 2}'],
  ])('%s', (_, text) => {
    expect(choose(text)).toBe(false);
  });
});

describe('nothing decides', () => {
  test.each([
    ['no words between', '{"a": 1}\n\n{"a": 2}'],
    ['both inside one sentence', 'Either {"a": 1} or {"a": 2}.'],
    ['labels that differ in a letter', 'Option A: {"a": 1}\nOption B: {"a": 2}'],
    ['labels that differ in a number', 'Customer 1: {"a": 1}\nCustomer 2: {"a": 2}'],
    ['labels of unknown meaning', 'Luonnos: {"a": 1}\nTulos: {"a": 2}'],
    ['a first and a second object', 'First object: {"a": 1}\nSecond object: {"a": 2}'],
    ['a continuation', '{"a": 1}\n\nAnd the rest:\n{"a": 2}'],
  ])('%s', (_, text) => {
    expect(choose(text)).toBeUndefined();
  });
});
