import { describe, expect, it } from 'vitest';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { DONE, toBytes, translateLines } from '../../contract/translate-lines.contract.js';
import type { Translated } from '../../contract/translate-lines.contract.js';
import {
  listRawRecords,
  listTypes,
  describeShapeRecordings,
  assistant,
  blockStop,
  init,
  messageStart,
  messageStop,
  streamBlock,
  result,
  streamEvent,
  system,
  text,
  toolResult,
  toolUse,
  user,
} from '../stream-json/shape.contract.js';
import { createTranslator } from '../../index.js';
import { qwenEngine } from './qwen-engine.js';

const FIXTURES = new URL('./fixtures/', import.meta.url);

describeEngineContract('qwen', FIXTURES);
describeShapeRecordings('qwen', FIXTURES);

const read = (...stdout: readonly (object | string)[]): Translated => translateLines({ engine: 'qwen', stdout });

const finals = (translated: Translated): readonly string[] =>
  translated.of('assistant.message.final').map((message) => message.text);

describe('every qwen record', () => {
  it.each(listTypes(qwenEngine, /^system\((.+)\)$/u))('system %s has a meaning', (subtype) => {
    const translated = read(init(), system(subtype, { data: {} }), result());
    expect(translated.of('raw.stdout')).toEqual([]);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it.each(listTypes(qwenEngine, /^stream_event\((.+)\)$/u))('stream_event %s has a meaning', (type) => {
    const translated = read(init(), streamEvent({ type, delta: { type: 'text_delta', text: '' } }));
    expect(listRawRecords(translated)).toEqual([]);
  });

  it.each(['control_request', 'control_response', 'control_cancel_request'])('%s has a meaning', (type) => {
    expect(read(init(), { type }, result()).of('raw.stdout')).toEqual([]);
  });

  it('goal_state becomes a status, even if no partial messages are printed', () => {
    const goal = { v: 2, goal: null, activity: 'idle' };
    const translated = read(init(), streamEvent({ type: 'goal_state', goal_state: goal }), result());
    expect(translated.rasp('lifecycle.run.status')[1]).toEqual({ status: 'goal_state', detail: { goal_state: goal } });
    expect(translated.warnings).toEqual([]);
  });
});

describe('a failed qwen request', () => {
  const error = '[API Error: 429 Rate limit reached]';
  const noTokens = { input_tokens: 0, output_tokens: 0 };
  const errorMessage = { ...assistant([]), message: { id: 'a', model: 'm', content: [text(error)], usage: noTokens } };

  it('is a failure, although qwen 0.15 reports success and exits with 0', () => {
    const translated = read(
      init(),
      errorMessage,
      result({ result: error, usage: { input_tokens: 1200, output_tokens: 42 } }),
    );
    expect(translated.of('conversation.failed')[0]?.error).toMatchObject({
      code: 'ENGINE_RUNTIME_ERROR',
      message: error,
    });
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 429, retrying: false }]);
    expect(translated.types).not.toContain('assistant.message.final');
  });

  it('is a failure when only the result reports it', () => {
    expect(read(result({ result: error, usage: noTokens })).types.at(-1)).toBe('conversation.failed');
  });

  it('is reported once if 0.24 repeats it in message and result', () => {
    const failed = result({ subtype: 'error_during_execution', is_error: true, error: { message: error } });
    const translated = read(init(), errorMessage, failed);
    expect(translated.rasp('diagnostic.engine.error')).toHaveLength(1);
    expect(translated.of('conversation.failed')[0]?.error.message).toBe(error);
  });

  it('can be followed by advice, which is neither an answer nor the cause', () => {
    const advised = `${error}\nPossible quota limitations in place or slow response times detected. Please wait.`;
    const message = { ...errorMessage.message, content: [text(advised)] };
    const failed = result({ subtype: 'error_during_execution', is_error: true, error: { message: advised } });
    const translated = read(init(), { ...errorMessage, message }, failed);
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 429, cause: 'rate_limit' }]);
    expect(finals(translated)).toEqual([]);
  });

  it('closes the message whose chunks were reported', () => {
    const translated = read(
      init(),
      messageStart('a'),
      ...streamBlock(text(error), [error]),
      blockStop(),
      errorMessage,
      messageStop(),
    );
    expect(finals(translated)).toEqual([error]);
    expect(translated.rasp('diagnostic.engine.error')).toHaveLength(1);
  });

  it('is read as the agent’s message if tokens were used', () => {
    const messageWithTokens = {
      ...errorMessage,
      message: { ...errorMessage.message, usage: { input_tokens: 9, output_tokens: 9 } },
    };
    const translated = read(
      init(),
      messageWithTokens,
      result({ result: error, usage: { input_tokens: 9, output_tokens: 9 } }),
    );
    expect(finals(translated)).toEqual([error]);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it('is repeated as a document on stderr', () => {
    const document = { error: { type: 'AlreadyReportedError', message: error, code: 1 } };
    const stdout = [JSON.stringify([init(), errorMessage, result({ is_error: true, error: { message: error } })])];
    const translated = translateLines({
      engine: 'qwen',
      stdout,
      stderr: [JSON.stringify(document, null, 2)],
      end: { exitCode: 1 },
    });
    expect(translated.rasp('diagnostic.engine.error')).toHaveLength(1);
    expect(translated.types).not.toContain('raw.stderr');
  });

  it('is only a document on stderr if the run could not start', () => {
    const document = { error: { type: 'FatalAuthenticationError', message: 'No key.', code: 41 } };
    const translated = translateLines({ engine: 'qwen', stderr: [document], end: { exitCode: 41 } });
    expect(translated.of('conversation.failed')[0]?.error.message).toBe('No key.');
  });

  it('is not a failure if the agent prints such a document', () => {
    const translated = read('This is what it printed:', '{"error":{"type":"x","message":"No key."}}', 'It means no.');
    expect(translated.types).not.toContain('conversation.failed');
    expect(finals(translated)[0]).toContain('No key.');
  });

  it('is printed on stderr in text mode', () => {
    const translated = translateLines({ engine: 'qwen', stderr: ['Warning: a note.', error], end: { exitCode: 1 } });
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 429, retrying: false }]);
    expect(translated.of('raw.stderr').map((raw) => raw.text)).toEqual(['Warning: a note.']);
  });
});

