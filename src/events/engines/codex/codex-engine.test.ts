import { describe, expect, it } from 'vitest';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { codex, translateLines } from '../../contract/translate-lines.contract.js';
import { codexEngine } from './codex-engine.js';

describeEngineContract('codex', new URL('./fixtures/', import.meta.url));

type Phase = 'started' | 'updated' | 'completed';

const item = (phase: Phase, type: string, fields: object) => ({
  type: `item.${phase}`,
  item: { id: 'item_1', type, ...fields },
});

describe('codex records', () => {
  it("use the thread id as the conversation's session id", () => {
    expect(translateLines({ stdout: [codex.thread('t-9')] }).of('conversation.started')).toEqual([
      { session_id: 't-9' },
    ]);
  });

  it('become status events if they contain no message, tool call or error', () => {
    const { rasp } = translateLines({ stdout: [codex.thread(), codex.turn, codex.completed(3, 1)] });
    expect(rasp('lifecycle.run.status')).toEqual([
      { status: 'thread.started', session_id: 'thread-1' },
      { status: 'turn.started' },
      { status: 'turn.completed', usage: { scope: 'total', input_tokens: 3, output_tokens: 1 } },
    ]);
  });

  it("report all tokens as the thread's total", () => {
    const usage = {
      input_tokens: 90,
      cached_input_tokens: 10,
      cache_write_input_tokens: 4,
      output_tokens: 7,
      reasoning_output_tokens: 2,
    };
    const { rasp, warnings } = translateLines({ stdout: [{ type: 'turn.completed', usage }] });
    expect(rasp('lifecycle.run.status')[0]?.usage).toEqual({
      scope: 'total',
      input_tokens: 90,
      output_tokens: 7,
      cached_input_tokens: 10,
      cache_write_tokens: 4,
      reasoning_tokens: 2,
    });
    expect(warnings).not.toContain('UNKNOWN_FIELD');
  });

  it('report a retry as a warning that does not affect the outcome', () => {
    const retry = { type: 'error', message: 'Reconnecting... 2/5 (socket closed)' };
    const { rasp, types } = translateLines({ stdout: [retry, codex.message('?'), codex.completed()] });
    expect(rasp('diagnostic.engine.error')).toEqual([
      {
        cause: 'network',
        code: 'ENGINE_RETRYING',
        message: 'Reconnecting... 2/5 (socket closed)',
        severity: 'warning',
        retrying: true,
        attempt: 2,
        max_attempts: 5,
      },
    ]);
    expect(types.at(-1)).toBe('user.input.required');
  });

  it('report any other top-level error as an error that does not end the run', () => {
    const { rasp, types } = translateLines({
      stdout: [{ type: 'error', message: 'hm' }, codex.message('?'), codex.completed()],
    });
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ severity: 'error', retrying: false }]);
    expect(types.at(-1)).toBe('user.input.required');
  });

  it('report a failed turn as the end of the run', () => {
    const { of, rasp } = translateLines({ stdout: [codex.turn, codex.failed('usage limit reached')] });
    expect(of('conversation.failed')).toMatchObject([
      { error: { category: 'engine', message: 'usage limit reached' } },
    ]);
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ message: 'usage limit reached', severity: 'error' }]);
  });
});

