import { expect, test } from 'vitest';
import { createConversation } from './conversation.js';
import { fcmpEvent } from './fixtures/events.js';
import { chooseAdvice, findFailedTool } from './run-head.js';

test.each([
  [{ category: 'engine', code: 'ENGINE_RUNTIME_ERROR', cause: 'rate_limit' }, 'Wait until the provider’s rate limit'],
  [{ category: 'output', code: 'OUTPUT_NOT_VALIDATED' }, 'Compare the answer with the schema'],
  [{ category: 'process', code: 'PROCESS_EXIT_NON_ZERO', cause: 'unknown' }, 'Read the end of stderr'],
  [{ category: 'limit', code: 'SOMETHING_NEW' }, 'Raise the limit'],
] as const)('advises on %j', (error, expected) => {
  expect(chooseAdvice({ ...error, message: '' })).toContain(expected);
});

test('finds the last tool call that failed', () => {
  const conversation = createConversation();
  const call = (seq: number, id: string, status: string) =>
    fcmpEvent('assistant.tool_call', { tool_call_id: id, name: `tool ${id}`, status, kind: 'other' }, { seq });
  for (const event of [call(1, 'a', 'failed'), call(2, 'b', 'failed'), call(3, 'c', 'completed')])
    conversation.append(event);
  expect(findFailedTool(conversation)).toMatchObject({ name: 'tool b', seq: 2 });
  expect(findFailedTool(createConversation())).toBeNull();
});
