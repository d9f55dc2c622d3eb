import { EventSchemas } from '@ag-ui/core/schemas';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyConversation, createConversation } from '../fixtures/conversation.js';
import type { EventContent } from '../fixtures/conversation.js';
import type { AgUiEvent } from './ag-ui-event.js';
import { createAgUiProjection, toAgUi } from './ag-ui.js';
import { listBrokenRules } from './fixtures/ag-ui-rules.js';

const started: EventContent = { type: 'conversation.started', data: { session_id: 's-1' } };
const completed: EventContent = {
  type: 'conversation.completed',
  data: { state: 'completed', reason_code: 'DONE_MARKER_FOUND' },
};
const final = (message_id: string, text: string): EventContent => ({
  type: 'assistant.message.final',
  data: { message_id, text },
});
const delta = (message_id: string, text: string): EventContent => ({
  type: 'assistant.message.delta',
  data: { message_id, text },
});

const failed = (category: 'engine' | 'canceled'): EventContent => ({
  type: 'conversation.failed',
  data: {
    error: { category, code: 'ENGINE_RUNTIME_ERROR', message: 'quota' },
    usage: { scope: 'total', input_tokens: 3, output_tokens: 4, cached_input_tokens: 1 },
  },
});

/** Returns the events without their timestamps. */
function omitTimestamps(events: readonly AgUiEvent[]): object[] {
  return events.map((event) => Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'timestamp')));
}

function joinText(events: readonly AgUiEvent[], messageId: string): string {
  return events
    .map((event) => (event.type === 'TEXT_MESSAGE_CONTENT' && event.messageId === messageId ? event.delta : ''))
    .join('');
}

