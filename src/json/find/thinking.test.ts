import { describe, expect, test } from 'vitest';
import { visibleRegions } from './thinking.js';

/** The texts of the regions, for reading. */
function visible(text: string): string[] {
  return visibleRegions(text).map(({ start, end }) => text.slice(start, end));
}

describe('visibleRegions', () => {
  test('without thinking the whole text is visible', () => {
    expect(visible('a <b> c')).toEqual(['a <b> c']);
    expect(visible('')).toEqual(['']);
  });

  test.each(['think', 'thinking', 'thought', 'reasoning', 'THINK'])('<%s> is set aside', (name) => {
    expect(visible(`a<${name}>b</${name}>c`)).toEqual(['a', 'c']);
  });

  test('[THINK] is set aside', () => {
    expect(visible('a[THINK]b[/THINK]c')).toEqual(['a', 'c']);
  });

  test('several blocks are set aside', () => {
    expect(visible('<think>1</think>a<think>2</think>b')).toEqual(['a', 'b']);
  });

  test('regions of white space are left out', () => {
    expect(visible(' <think>1</think>\n<think>2</think> x')).toEqual([' x']);
  });

  test('a block ends at its own closing tag only', () => {
    expect(visible('<think>a</thinking>b</think>c')).toEqual(['c']);
  });

  test('an unclosed block reaches to the end', () => {
    expect(visible('a<think>b')).toEqual(['a']);
    expect(visible('<think>b')).toEqual([]);
  });

  test('what stands before a lone closing tag was thinking', () => {
    expect(visible('a</think>b')).toEqual(['b']);
    expect(visible('a</think>b</think>c')).toEqual(['c']);
  });

  test('a tag inside a JSON string is content', () => {
    const text = '{"a": "<think>"} and {"b": "</think>"}';
    expect(visible(text)).toEqual([text]);
  });

  test('quotation marks in prose make no JSON string', () => {
    expect(visible('He said "so <think>x</think> yes"')).toEqual(['He said "so ', ' yes"']);
  });

  test('inside a block JSON strings do not count', () => {
    expect(visible('<think>{"a": "</think>b')).toEqual(['b']);
  });

  test('words that only look like tags are left alone', () => {
    expect(visible('<thinker>a</thinker> < think > <think-aloud>')).toEqual([
      '<thinker>a</thinker> < think > <think-aloud>',
    ]);
  });

  test('many tags cost no more than their length', () => {
    expect(visible('<think></think>'.repeat(50_000))).toEqual([]);
    expect(visible('<think>'.repeat(100_000))).toEqual([]);
    expect(visible('</think>'.repeat(100_000))).toEqual([]);
  });
});

describe('harmony', () => {
  test('the messages of the final channel are visible', () => {
    expect(
      visible('<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>'),
    ).toEqual(['b']);
  });

  test('without a final channel the commentary is', () => {
    expect(visible('<|channel|>analysis<|message|>a<|end|><|channel|>commentary to=f<|message|>b<|call|>')).toEqual([
      'b',
    ]);
  });

  test('the analysis never is', () => {
    expect(visible('<|channel|>analysis<|message|>a')).toEqual([]);
  });

  test('several final messages are several regions', () => {
    expect(visible('<|channel|>final<|message|>a<|end|><|channel|>final<|message|>b')).toEqual(['a', 'b']);
  });

  test('markers inside JSON strings are content', () => {
    const text = '{"a": "<|channel|>final<|message|>x"}';
    expect(visible(text)).toEqual([text]);
  });
});