describe('codex items', () => {
  it('report a thought', () => {
    const { rasp } = translateLines({ stdout: [item('completed', 'reasoning', { text: 'Plan the edit' })] });
    expect(rasp('agent.reasoning.summary')).toEqual([{ text: 'Plan the edit', reasoning_id: 'item_1' }]);
  });

  it.each([
    ['failed', 2, 'failed with exit code 2'],
    ['declined', null, 'declined'],
  ])('report a command that %s', (status, exit_code, error) => {
    const fields = { command: 'rm x', aggregated_output: 'no\n', exit_code, status };
    const { rasp } = translateLines({ stdout: [item('completed', 'command_execution', fields)] });
    expect(rasp('tool.call.failed')).toMatchObject([{ name: 'command_execution', error, output: 'no\n' }]);
  });

  it('report an MCP tool call by server and tool', () => {
    const call = { server: 'docs', tool: 'find', arguments: { q: 'x' } };
    const { of } = translateLines({
      stdout: [
        item('started', 'mcp_tool_call', { ...call, result: null, error: null, status: 'in_progress' }),
        item('completed', 'mcp_tool_call', { ...call, result: { content: [] }, error: null, status: 'completed' }),
      ],
    });
    expect(of('assistant.tool_call')).toEqual([
      { tool_call_id: 'item_1', name: 'docs.find', status: 'started', input: { q: 'x' } },
      { tool_call_id: 'item_1', name: 'docs.find', status: 'completed', input: { q: 'x' }, output: { content: [] } },
    ]);
  });

  it('report a failed MCP tool call', () => {
    const call = {
      server: 'docs',
      tool: 'find',
      arguments: {},
      result: null,
      error: { message: 'timeout' },
      status: 'failed',
    };
    expect(
      translateLines({ stdout: [item('completed', 'mcp_tool_call', call)] }).rasp('tool.call.failed'),
    ).toMatchObject([{ name: 'docs.find', error: 'timeout' }]);
  });

  it('report work between agents', () => {
    const call = {
      tool: 'spawn_agent',
      sender_thread_id: 't1',
      receiver_thread_ids: ['t2'],
      prompt: 'check',
      agents_states: { t2: { status: 'done', message: null } },
      status: 'completed',
    };
    const { rasp, warnings, of } = translateLines({
      stdout: [item('completed', 'collab_tool_call', call), codex.message('x')],
    });
    expect(rasp('tool.call.completed')).toMatchObject([
      { name: 'spawn_agent', input: { prompt: 'check', receiver_thread_ids: ['t2'] }, output: call.agents_states },
    ]);
    expect(warnings).not.toContain('UNKNOWN_FIELD');
    expect(of('conversation.started')).toEqual([{ session_id: null }]);
  });

  it('report a web search, whose object has two ids', () => {
    const search = (phase: Phase) =>
      `{"type":"item.${phase}","item":{"id":"item_4","type":"web_search","id":"ws_77","query":"q","action":{"type":"search"}}}`;
    const { of, warnings } = translateLines({ stdout: [search('started'), search('completed'), codex.completed()] });
    expect(of('assistant.tool_call').map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
      ['ws_77', 'started'],
      ['ws_77', 'completed'],
    ]);
    expect(warnings).not.toContain('TOOL_CALL_START_MISSING');
  });

  it('report a plan, each time it changes', () => {
    const items = [{ text: 'write', completed: false }];
    const stdout = (['started', 'updated', 'completed'] as const).map((phase) => item(phase, 'todo_list', { items }));
    const plan = { entries: [{ content: 'write', status: 'pending' }] };
    expect(translateLines({ stdout }).of('assistant.plan')).toEqual([plan, plan, plan]);
  });

  it('keep the values of unknown fields in a raw event', () => {
    const stdout = [item('completed', 'agent_message', { text: 'Hi', mood: { good: true } })];
    const translated = translateLines({ stdout });
    expect(translated.of('raw.stdout')).toEqual([{ text: '{"item(agent_message).mood":{"good":true}}' }]);
    expect(translated.of('assistant.message.final')).toEqual([{ message_id: 'm_1_1', text: 'Hi' }]);
  });

  it('report a command that the approval policy refused', () => {
    const line =
      '2026-11-15T17:59:08.277670Z ERROR codex_core::tools::router: error=approval policy is Never; reject command';
    expect(translateLines({ stderr: [line] }).of('diagnostic.warning')).toMatchObject([
      { code: 'TOOL_CALL_DENIED', severity: 'warning', retrying: false },
      {},
      {},
    ]);
  });

  it("report a call's exit code and files to users", () => {
    const call = { command: 'ls', aggregated_output: '', exit_code: 2, status: 'failed' };
    const change = { changes: [{ path: 'a.ts', kind: 'update' }], status: 'completed' };
    const stdout = [item('completed', 'command_execution', call), item('completed', 'file_change', change)];
    const callEnds = translateLines({ stdout })
      .of('assistant.tool_call')
      .filter(({ status }) => status !== 'started');
    expect(callEnds).toMatchObject([{ exit_code: 2 }, { locations: [{ path: 'a.ts' }] }]);
  });

  it('report a notice as an engine warning', () => {
    const stdout = [item('completed', 'error', { message: 'config key is deprecated' })];
    expect(translateLines({ stdout }).rasp('diagnostic.engine.error')).toMatchObject([
      { code: 'ENGINE_DEPRECATION_WARNING', severity: 'warning', retrying: false },
    ]);
  });

  it.each([
    ['an unknown kind', item('completed', 'hologram', {}), 'UNKNOWN_EVENT_TYPE'],
    ['an incomplete message', item('updated', 'agent_message', { text: 'x' }), 'UNKNOWN_EVENT_TYPE'],
    ['a message without text', item('completed', 'agent_message', { text: 5 }), 'MALFORMED_RECORD'],
    ['a call without id', { type: 'item.started', item: { type: 'command_execution' } }, 'MALFORMED_RECORD'],
    ['an invalid item', { type: 'item.started', item: 'x' }, 'MALFORMED_RECORD'],
    ['the format of 2025', { id: '0', msg: { type: 'agent_message', message: 'x' } }, 'UNKNOWN_EVENT_TYPE'],
    ['a type that every object inherits', { type: 'constructor' }, 'UNKNOWN_EVENT_TYPE'],
  ])('keep %s as raw with a warning', (_, record, code) => {
    const { warnings, of } = translateLines({ stdout: [codex.thread(), record] });
    expect(warnings).toContain(code);
    expect(of('raw.stdout')).toEqual([{ text: JSON.stringify(record) }]);
  });
});

