import { expect, test } from 'vitest';
import { codex, toBytes } from '../../events/contract/translate-lines.contract.js';
import { createTranslator } from '../../events/index.js';
import { AnswerCollector } from './answer.js';

const claude = (text: string, parent: string | null = null) => ({
  type: 'assistant',
  parent_tool_use_id: parent,
  session_id: 's',
  message: { id: `msg_${text}`, role: 'assistant', content: [{ type: 'text', text }] },
});

function collect(
  engine: 'codex' | 'claude' | 'generic',
  lines: readonly (object | string)[],
  source?: 'stdout',
): AnswerCollector {
  const translator = createTranslator({ engine, runId: 'r', attempt: 1 });
  const answer = new AnswerCollector(source ?? 'messages');
  const bytes = toBytes(lines);
  answer.addBytes('stdout', bytes);
  answer.addBytes('stderr', toBytes(['noise']));
  answer.addEvents(translator.push('stdout', bytes));
  answer.addEvents(translator.drain().events);
  return answer;
}

test('the last complete message is the answer', () => {
  expect(collect('codex', [codex.message('first'), codex.message('last', 'item_1')]).text).toBe('last');
});

test('all messages, but none of a sub-agent, are the comment', () => {
  const lines = [claude('I look.'), claude('of a helper', 'toolu_1'), claude('I looked.'), claude('It is fine.')];
  expect(collect('claude', lines).comment).toBe('I look.\n\nI looked.\n\nIt is fine.');
  expect(collect('generic', ['one', 'two'], 'stdout').comment).toBe('one\ntwo\n');
  expect(collect('codex', []).comment).toBe('');
});

test('a sub-agent’s message is not the answer', () => {
  expect(collect('claude', [claude('mine'), claude('of a helper', 'toolu_1')]).text).toBe('mine');
});

test('the engine’s structured field is the answer', () => {
  const result = { type: 'result', subtype: 'success', is_error: false, session_id: 's', result: 'Here.' };
  expect(collect('claude', [claude('Here.'), { ...result, structured_output: { a: 1 } }]).text).toBe('{"a":1}');
});

test('the entire stdout of a plain command is its answer', () => {
  const answer = collect('generic', ['', 'one', '', 'two'], 'stdout');
  expect(answer.text).toBe('\none\n\ntwo\n');
  expect(answer.lastText.text).toBe('one\n\ntwo');
});

test('an agent that prints nothing has an empty answer', () => {
  expect(collect('codex', []).text).toBe('');
  expect(collect('codex', []).lastText.text).toBeUndefined();
});

test('an answer longer than the limit is kept just long enough to be rejected', () => {
  const answer = new AnswerCollector('stdout');
  const block = new Uint8Array(1024 * 1024).fill(0x20);
  for (let count = 0; count < 70; count++) answer.addBytes('stdout', block);
  expect(answer.text).toHaveLength(64 * 1024 * 1024 + 1);
});
