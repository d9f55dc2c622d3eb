import { describe, expect, it } from 'vitest';
import { toBytes } from '../../events/contract/translate-lines.contract.js';
import { createTranslator, findCause } from '../../events/index.js';
import type { EngineName } from '../../events/index.js';
import { RunFindings } from './run-findings.js';

function collect(engine: EngineName, stdout: readonly (object | string)[], stderr: readonly string[] = []) {
  const translator = createTranslator({ engine, runId: 'r', attempt: 1 });
  const findings = new RunFindings();
  findings.add(translator.push('stderr', toBytes(stderr)));
  findings.add(translator.push('stdout', toBytes(stdout)));
  findings.add(translator.drain().events);
  return findings;
}

const init = { type: 'system', subtype: 'init', session_id: 's', model: 'claude-opus-5-5', tools: [] };
const retry = (attempt: number, status: number, error: string) => ({
  type: 'system',
  subtype: 'api_retry',
  session_id: 's',
  attempt,
  max_retries: 10,
  retry_delay_ms: 500 * attempt,
  error_status: status,
  error,
});
const say = (text: string) => ({
  type: 'assistant',
  session_id: 's',
  message: { id: `msg_${text}`, role: 'assistant', content: [{ type: 'text', text }] },
});

/** Denied by the engine's own rules, at a time. */
const BY_ENGINE = { by: 'engine', at: expect.stringMatching(/^2/) as string };

describe('diagnostics', () => {
  it('of the same kind are listed once and counted', () => {
    const retries = Array.from({ length: 7 }, (_value, index) => retry(index + 1, 401, 'authentication_failed'));
    const { diagnostics } = collect('claude', [init, ...retries]).summarize(undefined);
    expect(diagnostics).toMatchObject([{ code: 'ENGINE_AUTH_HINT', count: 7, severity: 'warning', http_status: 401 }]);
    expect(diagnostics?.[0]?.message).toContain('authentication failed');
  });

  it('are bounded, and unknown fields do not hide engine errors', () => {
    const unknownRecords = Array.from({ length: 60 }, (_value, index) => ({
      ...say(`m${index}`),
      [`odd_${'x'.repeat(index + 1)}`]: 1,
    }));
    const { diagnostics = [] } = collect('claude', [init, ...unknownRecords, retry(1, 500, 'server_error')]).summarize(
      undefined,
    );
    expect(diagnostics.length).toBeLessThanOrEqual(50);
    expect(diagnostics.filter(({ code }) => code === 'UNKNOWN_FIELD')).toHaveLength(25);
    expect(diagnostics.some(({ code }) => code === 'ENGINE_RETRYING')).toBe(true);
  });
});

describe('the report of the engine', () => {
  it('has the premium requests and durations of Copilot, added up over its attempts', () => {
    const usage = { premiumRequests: 1.5, totalApiDurationMs: 68, sessionDurationMs: 821, codeChanges: {} };
    const result = { type: 'result', sessionId: 's', exitCode: 0, usage };
    expect(collect('copilot', [result, result]).summarize(undefined).engine_report).toEqual({
      premium_requests: 3,
      duration_ms: 1642,
      duration_api_ms: 136,
    });
  });

  it('has the durations of Claude Code', () => {
    const result = { type: 'result', subtype: 'success', session_id: 's', result: 'x', duration_ms: 9, usage: {} };
    expect(collect('claude', [init, result]).summarize(undefined).engine_report).toEqual({ duration_ms: 9 });
  });

  it('is absent if the engine reports nothing', () => {
    expect(collect('claude', [init]).summarize(undefined)).not.toHaveProperty('engine_report');
  });
});

describe('addDiagnostic', () => {
  it('returns whether a diagnostic is the first of its kind, until the list is full', () => {
    const findings = new RunFindings();
    const add = (name: string) => findings.addDiagnostic({ code: 'HOST_DENIED', message: `denied ${name}` });
    expect([add('a'), add('a'), add('b')]).toEqual([true, false, true]);
    const isFirst = Array.from({ length: 100 }, (_value, index) => add('x'.repeat(index + 1)));
    expect(isFirst.filter(Boolean)).toHaveLength(23);
  });
});

