import { describe, expect, it } from 'vitest';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { translateLines } from '../../contract/translate-lines.contract.js';
import type { Scenario } from '../../contract/translate-lines.contract.js';

describeEngineContract('copilot', new URL('./fixtures/', import.meta.url));

const SESSION = 'aa615ea2-975d-4738-8ef0-d825937f1796';

function record(type: string, data: object): object {
  return { type, data, id: 'e-1', timestamp: '2026-11-15T01:14:15.926Z', parentId: 'e-0' };
}

function result(exitCode = 0): object {
  return { type: 'result', timestamp: '2026-11-15T01:14:16.926Z', sessionId: SESSION, exitCode, usage: {} };
}

function translate(stdout: readonly (object | string)[], options: Partial<Scenario> = {}) {
  return translateLines({ engine: 'copilot', stdout, ...options });
}

describe('copilot', () => {
  it('names its session and its end in the last record', () => {
    const message = record('assistant.message', { messageId: 'm', content: 'Hi.', model: 'gpt-4.1', toolRequests: [] });
    const { of, rasp } = translate([message, result()], { end: { verdict: 'no_contract' }, mode: 'auto' });
    expect(of('conversation.started')).toEqual([{ session_id: SESSION }]);
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hi.', model: 'gpt-4.1' }]);
    expect(rasp('lifecycle.completion.state')).toMatchObject([{ evidence: { end_signal: 'COPILOT_RESULT_SUCCESS' } }]);
  });

  it('reports a message in chunks and in full under one id', () => {
    const deltas = ['Hel', 'lo'].map((text) =>
      record('assistant.message_delta', { messageId: 'm', deltaContent: text }),
    );
    const { of } = translate([...deltas, record('assistant.message', { messageId: 'm', content: 'Hello' }), result()]);
    const ids = [...of('assistant.message.delta'), ...of('assistant.message.final')].map(
      ({ message_id }) => message_id,
    );
    expect(new Set(ids).size).toBe(1);
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['Hello']);
  });

  it('does not report the message of a sub-agent as the answer', () => {
    const data = { messageId: 'm', content: 'Mine.', parentToolCallId: 'call_1' };
    const { of } = translate([record('assistant.message', data), result()]);
    expect(of('assistant.message.final')).toMatchObject([{ parent_tool_call_id: 'call_1' }]);
  });

  it.each([
    [429, true],
    [500, true],
    [null, true],
    [400, false],
    [401, false],
  ])('a call that failed with status %j is retried: %s', (statusCode, retrying) => {
    const data = { errorMessage: '{"message":"No.","type":"x"}', ...(statusCode === null ? {} : { statusCode }) };
    const { rasp } = translate([record('model.call_failure', data), result(1)], { end: { exitCode: 1 } });
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ message: 'No.', retrying, severity: 'warning' }]);
  });

  it.each([
    ['{"message":"Unknown model \\"m\\".\\nTry \\u0041.","type":"x"}', 'Unknown model "m".\nTry A.'],
    ['{"message":"Slow down.","ty', 'Slow down.'],
    ['{"message":"bad \\escape"}', '{"message":"bad \\escape"}'],
    ['Connection refused', 'Connection refused'],
  ])('the error %j of the model provider has the message %j', (errorMessage, message) => {
    const { rasp } = translate([record('model.call_failure', { errorMessage }), result(1)], { end: { exitCode: 1 } });
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ message }]);
  });

  it.each([
    [401, 'ENGINE_AUTH_FAILED'],
    [400, 'ENGINE_RUNTIME_ERROR'],
  ])('a session error with status %s ends it as %s', (statusCode, code) => {
    const error = record('session.error', { errorType: 'x', message: 'Refused.', statusCode });
    const { of } = translate([error, result(1)], { mode: 'auto', end: { exitCode: 1, verdict: 'no_contract' } });
    expect(of('conversation.failed')).toMatchObject([{ error: { code, message: 'Refused.' } }]);
  });

  it('pairs a call with its end, its exit code and its error', () => {
    const start = record('tool.execution_start', {
      toolCallId: 'c',
      toolName: 'bash',
      arguments: { command: 'false' },
    });
    const end = record('tool.execution_complete', {
      toolCallId: 'c',
      success: false,
      shellExecution: { exitCode: 1 },
      error: { message: 'It failed.', code: 'failure' },
    });
    const { of, warnings } = translate([start, end, result()]);
    expect(of('assistant.tool_call')).toMatchObject([
      { tool_call_id: 'c', name: 'bash', status: 'started', input: { command: 'false' } },
      { tool_call_id: 'c', name: 'bash', status: 'failed', error: 'It failed.', exit_code: 1 },
    ]);
    expect(warnings).toEqual([]);
  });

  it('counts the tokens of each call', () => {
    const usage = record('assistant.usage', { model: 'gpt-4.1', inputTokens: 10, outputTokens: 2, cacheReadTokens: 4 });
    const { of } = translate([usage, usage, result()]);
    expect(of('user.input.required')).toMatchObject([
      { usage: { scope: 'total', input_tokens: 20, output_tokens: 4, cached_input_tokens: 8 } },
    ]);
  });

  it('keeps a record without its fields as raw, with a warning', () => {
    const { warnings } = translate([record('assistant.message', { messageId: 'm' }), record('abort', {}), result()]);
    expect(warnings).toEqual(['MALFORMED_RECORD']);
  });

  it('is detected by its records', () => {
    const { fcmp } = translate([record('assistant.message', { messageId: 'm', content: 'Hi.' }), result()], {
      engine: 'auto',
    });
    expect(new Set(fcmp.map(({ engine }) => engine))).toEqual(new Set(['copilot']));
  });
});
