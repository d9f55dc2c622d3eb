import { expect, test } from 'vitest';
import { summarizeEvent } from './panes.js';
import { raspEvent } from './fixtures/events.js';

test.each<[string, object, string]>([
  ['a text', { message_id: 'm', text: 'Hello\n  world' }, 'Hello world'],
  [
    'a tool call with its input',
    { tool_call_id: 't', name: 'shell', input: { command: 'ls' } },
    'shell: { "command": "ls" }',
  ],
  ['a tool call without input', { tool_call_id: 't', name: 'shell' }, 'shell'],
  ['the message of an error', { error: { category: 'process', code: 'X', message: 'exit 1' }, exit_code: 1 }, 'exit 1'],
  ['a path', { path: 'src/a.ts', made_by: null }, 'src/a.ts'],
  [
    'an error whose message is not a string',
    { error: { message: { toString: 1 } } },
    '{ "error": { "message": { "toString": 1 } } }',
  ],
  ['unknown data', { novel: [1, 2] }, '{ "novel": [ 1, 2 ] }'],
])('the summary of an event shows %s', (_, data, expected) => {
  expect(summarizeEvent(raspEvent({ data: data as never }))).toBe(expected);
});

test('the summary of a long event is truncated', () => {
  expect(summarizeEvent(raspEvent({ data: { text: 'x'.repeat(100_000) } })).length).toBeLessThan(260);
});
