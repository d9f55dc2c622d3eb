import { describe, expect, test } from 'vitest';
import { parse } from '../../json/parse.js';
import { ALIGNMENT_CASES } from '../fixtures/alignment-cases/all-cases.js';
import { ANSWERS } from '../fixtures/answers.js';
import { BOLD_ANSWERS } from '../fixtures/bold-answers.js';
import { replayChanges } from '../fixtures/replay-changes.js';
import { fromJsonSchema } from '../from-json-schema.js';
import { RULE_COSTS } from './rules.js';

test('every rule is applied by some case', () => {
  const applied = ALIGNMENT_CASES.flatMap(({ schema, aligned = [], partly = [] }) => {
    const { align } = fromJsonSchema(schema)['~sluice'];
    return [...aligned, ...partly].flatMap(([given]) => align(given).changes.map(({ rule }) => rule));
  });
  const inTexts = Object.values({ ...ANSWERS, ...BOLD_ANSWERS })
    .flat()
    .map(({ text, schema }) => parse(text, fromJsonSchema(schema), { align: true }))
    .flatMap((result) => (result.ok ? result.alignment.map(({ rule }) => rule) : []));
  expect([...new Set([...applied, ...inTexts])].toSorted()).toEqual(Object.keys(RULE_COSTS).toSorted());
});

describe.each(ALIGNMENT_CASES)('$title', ({ schema, aligned = [], refused = [], valid = [], partly = [] }) => {
  const alignable = fromJsonSchema(schema);
  const { align } = alignable['~sluice'];
  const isValid = (value: unknown) => 'value' in alignable['~standard'].validate(value);

  test.each(aligned.map(([given, expected]) => ({ given, expected })))(
    '$given becomes $expected',
    ({ given, expected }) => {
      const before = JSON.stringify(given);
      const { value, changes } = align(given);
      expect(value).toEqual(expected);
      expect(isValid(value)).toBe(true);
      expect(changes.length).toBeGreaterThan(0);
      expect(replayChanges(given, changes)).toEqual(expected);
      expect(align(value)).toEqual({ value, changes: [] });
      expect(JSON.stringify(given)).toBe(before);
    },
  );

  test.each(refused.map((given) => ({ given })))('$given is refused', ({ given }) => {
    expect(align(given)).toEqual({ value: given, changes: [] });
    expect(isValid(given)).toBe(false);
  });

  test.each(partly.map(([given, expected]) => ({ given, expected })))(
    '$given is aligned in part, and fails',
    ({ given, expected }) => {
      const { value, changes } = align(given);
      expect(value).toEqual(expected);
      expect(replayChanges(given, changes)).toEqual(expected);
      expect(isValid(value)).toBe(false);
    },
  );

  test.each(valid.map((given) => ({ given })))('$given is left unchanged', ({ given }) => {
    expect(isValid(given)).toBe(true);
    const { value, changes } = align(given);
    expect(value).toBe(given);
    expect(changes).toEqual([]);
  });
});
