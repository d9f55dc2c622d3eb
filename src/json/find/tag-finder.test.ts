import { describe, expect, test } from 'vitest';
import { findTagBlocks } from './tag-finder.js';

function blocks(text: string): { readonly content: string; readonly closed: boolean }[] {
  const found = findTagBlocks(text, [{ start: 0, end: text.length }]);
  return found.map(({ start, end, closed }) => ({ content: text.slice(start, end), closed }));
}

describe('findTagBlocks', () => {
  test('gives the content of a block', () => {
    expect(blocks('a<json>b</json>c')).toEqual([{ content: 'b', closed: true }]);
  });

  test('gives the last block first', () => {
    expect(blocks('<json>1</json><json>2</json><json>3</json>').map(({ content }) => content)).toEqual(['3', '2', '1']);
  });

  test('reads an unclosed last block to the end', () => {
    expect(blocks('<json>1</json> x <json>2')).toEqual([
      { content: '2', closed: false },
      { content: '1', closed: true },
    ]);
  });

  test('a block that is started again before it was closed ends there', () => {
    expect(blocks('<json>1<json>2</json>')).toEqual([
      { content: '2', closed: true },
      { content: '1', closed: false },
    ]);
  });

  test.each(['<json>', '<JSON>', '<json type="x">', '<json\n>'])('knows %s', (open) => {
    expect(blocks(`${open}1</json >`)).toEqual([{ content: '1', closed: true }]);
  });

  test.each(['<jsonp>1</jsonp>', '< json>1</ json>', 'json>1</json>', '<json1>', '</json>'])(
    'does not know %s',
    (text) => {
      expect(blocks(text)).toEqual([]);
    },
  );

  test('tells the last closing tag, in case the first one stands inside a string', () => {
    const text = '<json>{"a": "</json>"}</json> <json>2</json>';
    const [, first] = findTagBlocks(text, [{ start: 0, end: text.length }]);
    expect(text.slice(first?.start, first?.end)).toBe('{"a": "');
    expect(text.slice(first?.start, first?.lastClose)).toBe('{"a": "</json>"}');
  });

  test('looks only into the regions given, and stays inside them', () => {
    const text = '<json>1</json>|<json>2|</json>';
    const regions = [{ start: 15, end: text.indexOf('|</json>') }];
    expect(findTagBlocks(text, regions).map(({ start, end }) => text.slice(start, end))).toEqual(['2']);
  });

  test('any number of tags', () => {
    expect(findTagBlocks('<json>'.repeat(100_000), [{ start: 0, end: 600_000 }])).toHaveLength(100_000);
    expect(findTagBlocks(`<json>${'</json>'.repeat(100_000)}`, [{ start: 0, end: 700_006 }])).toHaveLength(1);
  });
});
