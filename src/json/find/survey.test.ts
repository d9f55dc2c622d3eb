import { describe, expect, test } from 'vitest';
import { surveyText } from './survey.js';

/** The texts of the regions. */
function visible(text: string): string[] {
  return surveyText(text).regions.map(({ start, end }) => text.slice(start, end));
}

/** The contents of the `<json>` blocks, `…` after those that are not closed. */
function blocks(text: string): string[] {
  return surveyText(text).blocks.map(({ start, end, isClosed }) => text.slice(start, end) + (isClosed ? '' : '…'));
}

describe('regions: the rest after thinking is set aside', () => {
  test('without thinking the whole text is visible', () => {
    expect(visible('a <b> c')).toEqual(['a <b> c']);
  });

  test('a blank text has no region', () => {
    expect(visible('')).toEqual([]);
    expect(visible(' \n')).toEqual([]);
  });

  test.each(['think', 'thinking', 'thought', 'reasoning', 'THINK'])('<%s> is set aside', (name) => {
    expect(visible(`a<${name}>b</${name}>c`)).toEqual(['a', 'c']);
  });

  test.each(['THINK', 'think'])('[%s] is set aside', (name) => {
    expect(visible(`a[${name}]b[/${name}]c`)).toEqual(['a', 'c']);
  });

  test('several blocks are set aside, blank regions left out', () => {
    expect(visible(' <think>1</think>\n<think>2</think> x')).toEqual([' x']);
  });

  test('a block ends at its own closing tag only', () => {
    expect(visible('<think>a</thinking>b</think>c')).toEqual(['c']);
  });

  test('an unclosed block extends to the end', () => {
    expect(visible('a<think>b')).toEqual(['a']);
    expect(visible('<think>b')).toEqual([]);
  });

  test('text before a lone closing tag counts as thinking', () => {
    expect(visible('a</think>b')).toEqual(['b']);
    expect(visible('a</think>b</think>c')).toEqual(['c']);
  });

  test('a tag inside a JSON string is content', () => {
    const text = '{"a": "<think>"} and {"b": "</think>"}';
    expect(visible(text)).toEqual([text]);
  });

  test('quotation marks in prose do not start a JSON string', () => {
    expect(visible('He said "so <think>x</think> yes"')).toEqual(['He said "so ', ' yes"']);
  });

  test('inside a block JSON strings do not count', () => {
    expect(visible('<think>{"a": "</think>b')).toEqual(['b']);
  });

  test('ignores words that only look like tags', () => {
    const text = '< think > <think-aloud> <analysis> </scratchpad>';
    expect(visible(text)).toEqual([text]);
  });
});

describe('regions: harmony channels', () => {
  test('the final channel is visible, the analysis is not', () => {
    expect(
      visible('<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>'),
    ).toEqual(['b']);
  });

  test('without a final channel the commentary is', () => {
    expect(visible('<|channel|>analysis<|message|>a<|end|><|channel|>commentary to=f<|message|>b<|call|>')).toContain(
      'b',
    );
  });

  test('an analysis channel alone has no visible region', () => {
    expect(visible('<|channel|>analysis<|message|>a')).toEqual([]);
  });

  test('markers inside JSON strings are content', () => {
    const text = '{"a": "<|channel|>final<|message|>x"}';
    expect(visible(text)).toEqual([text]);
  });
});

describe('blocks: the content of <json> tags', () => {
  test('in the order of the text', () => {
    expect(blocks('a<json>1</json><json>2</json>b<json>3</json>')).toEqual(['1', '2', '3']);
  });

  test('an unclosed last block is read to the end', () => {
    expect(blocks('<json>1</json> x <json>2')).toEqual(['1', '2…']);
  });

  test('a block that starts again before it was closed ends there', () => {
    expect(blocks('<json>1<json>2</json>')).toEqual(['1…', '2']);
  });

  test.each(['<json>', '<JSON>', '<json type="x">', '<json\n>'])('recognizes %s', (open) => {
    expect(blocks(`${open}1</json>`)).toEqual(['1']);
  });

  test.each(['<jsonp>1</jsonp>', '< json>1</ json>', 'json>1</json>', '<json1>', '</json>'])(
    'does not recognise %s',
    (text) => {
      expect(blocks(text)).toEqual([]);
    },
  );

  test('a tag inside the thinking is not a block', () => {
    expect(blocks('<think><json>1</json></think><json>2</json>')).toEqual(['2']);
  });

  test('a tag before a lone </think> is not a block', () => {
    expect(blocks('<json>1</json></think><json>2</json>')).toEqual(['2']);
  });

  test('a tag inside a JSON string is content', () => {
    expect(blocks('{"a": "<json>1</json>"}')).toEqual([]);
    expect(blocks('<json>{"a": "<json>"}</json>')).toEqual(['{"a": "<json>"}']);
  });

  test('a closing tag inside a string does not end the block', () => {
    expect(blocks('<json>{"a": "</json>"}</json>')).toEqual(['{"a": "</json>"}']);
  });

  test('an unbalanced quote does not hide the closing tag: if no other one follows, it counts', () => {
    expect(blocks('<json>{"a": "x}</json> and more')).toEqual(['{"a": "x}']);
  });

  test('reports the last of two closing tags too: the first may be in a string with a stray quote', () => {
    const text = '<json>{"a": "x "y</json>"}</json> and more';
    const [block] = surveyText(text).blocks;
    expect(text.slice(block?.start, block?.end)).toBe('{"a": "x "y');
    expect(text.slice(block?.start, block?.lastClose)).toBe('{"a": "x "y</json>"}');
  });
});

describe('any number of tags', () => {
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
