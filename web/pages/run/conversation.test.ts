import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FcmpEvent } from '../../../src/events/index.js';
import { createConversation, describeItem } from './conversation.js';
import type { Conversation } from './conversation.js';
import { fcmpEvent } from './fixtures/events.js';
import { findOpenQuestion } from '../../data/read-question.js';

function readConversation(...events: FcmpEvent[]): Conversation {
  const conversation = createConversation();
  for (const event of events) conversation.append(event);
  return conversation;
}
const view = (conversation: Conversation, item: number, eventCount = conversation.events.length) =>
  describeItem(conversation, conversation.items[item] ?? { type: 'raw.stdout', events: [] }, eventCount);

test('the chunks of a message are one item, which is complete once the last chunk has arrived', () => {
  const conversation = readConversation(
    fcmpEvent('assistant.message.delta', { message_id: 'm', text: 'Hel' }),
    fcmpEvent('assistant.message.delta', { message_id: 'm', text: 'lo' }),
    fcmpEvent('assistant.message.final', { message_id: 'm', text: 'Hello.', structured_payload: { a: 1 } }),
  );
  expect(conversation.items).toHaveLength(1);
  expect(view(conversation, 0, 1)).toMatchObject({ text: 'Hel', isComplete: false });
  expect(view(conversation, 0, 2)).toMatchObject({ text: 'Hello', isComplete: false });
  expect(view(conversation, 0)).toMatchObject({ text: 'Hello.', isComplete: true, payload: { a: 1 } });
});

test('a tool call is one item with its input, output and duration', () => {
  const conversation = readConversation(
    fcmpEvent('assistant.tool_call', { tool_call_id: 't', name: 'shell', status: 'started', input: 'ls' }, { ms: 100 }),
    fcmpEvent('diagnostic.warning', { code: 'ENGINE_WARNING', message: 'slow' }, { ms: 150 }),
    fcmpEvent(
      'assistant.tool_call',
      { tool_call_id: 't', name: 'shell', status: 'completed', output: 'a' },
      { ms: 350 },
    ),
  );
  expect(conversation.items.map(({ type }) => type)).toEqual(['assistant.tool_call', 'diagnostic.warning']);
  expect(view(conversation, 0, 2)).toMatchObject({ status: 'started', input: 'ls', ms: null });
  expect(view(conversation, 0)).toMatchObject({ status: 'completed', input: 'ls', output: 'a', ms: 250 });
});

test('the same id in another attempt is another item', () => {
  const conversation = readConversation(
    fcmpEvent('assistant.tool_call', { tool_call_id: 't', name: 'shell', status: 'started' }),
    fcmpEvent('assistant.tool_call', { tool_call_id: 't', name: 'shell', status: 'started' }, { attempt: 2 }),
  );
  expect(conversation.items).toHaveLength(2);
});

test('adjacent raw lines of a stream form one item', () => {
  const conversation = readConversation(
    fcmpEvent('raw.stderr', { text: 'a' }),
    fcmpEvent('raw.stderr', { text: 'b' }),
    fcmpEvent('raw.stdout', { text: 'c' }),
    fcmpEvent('raw.stderr', { text: 'd' }),
  );
  expect(conversation.items).toHaveLength(3);
  expect(view(conversation, 0)).toMatchObject({ kind: 'raw', stream: 'stderr', lines: ['a', 'b'] });
});

test('complete reasoning replaces its partial chunks', () => {
  const conversation = readConversation(
    fcmpEvent('assistant.reasoning', { reasoning_id: 'r', text: 'Loo', partial: true }),
    fcmpEvent('assistant.reasoning', { reasoning_id: 'r', text: 'Looked.' }),
  );
  expect(view(conversation, 0, 1)).toMatchObject({ text: 'Loo', isComplete: false });
  expect(view(conversation, 0)).toMatchObject({ text: 'Looked.', isComplete: true });
});