describe('the error that explains a failure', () => {
  it('is the last error the engine reported', () => {
    const { engineFailure } = collect('claude', [
      init,
      retry(1, 429, 'rate_limit'),
      retry(2, 401, 'authentication_failed'),
    ]);
    expect(engineFailure).toMatchObject({ cause: 'auth', httpStatus: 401 });
  });

  it('shows that the engine is stuck if it is the same three times, without a tool call between', () => {
    const [overflow, rejected] = [retry(1, 400, 'prompt is too long'), retry(1, 401, 'authentication_failed')];
    const isStuck = (...records: object[]) => collect('claude', [init, ...records]).isEngineStuck;
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} };
    const work = { type: 'assistant', session_id: 's', message: { id: 'm', role: 'assistant', content: [call] } };
    expect(isStuck(overflow, say('A summary.'), overflow, overflow)).toBe(true);
    expect(isStuck(rejected, rejected, rejected)).toBe(true);
    expect(isStuck(overflow, overflow)).toBe(false);
    expect(isStuck(overflow, overflow, work, overflow)).toBe(false);
    expect(isStuck(rejected, rejected, overflow)).toBe(false);
    expect(isStuck(...Array.from({ length: 9 }, () => retry(1, 500, 'server_error')))).toBe(false);
  });

  it('is dropped once the agent continues', () => {
    expect(collect('claude', [init, retry(1, 429, 'rate_limit'), say('Here.')]).engineFailure).toBeNull();
    const { engineFailure } = collect('claude', [init, retry(2, 401, 'authentication_failed')]);
    const repeated = [init, retry(2, 401, 'authentication_failed'), say(engineFailure?.message ?? '')];
    expect(collect('claude', repeated).engineFailure).toMatchObject({ cause: 'auth' });
  });

  it.each([
    [401, 'x', 'auth'],
    [403, 'x', 'permission'],
    [402, 'x', 'quota'],
    [429, 'slow down', 'rate_limit'],
    [429, 'You exceeded your current quota.', 'quota'],
    [400, 'Unsupported value in request.', 'model'],
    [404, 'no such model', 'model'],
    [500, 'x', 'server'],
    [400, 'This model’s maximum context length is 8192 tokens.', 'context'],
    [undefined, 'prompt is too long: 210000 tokens > 200000 maximum', 'context'],
    [undefined, 'terminated', 'network'],
    [undefined, '[API Error: Connection error. (cause: UND_ERR_SOCKET)]', 'network'],
    [undefined, 'connect ECONNREFUSED 127.0.0.1:1', 'network'],
    [undefined, 'exception TypeError: fetch failed sending request', 'network'],
    [undefined, 'The model could not be reached. Retrying in 500 ms.', 'network'],
    [undefined, 'The request to the model failed: overloaded.', 'server'],
    [undefined, 'A request failed. Retrying in 500 ms.', 'unknown'],
    [undefined, '{"error":{"type":"invalid_request_error"}}', 'model'],
    [undefined, 'something else', 'unknown'],
  ])('with status %s and message %j has the cause %s', (status, message, cause) => {
    const error = { code: 'ENGINE_ERROR', message, ...(status === undefined ? {} : { http_status: status }) } as const;
    expect(findCause(error)).toBe(cause);
  });
});

describe('the model', () => {
  it('is the model named by the engine, not the name in its own messages', () => {
    const synthetic = { ...say('API Error'), message: { ...say('x').message, model: '<synthetic>' } };
    expect(collect('claude', [synthetic, init]).summarize('opus').model).toBe('claude-opus-5-5');
  });

  it('is the requested model if the engine names no model', () => {
    expect(collect('codex', [{ type: 'thread.started', thread_id: 't' }]).summarize('gpt').model).toBe('gpt');
    expect(collect('codex', []).summarize(undefined)).not.toHaveProperty('model');
  });
});

