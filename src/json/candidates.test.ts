import { describe, expect, test } from 'vitest';
import { findCandidates } from './candidates.js';
import { resolveSettings } from './read-span.js';

/** Lists the candidates in running text, in the order they are tried. */
function listProseCandidates(text: string, { max = 100, hasSchema = true } = {}): string[] {
  const settings = resolveSettings({ limits: { candidates: max } }, hasSchema);
  return [...findCandidates(text, settings, [])]
    .filter(({ finder }) => finder === 'prose')
    .map(({ start, end }) => text.slice(start, end));
}

describe('findCandidates in running text', () => {
  test('finds values in order', () => {
    expect(listProseCandidates('a {"a": 1} b {"b": 2} c')).toEqual(['{"a": 1}', '{"b": 2}']);
  });

  test('returns objects before arrays', () => {
    expect(listProseCandidates('[1] {"a": 1} [2] {"b": 2}')).toEqual(['{"a": 1}', '{"b": 2}', '[1]', '[2]']);
  });

  test.each(['an empty {} here', 'a[0] and f()[1]', 'as known [1]', 'see [2, 3].'])(
    'rejects values that are part of a sentence if no schema is given: %s',
    (text) => {
      expect(listProseCandidates(text)).not.toEqual([]);
      expect(listProseCandidates(text, { hasSchema: false })).toEqual([]);
    },
  );

  test.each([
    ['Answer: [1, 2]', '[1, 2]'],
    ['The primes:\n[2, 3]', '[2, 3]'],
    ['Files ["a", "b"] changed', '["a", "b"]'],
    ['It is {"a": 1}', '{"a": 1}'],
  ])('accepts answers without a schema: %s', (text, value) => {
    expect(listProseCandidates(text, { hasSchema: false })).toEqual([value]);
  });

  test('does not search inside a value it has read', () => {
    expect(listProseCandidates('x {"a": {"b": 1}} y')).toEqual(['{"a": {"b": 1}}']);
  });

  test('skips placeholders', () => {
    expect(listProseCandidates('Dear {name}, {"a": 1}')).toEqual(['{"a": 1}']);
  });

  test('reports an unreadable value in full instead of returning one of its parts', () => {
    expect(listProseCandidates('x {"a": f(1), "b": {"c": 2}} y {"d": 3}')).toEqual([
      '{"a": f(1), "b": {"c": 2}}',
      '{"d": 3}',
    ]);
  });

  test('extends a truncated value to the end of the input', () => {
    expect(listProseCandidates('x {"a": [1, {"b": 2}')).toEqual(['{"a": [1, {"b": 2}']);
  });

  test('finds an object inside another pair of braces', () => {
    expect(listProseCandidates('{{"a": 1}}')).toEqual(['{"a": 1}']);
  });

  test('finds no more values than requested', () => {
    expect(listProseCandidates('{"a": 1} {"b": 2} {"c": 3}', { max: 2 })).toEqual(['{"a": 1}', '{"b": 2}']);
  });

  test.each(['{', '[', '{x} ', '[x] ', '{"a":', '{"a": f(1) ', '{ "'])(
    'terminates for a long repetition of %j',
    (piece) => {
      expect(listProseCandidates(piece.repeat(50_000)).length).toBeLessThanOrEqual(100);
    },
  );

  test('finds an object after a megabyte of noise', () => {
    const noise = 'if (a[i] < 10) { return "x"; } // {note}\n'.repeat(25_000);
    expect(listProseCandidates(`${noise}{"a": 1}`)).toContain('{"a": 1}');
  });
});

test('no property of a candidate is a getter, which would keep its value in memory', () => {
  const settings = resolveSettings({}, false);
  for (const candidate of findCandidates('{"a": 1,} and [2]', settings, []))
    expect(Object.values(Object.getOwnPropertyDescriptors(candidate)).some((property) => 'get' in property)).toBe(
      false,
    );
});