describe('the text mode of codex', () => {
  const header = ['OpenAI Codex v0.166.0', '--------', 'session id: 01a1dcb0-764b-7552-9c62-53a17204dcbf', '--------'];

  it('reports the answer on stdout and the session in the log', () => {
    const { of, warnings, translator } = translateLines({ stdout: ['Hello', '', '{"a": 1}'], stderr: header });
    expect(of('assistant.message.final')).toEqual([{ message_id: 'm_1_1', text: 'Hello\n\n{"a": 1}' }]);
    expect(of('conversation.started')).toEqual([{ session_id: '01a1dcb0-764b-7552-9c62-53a17204dcbf' }]);
    expect(warnings).toEqual(['INCOMPLETE_STATE_CLASSIFICATION']);
    expect(translator.drift()).toBeNull();
  });

  it('does not take the session from the conversation repeated in the log', () => {
    const stderr = [...header, 'user', 'session id: 11111111-evil', 'ERROR: Reconnecting... 1/5'];
    const { of, rasp } = translateLines({ stderr });
    expect(of('conversation.started')).toEqual([{ session_id: '01a1dcb0-764b-7552-9c62-53a17204dcbf' }]);
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ retrying: true, attempt: 1, max_attempts: 5 }]);
  });

  it('is damage if records are printed as well', () => {
    const { of, warnings } = translateLines({ stdout: ['lost line', codex.message('x')], stderr: ['log'] });
    expect(of('raw.stdout')).toEqual([{ text: 'lost line' }]);
    expect(of('assistant.message.final')).toHaveLength(1);
    expect(warnings).toContain('UNPARSED_CONTENT_FELL_BACK_TO_RAW');
  });
});

describe('the codex app server', () => {
  const thread = (id: string) => ({ id, cliVersion: '0.166.0' });
  const threadStarted = (id: string) => ({ method: 'thread/started', params: { thread: thread(id) } });
  const message = (threadId: string, text: string) => ({
    method: 'item/completed',
    params: { threadId, item: { type: 'agentMessage', id: `i-${threadId}`, text } },
  });
  const END = { method: 'turn/completed', params: { threadId: 't-1', turn: { id: 'u', status: 'completed' } } };

  it.each([
    ['after the response', [{ id: 1, result: { thread: thread('t-1'), model: 'm' } }, threadStarted('t-1')]],
    ['without a response', [threadStarted('t-1')]],
  ])("keeps the agent's session when a sub-agent starts its thread, %s", (_, opening) => {
    const stdout = [...opening, threadStarted('t-2'), message('t-2', 'Sub.'), message('t-1', 'Mine.'), END];
    const { of, fcmp, warnings } = translateLines({ stdout });
    expect(of('conversation.started')).toMatchObject([{ session_id: 't-1' }]);
    expect(fcmp.at(-1)?.correlation.session_id).toBe('t-1');
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['Mine.']);
    expect(warnings).toEqual([]);
  });
});

describe('recognizing codex', () => {
  it.each([
    [codex.thread(), 1],
    [codex.message('x'), 1],
    [codex.turn, 0.8],
    [{ type: 'error', message: 'x' }, 0.3],
    [{ type: 'error', message: 'x', severity: 'error' }, 0],
    [{ type: 'thread.started' }, 0],
    [{ type: 'toString' }, 0],
    [[], 0],
  ])('%j: %d', (value, confidence) => {
    expect(codexEngine.detect(value)).toBe(confidence);
  });
});

describe('a codex error about a missing variable', () => {
  it('says how the agent gets it', () => {
    const message = 'Missing environment variable: `MODEL_KEY`.';
    const { of } = translateLines({ stdout: [codex.turn, codex.failed(message)], end: { exitCode: 1 } });
    const hint = 'Agents only receive variables of their engine and those named in `env` (`--env NAME`).';
    expect(of('conversation.failed')).toMatchObject([{ error: { message: `${message} ${hint}` } }]);
  });
});

describe('a codex error without a message', () => {
  it('does not replace the known one', () => {
    const stdout = [codex.turn, { type: 'error', message: 'unexpected status 401 Unauthorized' }, codex.failed('')];
    const { of } = translateLines({ stdout, end: { exitCode: 1 } });
    expect(of('conversation.failed')).toMatchObject([
      { error: { code: 'ENGINE_AUTH_FAILED', message: 'unexpected status 401 Unauthorized' } },
    ]);
  });

  it('is explained by its details in the app server', () => {
    const error = { message: '', additionalDetails: 'stream disconnected', codexErrorInfo: null };
    const params = { threadId: 't', turn: { id: 'u', status: 'failed', error } };
    const { of } = translateLines({ stdout: [{ method: 'turn/completed', params }], end: { exitCode: 1 } });
    expect(of('conversation.failed')).toMatchObject([{ error: { message: 'stream disconnected' } }]);
  });
});