describe('denied tools', () => {
  it('of Claude Code are listed once, with their input', () => {
    const denied = {
      type: 'system',
      subtype: 'permission_denied',
      session_id: 's',
      tool_name: 'Write',
      tool_use_id: 'toolu_w',
      decision_reason_type: 'mode',
      message: 'Permission to use Write has been denied.',
    };
    const result = {
      type: 'result',
      subtype: 'success',
      is_error: false,
      session_id: 's',
      result: 'I was not allowed.',
      permission_denials: [
        { tool_name: 'Write', tool_use_id: 'toolu_w', tool_input: { file_path: 'no.txt' } },
        { tool_name: 'Bash', tool_use_id: 'toolu_b', tool_input: { command: 'x'.repeat(2000) } },
      ],
    };
    expect(collect('claude', [init, denied, say('I was not allowed.'), result]).summarize(undefined).denials).toEqual([
      {
        tool: 'Write',
        tool_call_id: 'toolu_w',
        input: { file_path: 'no.txt' },
        why: 'Permission to use Write has been denied.',
        ...BY_ENGINE,
      },
      { tool: 'Bash', tool_call_id: 'toolu_b', why: 'The engine denied Bash.', ...BY_ENGINE },
    ]);
  });

  it('of Copilot are its failed calls', () => {
    const record = (type: string, data: object) => ({ type, data, id: 'e', parentId: 'p' });
    const reason = 'Permission to run this tool was denied due to the following rules: `write`';
    const lines = [
      record('tool.execution_start', { toolCallId: 'c', toolName: 'create', arguments: { path: 'x' } }),
      record('tool.execution_complete', {
        toolCallId: 'c',
        success: false,
        error: { message: reason, code: 'denied' },
      }),
    ];
    expect(collect('copilot', lines).summarize(undefined).denials).toEqual([
      { tool: 'create', tool_call_id: 'c', input: { path: 'x' }, why: reason, ...BY_ENGINE },
    ]);
  });

  it('of Codex are found in its log', () => {
    const line =
      '2026-11-15T17:59:08.277670Z ERROR codex_core::tools::router: error=approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never';
    expect(collect('codex', [], [line]).summarize(undefined).denials).toEqual([
      {
        tool: 'shell',
        why: expect.stringMatching(/^approval policy is Never; reject command/) as string,
        ...BY_ENGINE,
      },
    ]);
  });

  it('of OpenCode are calls to tools it withholds', () => {
    const error = "Model tried to call unavailable tool 'invalid'. Available tools: glob, grep, read.";
    const state = { status: 'error', input: { filePath: 'a' }, error, time: { start: 1, end: 2 } };
    const part = { id: 'p', type: 'tool', tool: 'write', callID: 'c', sessionID: 's', messageID: 'm', state };
    const { denials } = collect('opencode', [{ type: 'tool_use', timestamp: 1, sessionID: 's', part }]).summarize(
      undefined,
    );
    expect(denials).toEqual([{ tool: 'write', tool_call_id: 'c', input: { filePath: 'a' }, why: error, ...BY_ENGINE }]);
  });

  it('of Gemini are calls to tools it withholds, not to tools that do not exist', () => {
    const call = (tool: string, id: string) => [
      { type: 'tool_use', timestamp: '2026-11-15T00:00:00Z', tool_name: tool, tool_id: id, parameters: {} },
      {
        type: 'tool_result',
        timestamp: '2026-11-15T00:00:00Z',
        tool_id: id,
        status: 'error',
        error: { type: 'tool_not_registered', message: `Tool "${tool}" not found. Did you mean one of: "read_file"?` },
      },
    ];
    const { denials } = collect('gemini', [...call('write_file', 'a'), ...call('imagined', 'b')]).summarize(undefined);
    expect(denials).toMatchObject([{ tool: 'write_file', tool_call_id: 'a' }]);
  });

  it('are bounded', () => {
    const permission_denials = Array.from({ length: 80 }, (_value, index) => ({
      tool_name: 'Bash',
      tool_use_id: `toolu_${index}`,
    }));
    const result = {
      type: 'result',
      subtype: 'success',
      is_error: false,
      session_id: 's',
      result: '',
      permission_denials,
    };
    expect(collect('claude', [init, result]).summarize(undefined).denials).toHaveLength(50);
  });
});
