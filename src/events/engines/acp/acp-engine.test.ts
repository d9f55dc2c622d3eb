import { describe, expect, it } from 'vitest';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { expectCovered, selectFcmp } from '../../contract/emitted-invariants.contract.js';
import type { FcmpData, FcmpType } from '../../protocol/fcmp-event.js';
import { createTranslator } from '../../translator.js';

describeEngineContract('acp', new URL('./fixtures/', import.meta.url));

type Line = readonly ['>' | '<', object | string];

const encoder = new TextEncoder();

/** Translates a conversation: `>` marks messages to the agent, `<` messages from it. */
function translateConversation(lines: readonly Line[], options: { readonly sessionId?: string } = {}) {
  const translator = createTranslator({
    engine: 'acp',
    runId: 'r',
    attempt: 1,
    mode: 'auto',
    clock: () => 0,
    ...options,
  });
  const emitted = lines.flatMap(([direction, line]) => {
    const text = typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line });
    return translator.push(direction === '>' ? 'stdin' : 'stdout', encoder.encode(`${text}\n`));
  });
  emitted.push(...translator.end({ exitCode: 0, signal: null, verdict: 'no_contract' }));
  expectCovered(translator.coverage());
  const fcmp = selectFcmp(emitted);
  const of = <Type extends FcmpType>(type: Type) =>
    fcmp.flatMap((event) => (event.type === type ? [event.data as FcmpData<Type>] : []));
  return { fcmp, of, warnings: of('diagnostic.warning').map(({ code }) => code) };
}

const START: readonly Line[] = [
  ['>', { id: 0, method: 'initialize', params: { protocolVersion: 1 } }],
  ['<', { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } }],
  ['>', { id: 1, method: 'session/new', params: { cwd: '/w', mcpServers: [] } }],
  ['<', { id: 1, result: { sessionId: 's1' } }],
  ['>', { id: 2, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } }],
];

const END: Line = ['<', { id: 2, result: { stopReason: 'end_turn' } }];

const sendUpdate = (fields: object): Line => [
  '<',
  { method: 'session/update', params: { sessionId: 's1', update: fields } },
];
const sendMessage = (text: string, fields: object = {}): Line =>
  sendUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...fields });

const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Deny', kind: 'reject_once' },
];
const requestPermission = (
  id: number | string,
  toolCall: object = { toolCallId: 'c1', title: 'Write a.txt', kind: 'edit' },
): Line => ['<', { id, method: 'session/request_permission', params: { sessionId: 's1', toolCall, options: OPTIONS } }];
const sendAnswer = (id: number | string, optionId: string, meta: object = {}): Line => [
  '>',
  { id, result: { outcome: { outcome: 'selected', optionId }, _meta: { sluice: meta } } },
];

