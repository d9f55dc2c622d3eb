import { describe, expect, test } from 'vitest';
import { findFencedValues } from './fence-finder.js';

function starts(text: string): string[] {
  return [...findFencedValues(text, [{ start: 0, end: text.length }])].map(({ start }) => text.slice(start, start + 2));
}

describe('findFencedValues', () => {
  test.each([
    ['a language', '```json\n{1'],
    ['none', '```\n{1'],
    ['another language', '```typescript\n{1'],
    ['attributes', '```json title="a.json" {highlight}\n{1'],
    ['tildes', '~~~json\n{1'],
    ['one line', '```json {1```'],
    ['glued', '```{1```'],
    ['blank lines', '```json\n\n\n  {1'],
    ['four backticks', '````json\n{1'],
  ])('finds the value behind a fence: %s', (_, text) => {
    expect(starts(text)).toEqual(['{1']);
  });

  test('finds all of them, first first', () => {
    expect(starts('```\n{1\n```\n```\n[2\n```')).toEqual(['{1', '[2']);
  });

  test.each(['no fence {1', '`{1`', '``{1', '```js\nlet a = {1', '```\ntext\n```'])('finds none: %s', (text) => {
    expect(starts(text)).toEqual([]);
  });

  test('values reach to the end of their region', () => {
    const text = '```\n{1}\n```\nmore';
    expect([...findFencedValues(text, [{ start: 0, end: 11 }])]).toEqual([{ start: 4, end: 11 }]);
  });

  test('looks only into the regions given', () => {
    const text = '```\n{1}\n```\n```\n{2}\n```';
    expect(
      [...findFencedValues(text, [{ start: 11, end: text.length }])].map(({ start }) => text.slice(start, start + 3)),
    ).toEqual(['{2}']);
  });

  test('any number of fences', () => {
    expect(starts('```'.repeat(100_000))).toEqual([]);
    expect(starts('```\n{'.repeat(20_000))).toHaveLength(20_000);
  });
});
