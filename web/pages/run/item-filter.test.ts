import { describe, expect, test } from 'vitest';
import type { FcmpEvent } from '../../../src/events/index.js';
import { summarizeAttempts } from './run-details.js';
import { createConversation } from './conversation.js';
import { fcmpEvent } from './fixtures/events.js';
import { readFileChanges } from '../../../src/base/index.js';
import { createItemFilter, findKind, findNextError } from './item-filter.js';
import { addRoom, hasOpenItem, listMarks, measureBar, getItemName } from './timeline-pane.js';

const START = Date.UTC(2026, 10, 15, 10);

/** Builds a conversation with a message, a tool that fails, a sub-agent, a question and its answer. */
function buildConversation() {
  const conversation = createConversation();
  const tool = { tool_call_id: 't1', name: 'bash' };
  const events = [
    fcmpEvent('conversation.started', { session_id: 's' }, { seq: 1, ms: 0 }),
    fcmpEvent('assistant.message.final', { message_id: 'm1', text: 'I look.' }, { seq: 2, ms: 100 }),
    fcmpEvent('assistant.tool_call', { ...tool, status: 'started', input: { command: 'cat x' } }, { seq: 3, ms: 200 }),
    fcmpEvent(
      'assistant.message.final',
      { message_id: 'm2', text: 'Sub.', parent_tool_call_id: 't1' },
      { seq: 4, ms: 300 },
    ),
    fcmpEvent('assistant.tool_call', { ...tool, status: 'failed', error: 'No such FILE' }, { seq: 5, ms: 500 }),
    fcmpEvent('user.input.required', { interaction_id: 'q', prompt: 'Which?', kind: 'open_text' }, { seq: 6, ms: 600 }),
    fcmpEvent('user.input.replied', { interaction_id: 'q', text: 'Blue.' }, { seq: 7, ms: 1600, attempt: 2 }),
    fcmpEvent('assistant.message.final', { message_id: 'm3', text: 'Blue it is.' }, { seq: 8, ms: 1700, attempt: 2 }),
  ];
  for (const event of events) conversation.append(event);
  return conversation;
}