describe('a turn', () => {
  it('joins the chunks of a message until the next message or the end of the turn', () => {
    const { of } = translateConversation([
      ...START,
      sendMessage('Do', { messageId: 'a' }),
      sendMessage('ne.', { messageId: 'a' }),
      sendMessage('Next', { messageId: 'b' }),
      END,
    ]);
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['Done.', 'Next']);
    expect(of('conversation.completed')).toHaveLength(1);
  });

  it('has failed if the agent stops for another reason', () => {
    const { of } = translateConversation([
      ...START,
      sendMessage('I will not.'),
      ['<', { id: 2, result: { stopReason: 'refusal' } }],
    ]);
    expect(of('conversation.failed')).toMatchObject([
      { error: { code: 'ENGINE_RUNTIME_ERROR', message: 'The agent refused to continue (refusal).' } },
    ]);
  });

  it('has failed if the agent responds with an error, and keeps its cause', () => {
    const error = { code: -32_000, message: 'Authentication required', data: { details: 'no key' } };
    const { of } = translateConversation([...START, ['<', { id: 2, error }]]);
    expect(of('diagnostic.warning')[0]).toMatchObject({ code: 'ENGINE_AUTH_HINT' });
    expect(of('conversation.failed')).toMatchObject([
      { error: { message: 'The agent refused session/prompt: Authentication required: no key' } },
    ]);
  });

  it('has not failed because of credentials if only an earlier request was rejected', () => {
    const rejectedPrompt: readonly Line[] = [
      ['>', { id: 9, method: 'authenticate', params: { methodId: 'key' } }],
      ['<', { id: 9, error: { code: -32_000, message: 'Already logged in' } }],
    ];
    const { of, warnings } = translateConversation([
      ...START.slice(0, 2),
      ...rejectedPrompt,
      ...START.slice(2),
      sendMessage('I will not.'),
      ['<', { id: 2, result: { stopReason: 'refusal' } }],
    ]);
    expect(warnings).toContain('ENGINE_AUTH_HINT');
    expect(of('conversation.failed')).toMatchObject([{ error: { code: 'ENGINE_RUNTIME_ERROR' } }]);
  });

  it('has what the agent reports about itself and its context in named fields, and nothing of what tools wrote', () => {
    const rawInput = { model: 'written', cwd: '/written' };
    const call = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Run ls', kind: 'execute', rawInput };
    const { of } = translateConversation([
      ['>', { id: 0, method: 'initialize', params: { protocolVersion: 1 } }],
      ['<', { id: 0, result: { protocolVersion: 1, agentInfo: { name: 'an-agent', version: '3' } } }],
      ['>', { id: 1, method: 'session/new', params: { cwd: '/w', mcpServers: [] } }],
      ['<', { id: 1, result: { sessionId: 's1', modes: { currentModeId: 'plan', availableModes: [] } } }],
      ['>', { id: 2, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } }],
      sendUpdate(call),
      sendUpdate({ ...call, sessionUpdate: 'tool_call_update', status: 'completed', rawOutput: { stopReason: 'x' } }),
      sendUpdate({ sessionUpdate: 'usage_update', used: 12, size: 300, _meta: { durationMs: 47 } }),
      sendMessage('ok'),
      END,
    ]);
    const statuses = of('conversation.status');
    expect(statuses).toContainEqual({ status: 'initialize', agent: { name: 'an-agent', version: '3' } });
    expect(of('conversation.started')).toMatchObject([{ mode: 'plan' }]);
    expect(statuses).toContainEqual({
      status: 'usage_update',
      context_tokens: 12,
      max_input_tokens: 300,
      duration_ms: 47,
    });
    const [started, completed] = of('assistant.tool_call');
    expect(started).toEqual({ ...completed, status: 'started', output: undefined });
    expect(started).toMatchObject({ title: 'Run ls', tool_kind: 'execute' });
    for (const name of ['model', 'workdir', 'stop_reason']) expect(completed).not.toHaveProperty(name);
  });

  it('has the usage of its steps if the agent reports it, without the usage of the turn', () => {
    const usage = { inputTokens: 5, outputTokens: 1 };
    const { of } = translateConversation([
      ...START,
      sendMessage('', { _meta: { usage } }),
      sendMessage('ok', { _meta: { usage } }),
      ['<', { id: 2, result: { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 2 } } }],
    ]);
    expect(of('conversation.completed')).toMatchObject([{ usage: { input_tokens: 10, output_tokens: 2 } }]);
  });

  it('adds the cost that the session reports', () => {
    const cost = (amount: number) =>
      sendUpdate({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } });
    const { of } = translateConversation([
      ...START,
      cost(0.25),
      cost(0.5),
      ['<', { id: 2, result: { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 2 } } }],
    ]);
    expect(of('conversation.completed')).toMatchObject([{ usage: { input_tokens: 10, cost: 0.5 } }]);
  });

  it('shows the plan', () => {
    const { of } = translateConversation([
      ...START,
      sendUpdate({ sessionUpdate: 'plan', entries: [{ content: 'Look', status: 'in_progress', priority: 'high' }] }),
      END,
    ]);
    expect(of('assistant.plan')).toEqual([{ entries: [{ content: 'Look', status: 'in_progress', priority: 'high' }] }]);
  });

  it('that is resumed does not report the history again', () => {
    const { of, fcmp } = translateConversation(
      [
        ['>', { id: 1, method: 'session/load', params: { sessionId: 's1', cwd: '/w', mcpServers: [] } }],
        sendMessage('Old answer.'),
        ['<', { id: 1, result: null }],
        ['>', { id: 2, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } }],
        sendMessage('New answer.'),
        END,
      ],
      { sessionId: 's1' },
    );
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['New answer.']);
    expect(fcmp[0]).toMatchObject({ type: 'conversation.started', data: { session_id: 's1' } });
  });
});

describe('a permission request', () => {
  it('reports the tool call, and its answer reports who decided and why', () => {
    const call = {
      toolCallId: 'c1',
      name: 'Write',
      rawInput: { file_path: 'a.txt' },
      content: [{ type: 'diff', path: 'a.txt', oldText: null, newText: 'x' }],
      locations: [{ path: 'a.txt' }],
    };
    const { of } = translateConversation([
      ...START,
      requestPermission(7, call),
      sendAnswer(7, 'yes', { by: 'rule', why: 'docs are free' }),
      END,
    ]);
    expect(of('permission.required')).toEqual([
      {
        interaction_id: 'px_1_1',
        tool_call_id: 'c1',
        tool: 'Write',
        input: { file_path: 'a.txt' },
        diff: [{ path: 'a.txt', old_text: null, new_text: 'x' }],
        locations: [{ path: 'a.txt' }],
        options: [
          { id: 'yes', label: 'Allow', kind: 'allow_once' },
          { id: 'no', label: 'Deny', kind: 'reject_once' },
        ],
      },
    ]);
    expect(of('permission.replied')).toEqual([
      { interaction_id: 'px_1_1', decision: 'allow', option_id: 'yes', by: 'rule', why: 'docs are free' },
    ]);
  });

  it('that was denied ends its call if the agent does not', () => {
    const { of } = translateConversation([
      ...START,
      requestPermission(0),
      sendAnswer(0, 'no', { by: 'person', who: 'ann', why: 'not now' }),
      END,
    ]);
    expect(of('assistant.tool_call').map(({ status, error }) => [status, error])).toEqual([
      ['started', undefined],
      ['failed', 'Permission denied: not now'],
    ]);
  });

  it('is denied by an answer without an option', () => {
    const { of } = translateConversation([
      ...START,
      requestPermission(0),
      ['>', { id: 0, result: { outcome: { outcome: 'cancelled' } } }],
      END,
    ]);
    expect(of('permission.replied')).toMatchObject([{ decision: 'deny', option_id: 'cancelled' }]);
  });

  it('causes a warning if its id is already in use', () => {
    const { of, warnings } = translateConversation([
      ...START,
      requestPermission('x'),
      requestPermission('x', { toolCallId: 'c2', title: 't' }),
      sendAnswer('x', 'no'),
      END,
    ]);
    expect(of('permission.required').map(({ interaction_id: id }) => id)).toEqual(['px_1_1', 'px_1_2']);
    expect(warnings).toContain('MALFORMED_RECORD');
  });

  it('without a tool call is kept as raw', () => {
    const { of, warnings } = translateConversation([
      ...START,
      ['<', { id: 0, method: 'session/request_permission', params: {} }],
      END,
    ]);
    expect(of('permission.required')).toEqual([]);
    expect(warnings).toEqual(['MALFORMED_RECORD', 'DONE_MARKER_MISSING']);
  });
});

