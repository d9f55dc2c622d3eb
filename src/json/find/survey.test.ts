import { describe, expect, test } from 'vitest';
import { surveyText } from './survey.js';

/** Lists the content of each region. */
function listRegions(text: string): string[] {
  return surveyText(text).regions.map(({ start, end }) => text.slice(start, end));
}

/** Lists the contents of the `<json>` blocks, with `…` after unclosed ones. */
function listBlocks(text: string): string[] {
  return surveyText(text).blocks.map(({ start, end, isClosed }) => text.slice(start, end) + (isClosed ? '' : '…'));
}

describe('regions: the input without thinking', () => {
  test('without thinking the whole input is visible', () => {
    expect(listRegions('a <b> c')).toEqual(['a <b> c']);
  });

  test('blank input has no region', () => {
    expect(listRegions('')).toEqual([]);
    expect(listRegions(' \n')).toEqual([]);
  });

  test.each(['think', 'thinking', 'thought', 'reasoning', 'THINK'])('<%s> is set aside', (name) => {
    expect(listRegions(`a<${name}>b</${name}>c`)).toEqual(['a', 'c']);
  });

  test.each(['THINK', 'think'])('[%s] is set aside', (name) => {
    expect(listRegions(`a[${name}]b[/${name}]c`)).toEqual(['a', 'c']);
  });

  test('multiple blocks are set aside, and blank regions are omitted', () => {
    expect(listRegions(' <think>1</think>\n<think>2</think> x')).toEqual([' x']);
  });

  test('a block ends at its own closing tag only', () => {
    expect(listRegions('<think>a</thinking>b</think>c')).toEqual(['c']);
  });

  test('an unclosed block extends to the end', () => {
    expect(listRegions('a<think>b')).toEqual(['a']);
    expect(listRegions('<think>b')).toEqual([]);
  });

  test('text before a lone closing tag counts as thinking', () => {
    expect(listRegions('a</think>b')).toEqual(['b']);
    expect(listRegions('a</think>b</think>c')).toEqual(['c']);
  });

  test('a tag inside a JSON string is content', () => {
    const text = '{"a": "<think>"} and {"b": "</think>"}';
    expect(listRegions(text)).toEqual([text]);
  });

  test('quotation marks in prose do not start a JSON string', () => {
    expect(listRegions('He said "so <think>x</think> yes"')).toEqual(['He said "so ', ' yes"']);
  });

  test('inside a block JSON strings do not count', () => {
    expect(listRegions('<think>{"a": "</think>b')).toEqual(['b']);
  });

  test('ignores words that only look like tags', () => {
    const text = '< think > <think-aloud> <analysis> </scratchpad>';
    expect(listRegions(text)).toEqual([text]);
  });
});

describe('regions: harmony channels', () => {
  test('the final channel is visible, the analysis is not', () => {
    expect(
      listRegions('<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>'),
    ).toEqual(['b']);
  });

  test('without a final channel the commentary is visible', () => {
    expect(
      listRegions('<|channel|>analysis<|message|>a<|end|><|channel|>commentary to=f<|message|>b<|call|>'),
    ).toContain('b');
  });

  test('an analysis channel alone has no visible region', () => {
    expect(listRegions('<|channel|>analysis<|message|>a')).toEqual([]);
  });

  test('markers inside JSON strings are content', () => {
    const text = '{"a": "<|channel|>final<|message|>x"}';
    expect(listRegions(text)).toEqual([text]);
  });
});

describe('blocks: the content of <json> tags', () => {
  test('are listed in order of appearance', () => {
    expect(listBlocks('a<json>1</json><json>2</json>b<json>3</json>')).toEqual(['1', '2', '3']);
  });

  test('an unclosed last block is read to the end', () => {
    expect(listBlocks('<json>1</json> x <json>2')).toEqual(['1', '2…']);
  });

  test('a block that starts again before it was closed ends there', () => {
    expect(listBlocks('<json>1<json>2</json>')).toEqual(['1…', '2']);
  });

  test.each(['<json>', '<JSON>', '<json type="x">', '<json\n>'])('recognizes %s', (open) => {
    expect(listBlocks(`${open}1</json>`)).toEqual(['1']);
  });

  test.each(['<jsonp>1</jsonp>', '< json>1</ json>', 'json>1</json>', '<json1>', '</json>'])(
    'does not recognise %s',
    (text) => {
      expect(listBlocks(text)).toEqual([]);
    },
  );

  test('a tag inside the thinking is not a block', () => {
    expect(listBlocks('<think><json>1</json></think><json>2</json>')).toEqual(['2']);
  });

  test('a tag before a lone </think> is not a block', () => {
    expect(listBlocks('<json>1</json></think><json>2</json>')).toEqual(['2']);
  });

  test('a tag inside a JSON string is content', () => {
    expect(listBlocks('{"a": "<json>1</json>"}')).toEqual([]);
    expect(listBlocks('<json>{"a": "<json>"}</json>')).toEqual(['{"a": "<json>"}']);
  });

  test('a closing tag inside a string does not end the block', () => {
    expect(listBlocks('<json>{"a": "</json>"}</json>')).toEqual(['{"a": "</json>"}']);
  });

  test('an unbalanced quote does not hide the closing tag if no other closing tag follows', () => {
    expect(listBlocks('<json>{"a": "x}</json> and more')).toEqual(['{"a": "x}']);
  });

  test('also reports the last of two closing tags: the first might be in a string with a stray quote', () => {
    const text = '<json>{"a": "x "y</json>"}</json> and more';
    const [block] = surveyText(text).blocks;
    expect(text.slice(block?.start, block?.end)).toBe('{"a": "x "y');
    expect(text.slice(block?.start, block?.lastClose)).toBe('{"a": "x "y</json>"}');
  });
});

describe('surveyText handles any number of', () => {
  test.each([
    '<think>',
    '</think>',
    '<think></think>',
    '<json>',
    '</json>',
    '<json></json>',
    '<|channel|>final<|message|>',
    '<|end|>',
    '<',
    '{"',
  ])('%s', (tag) => {
    expect(surveyText(tag.repeat(100_000)).regions.length).toBeLessThanOrEqual(100_000);
  });
});