describe('the items of a run', () => {
  test('each have a kind', () => {
    const conversation = buildConversation();
    expect(conversation.items.map((item) => findKind(conversation, item))).toEqual([
      'other',
      'messages',
      'tools',
      'sub-agents',
      'questions',
      'questions',
      'messages',
    ]);
  });

  test('are filtered by kind, errors and text, including items that arrive later', () => {
    const conversation = buildConversation();
    const tasks: (() => void)[] = [];
    const filter = createItemFilter(
      conversation,
      () => undefined,
      (run) => void tasks.push(run),
    );
    const list = (): readonly number[] => {
      for (let run = tasks.shift(); run !== undefined; run = tasks.shift()) run();
      const visible = filter.shown(conversation.items.length);
      return Array.from({ length: visible.count }, (_, position) => visible.itemAt(position));
    };
    expect(list()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    filter.set({ errorsOnly: true });
    expect(list()).toEqual([2]);
    filter.set({ errorsOnly: false, text: 'file' });
    expect(list()).toEqual([2]);
    filter.set({ text: '', kind: 'messages' });
    expect(list()).toEqual([1, 6]);
    expect(filter.shown(5).count).toBe(1);
    expect(filter.shown(9).findPosition(6)).toBe(1);
    conversation.append(
      fcmpEvent('assistant.message.final', { message_id: 'm4', text: 'Done.' }, { seq: 9, ms: 1800 }),
    );
    filter.update();
    expect(list()).toEqual([1, 6, 7]);
    filter.set({ kind: null, text: '.*' });
    expect(list()).toEqual([]);
  });

  test('are filtered again when they grow', () => {
    const conversation = createConversation();
    const filter = createItemFilter(
      conversation,
      () => undefined,
      (run) => run(),
    );
    const append = (seq: number, type: FcmpEvent['type'], data: object): void => {
      conversation.append(fcmpEvent(type, data, { seq }));
      filter.update();
    };
    const list = (): readonly number[] => {
      const visible = filter.shown(conversation.items.length);
      return Array.from({ length: visible.count }, (_, position) => visible.itemAt(position));
    };
    filter.set({ errorsOnly: true });
    append(1, 'assistant.tool_call', {
      tool_call_id: 't',
      name: 'bash',
      status: 'started',
      input: { command: 'make' },
    });
    append(2, 'diagnostic.warning', { code: 'X', message: 'Unknown field.' });
    expect(list()).toEqual([1]);
    append(3, 'assistant.tool_call', { tool_call_id: 't', name: 'bash', status: 'failed', error: 'exit code 2' });
    expect(list()).toEqual([0, 1]);

    filter.set({ errorsOnly: false, text: 'blue' });
    append(4, 'assistant.message.delta', { message_id: 'm', text: 'It is' });
    expect(list()).toEqual([]);
    append(5, 'assistant.message.delta', { message_id: 'm', text: ' blue' });
    append(6, 'assistant.message.delta', { message_id: 'm', text: ', not blueish' });
    expect(list()).toEqual([2]);

    filter.set({ errorsOnly: true, text: 'ls' });
    append(7, 'assistant.tool_call', { tool_call_id: 'u', name: 'bash', status: 'started', input: { command: 'ls' } });
    append(8, 'assistant.tool_call', { tool_call_id: 'u', name: 'bash', status: 'failed', error: 'exit code 1' });
    expect(list()).toEqual([3]);
  });

  test('are searched for the next error, wrapping around at the end', () => {
    const conversation = buildConversation();
    expect(findNextError(conversation, null, 1)).toBe(2);
    expect(findNextError(conversation, 2, 1)).toBe(2);
    expect(findNextError(conversation, 4, -1)).toBe(2);
    expect(findNextError(createConversation(), null, 1)).toBeNull();
  });

  test('are placed on the axis: tools from start to end, waits until the answer, messages since the previous item', () => {
    const conversation = buildConversation();
    const bars = conversation.items.map((item) => {
      const { from, to } = measureBar(conversation, item, conversation.events.length, {
        start: START - 700,
        end: START + 2000,
      });
      return [from - START, to - START];
    });
    // The first bar starts with the run.
    expect(bars).toEqual([
      [-700, 0],
      [0, 100],
      [200, 500],
      [200, 300],
      [600, 1600],
      [1600, 1600],
      [1600, 1700],
    ]);
    const tool = conversation.items[2];
    const open = tool && measureBar(conversation, tool, 3, { start: START, end: START + 400 });
    expect(open).toEqual({ from: START + 200, to: START + 400, isOpen: true });
    expect([hasOpenItem(conversation, 3), hasOpenItem(conversation, conversation.events.length)]).toEqual([
      true,
      false,
    ]);
    expect(conversation.items.map((item) => getItemName(conversation, item))).toContain('bash cat x');
  });

  test('include a permission request whose bar grows until it is answered', () => {
    const conversation = createConversation();
    const request = { interaction_id: 'px_1_1', tool_call_id: 'c', tool: 'edit', input: {}, options: [] };
    const answer = { interaction_id: 'px_1_1', decision: 'allow', option_id: 'yes', by: 'person' };
    conversation.append(fcmpEvent('conversation.started', { session_id: 's' }, { seq: 1, ms: 0 }));
    conversation.append(fcmpEvent('permission.required', request, { seq: 2, ms: 100 }));
    conversation.append(fcmpEvent('raw.stdout', { text: 'x' }, { seq: 3, ms: 200 }));
    conversation.append(fcmpEvent('permission.replied', answer, { seq: 4, ms: 900 }));
    const item = conversation.items[1] ?? { type: 'raw.stdout', events: [] };
    const measure = (eventCount: number, end: number) =>
      measureBar(conversation, item, eventCount, { start: START, end: START + end });
    expect(measure(3, 500)).toEqual({ from: START + 100, to: START + 500, isOpen: true });
    expect(measure(4, 1000)).toEqual({ from: START + 100, to: START + 900, isOpen: false });
    expect([3, 4].map((eventCount) => hasOpenItem(conversation, eventCount))).toEqual([true, false]);
  });

  test('are compared attempt by attempt', () => {
    expect(summarizeAttempts(buildConversation())).toMatchObject([
      { attempt: 1, messages: 2, tools: 1, failedTools: 1, end: 'Asked a question', reply: null },
      { attempt: 2, messages: 1, tools: 0, reply: 'Blue.', lastText: 'Blue it is.' },
    ]);
  });

  test('are compared up to the last one, however many there are', () => {
    const conversation = createConversation();
    for (let attempt = 1; attempt <= 25; attempt += 1) {
      const place = { seq: attempt, ms: attempt, attempt };
      conversation.append(fcmpEvent('user.input.replied', { text: `Answer ${attempt}` }, place));
    }
    const attempts = summarizeAttempts(conversation);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, index) => index + 6));
    expect(attempts.at(-1)?.reply).toBe('Answer 25');
  });
});

test('an axis has room for an open bar to grow', () => {
  expect([addRoom(0, 1000), addRoom(0, 100_000)]).toEqual([6000, 125_000]);
});

test.each([0, 1, 999, 3500, 90_000, 7_200_000, 999_999_999])('an axis of %d ms has a few round labels', (length) => {
  const marks = listMarks(length);
  expect(marks.length).toBeGreaterThan(0);
  expect(marks.length).toBeLessThanOrEqual(12);
  expect(marks[0]).toEqual({ at: 0, ms: 0 });
  expect(marks.every(({ at }) => at <= 1)).toBe(true);
});

describe('a file change', () => {
  test('is read from a diff, an edit or a new file', () => {
    expect(readFileChanges({}, [{ path: 'a', old_text: null, new_text: 'x' }])).toEqual([
      { path: 'a', lines: [{ kind: 'added', text: 'x' }] },
    ]);
    expect(readFileChanges({ file_path: 'a', old_string: 'x', new_string: 'y' })).toMatchObject([
      { lines: [{ kind: 'removed' }, { kind: 'added' }] },
    ]);
    expect(readFileChanges({ file_path: 'a', content: 'x\ny' })).toMatchObject([{ path: 'a' }]);
    expect(readFileChanges({ input: '*** Begin Patch\n+x' })).toMatchObject([{ path: 'patch' }]);
  });

  test.each([undefined, null, 'text', {}, { path: 1 }])('is not found in input %#', (input) => {
    expect(readFileChanges(input)).toEqual([]);
  });

  test('is named, but not compared, if it is too long', () => {
    const input = { file_path: 'a', content: 'x'.repeat(300_000) };
    expect(readFileChanges(input)).toEqual([{ path: 'a', lines: [], isPartial: true }]);
  });
});