describe('a tool call', () => {
  it('that is announced twice starts once, with the later input at its end', () => {
    const call = {
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      title: 'Write',
      kind: 'edit',
      status: 'pending',
      rawInput: {},
    };
    const { of } = translateConversation([
      ...START,
      sendUpdate(call),
      sendUpdate({ ...call, rawInput: { path: 'a' } }),
      sendUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed', rawOutput: 'ok' }),
      sendUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' }),
      END,
    ]);
    expect(of('assistant.tool_call')).toEqual([
      { tool_call_id: 'c1', name: 'edit', status: 'started', title: 'Write', tool_kind: 'edit' },
      { tool_call_id: 'c1', name: 'edit', status: 'completed', input: { path: 'a' }, output: 'ok' },
    ]);
  });

  it('ends under its name, without a second start, even after thousands of later calls', () => {
    const open = (id: number): Line => sendUpdate({ sessionUpdate: 'tool_call', toolCallId: `c${id}`, kind: 'read' });
    const { of, warnings } = translateConversation([
      ...START,
      ...Array.from({ length: 4097 }, (_, id) => open(id)),
      sendUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 'c0', status: 'completed' }),
      END,
    ]);
    expect(of('assistant.tool_call').filter(({ tool_call_id: id }) => id === 'c0')).toEqual([
      { tool_call_id: 'c0', name: 'read', status: 'started', tool_kind: 'read' },
      { tool_call_id: 'c0', name: 'read', status: 'completed' },
    ]);
    expect(warnings).not.toContain('TOOL_CALL_START_MISSING');
    expect(warnings.filter((code) => code === 'TOOL_CALL_UNFINISHED')).toHaveLength(4096);
  });

  it('that failed contains the reason', () => {
    const content = [{ type: 'content', content: { type: 'text', text: 'no such file' } }];
    const { of } = translateConversation([
      ...START,
      sendUpdate({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', kind: 'read', status: 'failed', content }),
      END,
    ]);
    expect(of('assistant.tool_call')).toMatchObject([
      { status: 'started' },
      { status: 'failed', error: 'no such file' },
    ]);
  });

  it('keeps images unchanged', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const { of } = translateConversation([
      ...START,
      sendUpdate({
        sessionUpdate: 'tool_call_update',
        toolCallId: 'c1',
        kind: 'read',
        status: 'completed',
        content: [{ type: 'content', content: image }],
      }),
      END,
    ]);
    expect(of('assistant.tool_call')[1]).toMatchObject({ output: [image] });
  });
});

describe('an agent that violates the protocol', () => {
  it('has its second response to a request reported as raw', () => {
    const { of, warnings } = translateConversation([...START, sendMessage('ok'), END, END]);
    expect(of('conversation.completed')).toHaveLength(1);
    expect(warnings).toEqual(['MALFORMED_RECORD', 'DONE_MARKER_MISSING']);
  });

  it('has output that is not a message reported as raw', () => {
    const { of, warnings } = translateConversation([
      ...START,
      ['<', 'Loading…'],
      ['<', '{"hello":1}'],
      sendMessage('ok'),
      END,
    ]);
    expect(of('raw.stdout')).toHaveLength(2);
    expect(warnings).toEqual(['UNPARSED_CONTENT_FELL_BACK_TO_RAW', 'UNKNOWN_EVENT_TYPE', 'DONE_MARKER_MISSING']);
  });
});

it('a conversation can be read from stdout alone, by the shape of the responses', () => {
  const { of } = translateConversation([...START.filter(([direction]) => direction === '<'), sendMessage('ok'), END]);
  expect(of('conversation.started')).toMatchObject([{ session_id: 's1' }]);
  expect(of('assistant.message.final')).toMatchObject([{ text: 'ok' }]);
});