describe('a qwen retry', () => {
  const retry = (preserveText: boolean) =>
    system('retry', {
      parent_tool_use_id: null,
      data: { reason: 'retry', attempt: 1, maxRetries: 10, delayMs: 60_000, discardedToolCalls: 0, preserveText },
    });

  it('is not a failure', () => {
    const translated = read(init(), retry(false), assistant([text('Hi')]), result({ result: 'Hi' }));
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([
      { code: 'ENGINE_RETRYING', severity: 'warning', retrying: true, attempt: 1, max_attempts: 10 },
    ]);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it('prints the reason on stderr', () => {
    const line = 'Retrying in 60s (attempt 1/10): [API Error: 429 Rate limit reached]';
    const translated = translateLines({ engine: 'qwen', stdout: [init(), result({ result: 'Hi' })], stderr: [line] });
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([
      { code: 'ENGINE_RATE_LIMIT_HINT', http_status: 429, retrying: true, attempt: 1, max_attempts: 10 },
    ]);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it('keeps the reason that was printed before the record', () => {
    const translator = createTranslator({ engine: 'qwen', runId: 'r', attempt: 1 });
    translator.push('stdout', toBytes([init()]));
    translator.push('stderr', toBytes(['Retrying in 60s (attempt 1/10): [API Error: 429 Too many requests]']));
    translator.push('stdout', toBytes([retry(false)]));
    const { event } = translator.end({ exitCode: null, signal: 'SIGTERM', verdict: 'timed_out' }).at(-1) ?? {};
    expect(event).toMatchObject({ data: { error: { code: 'RUN_TIMED_OUT', cause: 'rate_limit' } } });
  });

  it('is not a failure in text mode either, on any stream', () => {
    const translated = read('Retrying in 60s (attempt 1/10): [API Error: 429 Slow down]', 'Here I am.');
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ retrying: true }]);
    expect(finals(translated)).toEqual(['Here I am.']);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it.each([
    [false, 'new'],
    [true, 'oldnew'],
  ])('keeps the streamed text only if it is marked with preserveText: %j', (preserveText, expected) => {
    const delta = streamEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'new' } });
    const translated = read(
      init(),
      messageStart(),
      ...streamBlock(text(''), ['old']),
      retry(preserveText),
      delta,
      messageStop(),
    );
    expect(finals(translated)).toEqual([expected]);
  });
});

describe('the end of qwen', () => {
  it('can be missing: the answer still counts', () => {
    const translated = translateLines({
      engine: 'qwen',
      stdout: [init(), assistant([text(DONE)])],
      end: { exitCode: null, signal: 'SIGTERM' },
    });
    expect(translated.types.at(-1)).toBe('conversation.completed');
    expect(translated.warnings).toEqual(['EARLY_END_OF_STREAM', 'TERMINAL_STATUS_COMPLETION_CONFLICT']);
  });

  it('is not the end of a failed sub-agent', () => {
    const translated = read(
      init(),
      assistant([toolUse('task', 'agent')]),
      result({ subtype: 'error_during_execution', is_error: true, error: { message: 'The sub-agent failed.' } }),
      user([toolResult('task', 'failed', true)]),
      assistant([text('I go on.')], { id: 'b' }),
      result({ result: 'I go on.' }),
    );
    expect(translated.types).not.toContain('conversation.failed');
    expect(translated.types.at(-1)).toBe('user.input.required');
  });

  it('can contain a validated value', () => {
    const translated = read(init(), result({ result: '{"a":1}', structured_result: { a: 1 } }));
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: '{"a":1}', structured_payload: { a: 1 } }]);
  });

  it("counts the session's tokens, including the cache", () => {
    const usage = { input_tokens: 100, output_tokens: 5, cache_read_input_tokens: 90, total_tokens: 105 };
    expect(read(init(), result({ result: 'Hi', usage })).fcmp.at(-1)?.data).toMatchObject({
      usage: { scope: 'total', input_tokens: 100, cached_input_tokens: 90, output_tokens: 5, total_tokens: 105 },
    });
  });
});

describe('qwen is recognized', () => {
  it('by its version and by its goals, with certainty', () => {
    expect(qwenEngine.detect(system('init', { qwen_code_version: '0.24.4' }))).toBe(1);
    expect(qwenEngine.detect(streamEvent({ type: 'goal_state' }))).toBe(1);
    expect(qwenEngine.detect([system('init', { qwen_code_version: '0.24.4' }), result()])).toBe(1);
  });

  it('with low or no confidence in records that Claude prints', () => {
    expect(qwenEngine.detect(system('hook_started'))).toBe(0);
    expect(qwenEngine.detect(result({ total_cost_usd: 1 }))).toBe(0.2);
  });
});
