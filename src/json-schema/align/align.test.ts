import { describe, expect, test } from 'vitest';
import { ALIGNMENT_CASES } from '../fixtures/alignment-cases/all-cases.js';
import { replayChanges } from '../fixtures/replay-changes.js';
import { fromJsonSchema } from '../from-json-schema.js';

test('the table has at least 200 cases, 60 of them to be refused', () => {
  const count = (key: 'aligned' | 'refused' | 'valid' | 'partly') =>
    ALIGNMENT_CASES.reduce((sum, cases) => sum + (cases[key]?.length ?? 0), 0);
  expect(count('refused')).toBeGreaterThanOrEqual(60);
  expect(count('aligned') + count('refused') + count('valid') + count('partly')).toBeGreaterThanOrEqual(200);
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
    '$given comes nearer, and fails',
    ({ given, expected }) => {
      const { value, changes } = align(given);
      expect(value).toEqual(expected);
      expect(replayChanges(given, changes)).toEqual(expected);
      expect(isValid(value)).toBe(false);
    },
  );

  test.each(valid.map((given) => ({ given })))('$given is left alone', ({ given }) => {
    expect(isValid(given)).toBe(true);
    const { value, changes } = align(given);
    expect(value).toBe(given);
    expect(changes).toEqual([]);
  });
});
