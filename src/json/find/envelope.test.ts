import { describe, expect, test } from 'vitest';
import { listEnvelopeContents } from './envelope.js';

describe('listEnvelopeContents', () => {
  test.each(['response', 'result', 'output', 'content', 'text', 'message'])('a string in the field %s', (field) => {
    expect(listEnvelopeContents({ id: 1, [field]: 'x' })).toEqual(['x']);
  });

  test('a string is an envelope around its content', () => {
    expect(listEnvelopeContents('{"a": 1}')).toEqual(['{"a": 1}']);
  });

  test('an object in a field is listed, and searched too', () => {
    expect(listEnvelopeContents({ result: { text: 'x' } })).toEqual([{ text: 'x' }, 'x']);
  });

  test('the more specific field comes first', () => {
    expect(listEnvelopeContents({ message: 'm', text: 't', response: 'r', result: 's' })).toEqual(['r', 's', 't', 'm']);
  });

  test('content blocks are joined, then tried one by one, last first', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(listEnvelopeContents({ content })).toEqual(['ab', 'b', 'a']);
  });

  test('skips user, system and tool messages', () => {
    for (const role of ['user', 'system', 'tool', 'developer'])
      expect(listEnvelopeContents({ role, content: 'x' })).toEqual([]);
    expect(listEnvelopeContents([{ type: 'tool_result', content: 'x' }])).toEqual([]);
  });

  test.each([
    [{ choices: [{ message: { content: 'x' } }] }],
    [{ candidates: [{ content: { parts: [{ text: 'x' }] } }] }],
    [{ type: 'item.completed', item: { type: 'agent_message', text: 'x' } }],
    [{ type: 'text', part: { type: 'text', text: 'x' } }],
    [{ tool_calls: [{ function: { arguments: 'x' } }] }],
  ])('finds the content in %j', (value) => {
    expect(listEnvelopeContents(value)).toContain('x');
  });

  test.each([[null], [1], [true], [{}], [[]], [{ other: 'x' }], [{ response: 1 }]])('finds nothing in %j', (value) => {
    expect(listEnvelopeContents(value)).toEqual([]);
  });

  test('ignores fields of the prototype', () => {
    expect(listEnvelopeContents(Object.create({ response: 'x' }))).toEqual([]);
  });

  test('the search is bounded in depth and number', () => {
    let deep: unknown = { text: 'x' };
    for (let level = 0; level < 100; level++) deep = { data: deep };
    expect(listEnvelopeContents(deep)).toEqual([]);
    const wide = { messages: Array.from({ length: 10_000 }, (_, index) => ({ content: String(index) })) };
    expect(listEnvelopeContents(wide).length).toBeLessThan(100);
  });
});
