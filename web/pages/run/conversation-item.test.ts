import { expect, test } from 'vitest';
import { chooseState } from './conversation-item.js';
import type { ItemView } from './describe-item.js';

const common = { seq: 1, at: 0, attempt: 1, parent: null };
const message: ItemView = { ...common, kind: 'message', text: 'Hel', isWhole: false, payload: undefined };
const question: ItemView = { ...common, kind: 'question', prompt: 'Which?', isOpen: true };
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
  ['message', message, 'writing …', 'cut off'],
  ['tool', tool, 'running', 'not finished'],
  ['question', question, 'waiting', 'not answered'],
])('an open %s is not shown as going on once the run has ended', (_, view, live, over) => {
  expect(chooseState(view, false)?.word).toBe(live);
  expect(chooseState(view, true)?.word).toBe(over);
});
