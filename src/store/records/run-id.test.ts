import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROLE_LENGTH, ROLE_PATTERN, RUN_ID_PATTERN, formatRunId, parseRunId } from './run-id.js';

describe('formatRunId', () => {
  test('formats the UTC date, the role and a number of at least four digits', () => {
    expect(formatRunId(Date.UTC(2026, 10, 15, 23, 59, 59, 999), 'backend', 3)).toBe('2026-11-15-backend-0003');
    expect(formatRunId(Date.UTC(2026, 0, 1), 'qa', 12_345)).toBe('2026-01-01-qa-12345');
  });
});

describe('parseRunId', () => {
  test('takes the number from the end, so a role can contain hyphens and digits', () => {
    expect(parseRunId('2026-11-15-qa-0001-0002')).toEqual({ date: '2026-11-15', role: 'qa-0001', number: 2 });
  });

  test.each([
    ['an empty string', ''],
    ['a missing role', '2026-11-15-0001'],
    ['a nonexistent date', '2026-02-30-qa-0001'],
    ['number 0', '2026-11-15-qa-0000'],
    ['a three-digit number', '2026-11-15-qa-001'],
    ['a five-digit number with leading zeros', '2026-11-15-qa-00012'],
    ['a role with a path', '2026-11-15-../x-0001'],
    ['a trailing line break', '2026-11-15-qa-0001\n'],
    ['a string that is too long', `2026-11-15-${'a'.repeat(200)}-0001`],
  ])('rejects %s', (_, text) => {
    expect(parseRunId(text)).toBeUndefined();
  });

  test('parses every formatted id', () => {
    const role = fc.stringMatching(new RegExp(ROLE_PATTERN)).filter((text) => text.length <= ROLE_LENGTH);
    const day = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(day, role, fc.integer({ min: 1, max: 9_999_999 }), (date, name, number) => {
        const id = formatRunId(date.getTime(), name, number);
        expect(id).toMatch(new RegExp(RUN_ID_PATTERN));
        expect(parseRunId(id)).toEqual({ date: date.toISOString().slice(0, 10), role: name, number });
      }),
    );
  });
});