test('an item does not exist before its first event', () => {
  const conversation = readConversation(
    fcmpEvent('raw.stdout', { text: 'a' }),
    fcmpEvent('conversation.started', { session_id: null }),
  );
  expect(view(conversation, 1, 1)).toBeNull();
  expect([conversation.countItems(0), conversation.countItems(1), conversation.countItems(2)]).toEqual([0, 1, 2]);
});

test('a clock set back does not change the order', () => {
  const conversation = readConversation(
    fcmpEvent('raw.stdout', { text: 'a' }, { ms: 500 }),
    fcmpEvent('raw.stdout', { text: 'b' }, { ms: 0 }),
  );
  expect(conversation.times[1]).toBe(conversation.times[0]);
});

test('a question is open until another event follows', () => {
  const question = fcmpEvent('user.input.required', { interaction_id: 'ix_1', kind: 'open_text', prompt: 'Which?' });
  expect(findOpenQuestion([question])).toEqual({ interactionId: 'ix_1', seq: 1, prompt: 'Which?', options: [] });
  expect(
    findOpenQuestion([question, fcmpEvent('user.input.replied', { interaction_id: 'ix_1', text: 'a' })]),
  ).toBeNull();
  expect(findOpenQuestion([])).toBeNull();
});

test('a question that no one can answer is never open', () => {
  const data = { interaction_id: 'ix_1', kind: 'open_text', prompt: 'Which?', answerable: false } as const;
  const conversation = readConversation(fcmpEvent('user.input.required', data, { seq: 1 }));
  expect(view(conversation, 0, 1)).toMatchObject({ kind: 'question', isOpen: false, isAnswerable: false });
  expect(conversation.hasOpenQuestion(1)).toBe(false);
});

test('a permission request is open until it is answered, even if other events follow', () => {
  const options = [{ id: 'yes', label: 'Allow', kind: 'allow_once' }];
  const request = { interaction_id: 'px_1_1', tool_call_id: 'c', tool: 'edit', input: {}, options };
  const answer = { interaction_id: 'px_1_1', decision: 'allow', option_id: 'yes', by: 'person' };
  const conversation = readConversation(
    fcmpEvent('permission.required', request, { seq: 1 }),
    fcmpEvent('raw.stdout', { text: 'x' }, { seq: 2 }),
    fcmpEvent('permission.replied', answer, { seq: 3 }),
  );
  const isOpenAfter = [1, 2, 3].map((eventCount) => view(conversation, 0, eventCount));
  expect(isOpenAfter).toMatchObject([{ isOpen: true }, { isOpen: true }, { isOpen: false }]);
});

test.each([
  ['the end of the conversation', fcmpEvent('conversation.completed', { reason_code: 'DONE' }, { seq: 2 })],
  ['the next attempt', fcmpEvent('raw.stdout', { text: 'x' }, { seq: 2, attempt: 2 })],
])('an unanswered permission request is closed by %s', (_, event) => {
  const request = { interaction_id: 'px_1_1', tool_call_id: 'c', tool: 'edit', input: {}, options: [] };
  const conversation = readConversation(fcmpEvent('permission.required', request, { seq: 1 }), event);
  expect(view(conversation, 0, 1)).toMatchObject({ isOpen: true });
  expect(view(conversation, 0, 2)).toMatchObject({ isOpen: false });
});

test('every event is in exactly one item, in order', () => {
  const event = fc.oneof(
    fc.nat(3).map((id) => fcmpEvent('assistant.message.delta', { message_id: `m${id}`, text: 'x' })),
    fc
      .nat(3)
      .map((id) => fcmpEvent('assistant.tool_call', { tool_call_id: `__proto__${id}`, name: 'n', status: 'started' })),
    fc.constantFrom('raw.stdout' as const, 'raw.stderr' as const).map((type) => fcmpEvent(type, { text: 'x' })),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 150 }), (events) => {
      const { items, itemIndexes } = readConversation(...events);
      expect(items.flatMap((item) => item.events).sort((a, b) => a - b)).toEqual([...events.keys()]);
      expect(items.every((item, index) => item.events.every((one) => itemIndexes[one] === index))).toBe(true);
    }),
  );
});
