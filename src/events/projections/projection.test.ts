import { expect, test } from 'vitest';
import { toAcp } from './acp/acp.js';
import { toAgUi } from './ag-ui/ag-ui.js';
import { createConversation } from './fixtures/conversation.js';
import type { EventContent } from './fixtures/conversation.js';

const completed: EventContent = {
  type: 'conversation.completed',
  data: { state: 'completed', reason_code: 'DONE_MARKER_FOUND' },
};

// Enough closing events to overflow the stack if passed as arguments of one call.
test.each([
  ['AG-UI', toAgUi, 70_000],
  ['ACP', toAcp, 140_000],
])(
  '%s closes any number of items that a malicious agent leaves open',
  (_, project, COUNT) => {
    const started = Array.from({ length: COUNT }, (_none, index): EventContent => ({
      type: 'assistant.tool_call',
      data: { tool_call_id: `c${index}`, name: 'bash', status: 'started' },
    }));
    expect(project(createConversation([...started, completed])).length).toBeGreaterThan(2 * COUNT);
  },
  30_000,
);

test('AG-UI closes any number of items that a malicious sub-agent leaves open', { timeout: 30_000 }, () => {
  const COUNT = 70_000;
  const task = { tool_call_id: 'task', name: 'agent' };
  const inner = Array.from({ length: COUNT }, (_none, index): EventContent => ({
    type: 'assistant.tool_call',
    data: { tool_call_id: `c${index}`, name: 'bash', status: 'started', parent_tool_call_id: 'task' },
  }));
  const conversation: readonly EventContent[] = [
    { type: 'assistant.tool_call', data: { ...task, status: 'started' } },
    ...inner,
    { type: 'assistant.tool_call', data: { ...task, status: 'completed' } },
    completed,
  ];
  expect(toAgUi(createConversation(conversation)).length).toBeGreaterThan(2 * COUNT);
});
