import { expect, test } from 'vitest';
import { chooseState } from './conversation-pane.js';
import type { ItemView } from './conversation.js';

const common = { seq: 1, at: 0, attempt: 1, parent: null };
const message: ItemView = { ...common, kind: 'message', text: 'Hel', isComplete: false, payload: undefined };
const question: ItemView = { ...common, kind: 'question', prompt: 'Which?', isOpen: true, isAnswerable: true };
const tool: ItemView = {
  ...common,
  kind: 'tool',
  name: 'bash',
  status: 'started',
  input: {},
  output: undefined,
  error: null,
  diff: [],
  ms: null,
};

test.each([
  ['message', message, 'Writing …', 'Cut off'],
  ['tool', tool, 'Running', 'Not finished'],
  ['question', question, 'Waiting', 'Not answered'],
])('an open %s is not shown as in progress once the run has ended', (_, view, live, over) => {
  expect(chooseState(view, false)?.label).toBe(live);
  expect(chooseState(view, true)?.label).toBe(over);
});