describe('toAgUi', () => {
  test('an attempt is a run of the thread, which is the Sluice run', () => {
    expect(omitTimestamps(toAgUi(createConversation([started, final('m_1_1', 'Hello.'), completed])))).toEqual([
      { type: 'RUN_STARTED', threadId: 'run-1', runId: 'run-1:1', protocolVersion: '1.0' },
      { type: 'CUSTOM', name: 'conversation.started', value: { session_id: 's-1' } },
      { type: 'TEXT_MESSAGE_START', messageId: 'm_1_1', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm_1_1', delta: 'Hello.' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm_1_1' },
      { type: 'RUN_FINISHED', threadId: 'run-1', runId: 'run-1:1', outcome: { type: 'success' } },
    ]);
  });

  test('a prompt is a message of the user; the durations of a tool and of the conversation are kept', () => {
    const call = { tool_call_id: 't', name: 'shell', status: 'completed', duration_ms: 5 } as const;
    const end = { state: 'completed', reason_code: 'CLEAN_END', duration_ms: 9 } as const;
    const events = toAgUi(
      createConversation([
        { type: 'user.message', data: { text: 'Go.' } },
        { type: 'assistant.tool_call', data: call },
        { type: 'conversation.completed', data: end },
      ]),
    );
    expect(joinText(events, 'user_1')).toBe('Go.');
    expect(events).toContainEqual(expect.objectContaining({ type: 'TOOL_CALL_RESULT', metadata: { duration_ms: 5 } }));
    expect(events).toContainEqual(expect.objectContaining({ type: 'CUSTOM', value: end }));
    for (const event of events) expect(EventSchemas.safeParse(event).success).toBe(true);
  });

  test('includes the time of each event in milliseconds', () => {
    const [event] = createConversation([started]);
    expect(toAgUi(event === undefined ? [] : [event])[0]?.timestamp).toBe(Date.parse(event?.ts ?? ''));
  });

  test('a final that follows its deltas adds only what they lack', () => {
    const events = toAgUi(
      createConversation([delta('m', 'Hel'), delta('m', ''), delta('m', 'lo'), final('m', 'Hello.'), completed]),
    );
    expect(joinText(events, 'm')).toBe('Hello.');
    expect(events.filter((event) => event.type === 'TEXT_MESSAGE_START')).toHaveLength(1);
  });

  test('a final that only trims its deltas adds nothing', () => {
    const events = toAgUi(createConversation([delta('m', ' Hello \n'), final('m', 'Hello'), completed]));
    expect(joinText(events, 'm')).toBe(' Hello \n');
    expect(events.some((event) => event.type === 'CUSTOM')).toBe(false);
  });

  test('a final that contradicts its deltas does not repeat them and is reported in full separately', () => {
    const events = toAgUi(createConversation([delta('m', 'Hullo'), final('m', 'Hello'), completed]));
    expect(joinText(events, 'm')).toBe('Hullo');
    expect(omitTimestamps(events)).toContainEqual({
      type: 'CUSTOM',
      name: 'assistant.message.final',
      value: { message_id: 'm', text: 'Hello' },
    });
  });

  test('a tool call has its arguments, then its result', () => {
    const call = { tool_call_id: 't', name: 'Bash' };
    const events = toAgUi(
      createConversation([
        { type: 'assistant.tool_call', data: { ...call, status: 'started', input: { command: 'ls' } } },
        { type: 'assistant.tool_call', data: { ...call, status: 'completed', output: { files: 2 } } },
        completed,
      ]),
    );
    expect(omitTimestamps(events).slice(1, -1)).toEqual([
      { type: 'TOOL_CALL_START', toolCallId: 't', toolCallName: 'Bash' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 't', delta: '{"command":"ls"}' },
      { type: 'TOOL_CALL_END', toolCallId: 't' },
      { type: 'TOOL_CALL_RESULT', messageId: 't_result', toolCallId: 't', content: '{"files":2}', role: 'tool' },
    ]);
  });

  test('arguments that are known only at the end still come before it', () => {
    const call = { tool_call_id: 't', name: 'Bash' };
    const events = toAgUi(
      createConversation([
        { type: 'assistant.tool_call', data: { ...call, status: 'started' } },
        { type: 'assistant.tool_call', data: { ...call, status: 'failed', input: {}, error: 'denied', output: 'log' } },
        completed,
      ]),
    );
    expect(omitTimestamps(events).slice(1, -1)).toEqual([
      { type: 'TOOL_CALL_START', toolCallId: 't', toolCallName: 'Bash' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 't', delta: '{}' },
      { type: 'TOOL_CALL_END', toolCallId: 't' },
      {
        type: 'TOOL_CALL_RESULT',
        messageId: 't_result',
        toolCallId: 't',
        content: 'denied\nlog',
        role: 'tool',
        metadata: { error: 'denied' },
      },
    ]);
  });

  test('an unfinished tool call ends with an error, so no client is expected to answer it', () => {
    const events = toAgUi(
      createConversation([
        { type: 'assistant.tool_call', data: { tool_call_id: 't', name: 'Bash', status: 'started' } },
        completed,
      ]),
    );
    expect(events.map((event) => event.type)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_START',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
      'RUN_FINISHED',
    ]);
  });

  test('reasoning is a separate span, in full or in chunks', () => {
    const events = toAgUi(
      createConversation([
        { type: 'assistant.reasoning', data: { reasoning_id: 'r', text: 'Let me ', partial: true } },
        { type: 'assistant.reasoning', data: { reasoning_id: 'r', text: 'Let me see.' } },
        completed,
      ]),
    );
    expect(omitTimestamps(events).slice(1, -1)).toEqual([
      { type: 'REASONING_START', messageId: 'reasoning_1_r' },
      { type: 'REASONING_MESSAGE_START', messageId: 'reasoning_1_r', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'reasoning_1_r', delta: 'Let me ' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'reasoning_1_r', delta: 'see.' },
      { type: 'REASONING_MESSAGE_END', messageId: 'reasoning_1_r' },
      { type: 'REASONING_END', messageId: 'reasoning_1_r' },
    ]);
  });

  test('a sub-agent’s messages have its name and end with the call that started it', () => {
    const call = { tool_call_id: 't', name: 'Task' };
    const events = toAgUi(
      createConversation([
        { type: 'assistant.tool_call', data: { ...call, status: 'started', input: {} } },
        { type: 'assistant.message.delta', data: { message_id: 'm', text: 'I look', parent_tool_call_id: 't' } },
        { type: 'assistant.tool_call', data: { ...call, status: 'completed', output: 'seen' } },
        completed,
      ]),
    );
    expect(omitTimestamps(events).slice(4, -1)).toEqual([
      { type: 'SUBAGENT_STARTED', subagentRunId: 'subagent_1_1', name: 'Task', parentToolCallId: 't' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant', subagentRunId: 'subagent_1_1' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'I look', subagentRunId: 'subagent_1_1' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm', subagentRunId: 'subagent_1_1' },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 'subagent_1_1' },
      { type: 'TOOL_CALL_RESULT', messageId: 't_result', toolCallId: 't', content: 'seen', role: 'tool' },
    ]);
  });

  test('a turn that waits for the user is an interrupt, and the answer opens the next run', () => {
    const events = toAgUi(
      createConversation(
        [
          {
            type: 'user.input.required',
            data: { interaction_id: 'ix_1', kind: 'open_text', prompt: 'Which?', options: ['a', 'b'] },
          },
        ],
        [{ type: 'user.input.replied', data: { interaction_id: 'ix_1', text: 'a' } }, completed],
      ),
    );
    expect(omitTimestamps(events)).toEqual([
      { type: 'RUN_STARTED', threadId: 'run-1', runId: 'run-1:1', protocolVersion: '1.0' },
      {
        type: 'RUN_FINISHED',
        threadId: 'run-1',
        runId: 'run-1:1',
        outcome: {
          type: 'interrupt',
          interrupts: [
            {
              id: 'ix_1',
              reason: 'user_input_required',
              message: 'Which?',
              responseSchema: { type: 'string', enum: ['a', 'b'] },
            },
          ],
        },
      },
      { type: 'RUN_STARTED', threadId: 'run-1', runId: 'run-1:2', protocolVersion: '1.0' },
      { type: 'TEXT_MESSAGE_START', messageId: 'ix_1_reply', role: 'user' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'ix_1_reply', delta: 'a' },
      { type: 'TEXT_MESSAGE_END', messageId: 'ix_1_reply' },
      { type: 'RUN_FINISHED', threadId: 'run-1', runId: 'run-1:2', outcome: { type: 'success' } },
    ]);
  });

  test('tool ids that a later attempt reuses are kept distinct', () => {
    const call: EventContent = {
      type: 'assistant.tool_call',
      data: { tool_call_id: 'item_1', name: 'Bash', status: 'completed' },
    };
    const ids = toAgUi(createConversation([call], [call])).flatMap((event) =>
      event.type === 'TOOL_CALL_START' ? [event.toolCallId] : [],
    );
    expect(ids).toEqual(['item_1', '2:item_1']);
  });

  test('a failure is an error with its code and usage, a cancellation is not an error', () => {
    const usage = [{ inputTokens: 3, outputTokens: 4, totalTokens: 7, cachedInputTokens: 1 }];
    expect(omitTimestamps(toAgUi(createConversation([failed('engine')]))).at(-1)).toEqual({
      type: 'RUN_ERROR',
      message: 'quota',
      code: 'ENGINE_RUNTIME_ERROR',
      usage,
    });
    expect(omitTimestamps(toAgUi(createConversation([failed('canceled')]))).at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'cancelled' },
      usage,
    });
  });

  test('an attempt whose end is unknown is an error', () => {
    const events = toAgUi(createConversation([started], [started]));
    expect(omitTimestamps(events).filter((event) => 'code' in event)).toEqual([
      { type: 'RUN_ERROR', message: 'It is unknown how this attempt ended.', code: 'INSUFFICIENT_EVIDENCE' },
      { type: 'RUN_ERROR', message: 'It is unknown how this attempt ended.', code: 'INSUFFICIENT_EVIDENCE' },
    ]);
  });

  test.each(['OUTPUT_RETRIED', 'WORKER_LOST'] as const)(
    'an attempt that ends with %s and is followed by another is an error with that code',
    (code) => {
      const warning: EventContent = { type: 'diagnostic.warning', data: { code, message: 'Next.' } };
      const events = omitTimestamps(toAgUi(createConversation([started, warning], [started, completed])));
      expect(events.slice(2, 5)).toEqual([
        { type: 'CUSTOM', name: 'diagnostic.warning', value: { code, message: 'Next.' } },
        { type: 'RUN_ERROR', message: 'Next.', code },
        { type: 'RUN_STARTED', threadId: 'run-1', runId: 'run-1:2', protocolVersion: '1.0' },
      ]);
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    },
  );

  test('an attempt that ends while permission requests are open is an interrupt for each of them', () => {
    const options = [
      { id: 'yes', label: 'Allow', kind: 'allow_once' },
      { id: 'no', label: 'Deny', kind: 'reject_once' },
    ] as const;
    const ask = (interaction_id: string): EventContent => ({
      type: 'permission.required',
      data: { interaction_id, tool_call_id: 't', tool: 'Bash', input: {}, options },
    });
    const reply: EventContent = {
      type: 'permission.replied',
      data: { interaction_id: 'ix_1', decision: 'allow', option_id: 'yes', by: 'rule' },
    };
    const pending: EventContent = {
      type: 'diagnostic.warning',
      data: { code: 'PERMISSION_PENDING', message: 'It waits.' },
    };
    const events = toAgUi(createConversation([started, ask('ix_1'), reply, ask('ix_2'), pending]));
    expect(events.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: {
        type: 'interrupt',
        interrupts: [
          {
            id: 'ix_2',
            reason: 'permission_required',
            message: 'Permission required: Bash',
            responseSchema: { type: 'string', enum: ['yes', 'no'] },
          },
        ],
      },
    });
    for (const event of events) expect(EventSchemas.parse(event)).toEqual(event);
    // Without a known request there is nothing to answer.
    expect(toAgUi(createConversation([started, pending])).at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'PERMISSION_PENDING',
    });
  });

  test('no events become no events', () => {
    expect(toAgUi([])).toEqual([]);
  });

  test('for any FCMP events, the AG-UI events are valid and in legal order', () => {
    fc.assert(
      fc.property(anyConversation, (events) => {
        const translated = toAgUi(events);
        expect(listBrokenRules(translated)).toEqual([]);
        for (const event of translated) expect(EventSchemas.parse(event)).toEqual(event);
      }),
    );
  });

  test('events projected one at a time are the same as all together', () => {
    fc.assert(
      fc.property(anyConversation, (events) => {
        const projection = createAgUiProjection();
        expect([...events.flatMap((event) => projection.push(event)), ...projection.end()]).toEqual(toAgUi(events));
      }),
    );
  });
});

describe('the ordering rules', () => {
  test('are violated by a projection that omits an end', () => {
    const events = toAgUi(createConversation([final('m', 'x'), completed]));
    expect(listBrokenRules(events.filter((event) => event.type !== 'TEXT_MESSAGE_END'))).toEqual([
      'the run ends while open: text m',
    ]);
    expect(listBrokenRules(events.slice(1))).toContain('TEXT_MESSAGE_START outside a run');
  });
});
