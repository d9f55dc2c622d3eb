import { describe, expect, it } from 'vitest';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { translateLines } from '../../contract/translate-lines.contract.js';
import type { Translated } from '../../contract/translate-lines.contract.js';
import {
  listRawRecords,
  listTypes,
  describeShapeRecordings,
  assistant,
  init,
  messageStart,
  streamBlock,
  result,
  system,
  text,
  toolResult,
  toolUse,
  user,
} from '../stream-json/shape.contract.js';
import { claudeEngine } from './claude-engine.js';

const FIXTURES = new URL('./fixtures/', import.meta.url);

describeEngineContract('claude', FIXTURES);
describeShapeRecordings('claude', FIXTURES);

const read = (...stdout: readonly (object | string)[]): Translated => translateLines({ engine: 'claude', stdout });

describe('every claude record', () => {
  const otherTypes = listTypes(claudeEngine, /^(\w+)$/u).filter(
    (type) => !['assistant', 'user', 'result', 'stream_event'].includes(type),
  );
  it.each(otherTypes)('%s has a meaning', (type) => {
    const translated = read(init(), { type, session_id: 's-1', uuid: 'u' }, result());
    expect(translated.of('raw.stdout')).toEqual([]);
  });

  it.each(listTypes(claudeEngine, /^system\((.+)\)$/u))('system %s has a meaning', (subtype) => {
    const translated = read(init(), system(subtype), result());
    expect(translated.of('raw.stdout')).toEqual([]);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it.each(listTypes(claudeEngine, /^stream_event\((.+)\)$/u))('stream_event %s has a meaning', (type) => {
    const delta = { type: 'text_delta', text: '' };
    const translated = read(init(), { type: 'stream_event', session_id: 's-1', event: { type, delta } });
    expect(listRawRecords(translated)).toEqual([]);
  });

  it.each(listTypes(claudeEngine, /^delta\((.+)\)$/u))('%s has a meaning', (type) => {
    const event = { type: 'content_block_delta', index: 0, delta: { type } };
    const translated = read(init(), { type: 'stream_event', session_id: 's-1', event });
    expect(translated.of('raw.stdout')).toEqual([]);
  });

  it.each(listTypes(claudeEngine, /^block\((.+)\)$/u))('a block of type %s has a meaning', (type) => {
    const translated = read(init(), assistant([{ type, id: 't1', tool_use_id: 't1' }]));
    expect(listRawRecords(translated)).toEqual([]);
  });
});

describe('a claude retry', () => {
  it('is not a failure', () => {
    const retry = system('api_retry', {
      attempt: 3,
      max_retries: 10,
      retry_delay_ms: 500,
      error_status: 529,
      error: 'overloaded',
    });
    const translated = read(init(), retry, assistant([text('Hi')]), result({ result: 'Hi' }));
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([
      {
        code: 'ENGINE_RETRYING',
        message: 'The request to the model failed: overloaded. Retrying in 500 ms.',
        severity: 'warning',
        retrying: true,
        http_status: 529,
        attempt: 3,
        max_attempts: 10,
      },
    ]);
    expect(translated.types).not.toContain('conversation.failed');
  });

  it.each([
    [{ error: 'rate_limit', error_status: 429 }, 'The request to the model failed: rate limit.'],
    [{ error: 'unknown', error_status: 502 }, 'The request to the model failed with HTTP status 502.'],
    [{ error: 'unknown', error_status: null }, 'The model could not be reached.'],
  ])('is described by its cause: %j', (cause, message) => {
    const translated = read(init(), system('api_retry', cause));
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ message }]);
  });

  it('in the middle of an answer does not report it twice', () => {
    const translated = read(
      init(),
      messageStart('a'),
      ...streamBlock(text('Hello'), ['Hel']),
      system('api_retry', { attempt: 1 }),
      messageStart('b'),
      ...streamBlock(text('Hello there'), ['Hello', ' there']),
      assistant([text('Hello there')], { id: 'b' }),
      result({ result: 'Hello there' }),
    );
    expect(translated.of('assistant.message.final')).toMatchObject([{ message_id: 'm_1_1', text: 'Hello there' }]);
  });

  it.each(['allowed_warning', 'rejected'])('can be a rate limit that is %s', (status) => {
    const translated = read(
      init(),
      { type: 'rate_limit_event', session_id: 's-1', rate_limit_info: { status } },
      result(),
    );
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([
      { code: 'ENGINE_RATE_LIMIT_HINT', severity: 'warning', retrying: true },
    ]);
  });

  it('is not a rate limit event with the status allowed', () => {
    const rateLimitEvent = { type: 'rate_limit_event', session_id: 's-1', rate_limit_info: { status: 'allowed' } };
    expect(read(init(), rateLimitEvent, result()).warnings).toEqual([]);
  });
});

describe('an error that claude prints as a message', () => {
  const errorMessage = {
    ...assistant([text('API Error: 400 Bad request.')]),
    error: 'invalid_request',
    is_api_error_message: true,
    api_error_status: 400,
  };
  const syntheticMessage = {
    ...errorMessage,
    message: { id: 'x', model: '<synthetic>', content: [text('API Error: 400 Bad request.')] },
  };

  it('is an engine error, reported once', () => {
    const translated = read(
      init(),
      syntheticMessage,
      result({ is_error: true, result: 'API Error: 400 Bad request.' }),
    );
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 400, retrying: false }]);
    expect(translated.types).not.toContain('assistant.message.final');
    expect(translated.of('conversation.failed')[0]?.error.message).toBe('API Error: 400 Bad request.');
  });

  it('is a failure, even if the result calls it a success', () => {
    const translated = read(init(), syntheticMessage, result({ result: 'API Error: 400 Bad request.' }));
    expect(translated.types.at(-1)).toBe('conversation.failed');
  });

  it('is a message if a model printed it', () => {
    const translated = read(init(), errorMessage);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'API Error: 400 Bad request.' }]);
  });

  it('is printed on stdout in text mode', () => {
    const translated = translateLines({
      engine: 'claude',
      stdout: ['API Error: 500 Overloaded'],
      end: { exitCode: 1 },
    });
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 500 }]);
    expect(translated.of('conversation.failed')[0]?.error.message).toBe('API Error: 500 Overloaded');
    expect(translated.types).not.toContain('assistant.message.final');
  });
});

describe('the usage of claude', () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 5, output_tokens: 3 };
  const message = { id: 'msg_1', model: 'm', usage };

  it('is reported once per message, though every block repeats it, and counts the cache as input', () => {
    const translated = read(
      init(),
      { ...assistant([]), message: { ...message, content: [text('Hi')] } },
      { ...assistant([]), message: { ...message, content: [toolUse('t1')] } },
      user([toolResult('t1')]),
      { ...assistant([]), message: { ...message, id: 'msg_2', content: [text('Bye')] } },
    );
    const turns = translated
      .rasp('lifecycle.run.status')
      .flatMap((status) => (status.usage === undefined ? [] : [status.usage]));
    expect(turns).toEqual(
      Array.from({ length: 2 }, () => ({
        scope: 'turn',
        input_tokens: 115,
        output_tokens: 3,
        cached_input_tokens: 100,
        cache_write_tokens: 5,
      })),
    );
    expect(translated.fcmp.at(-1)?.data).toMatchObject({
      usage: { scope: 'total', input_tokens: 230, output_tokens: 6 },
    });
  });

  it('in total covers the session and all models', () => {
    const model = { inputTokens: 10, outputTokens: 3, cacheReadInputTokens: 100, cacheCreationInputTokens: 5 };
    const translated = read(
      result({
        result: 'Hi',
        usage,
        total_cost_usd: 0.5,
        modelUsage: { one: model, two: { ...model, thinkingTokens: 1 } },
      }),
    );
    expect(translated.fcmp.at(-1)?.data).toMatchObject({
      usage: {
        scope: 'total',
        input_tokens: 230,
        output_tokens: 6,
        cached_input_tokens: 200,
        cache_write_tokens: 10,
        reasoning_tokens: 1,
        cost: 0.5,
      },
    });
  });

  it('covers the invocation if the models are not listed separately', () => {
    const translated = read(result({ result: 'Hi', usage, total_cost_usd: 0.5 }));
    expect(translated.fcmp.at(-1)?.data).toMatchObject({ usage: { scope: 'total', input_tokens: 115, cost: 0.5 } });
  });

  it.each([-1, '1', null])('omits a cost of %j', (cost) => {
    const translated = read(result({ result: 'Hi', usage, total_cost_usd: cost }));
    expect(translated.fcmp.at(-1)?.data).not.toHaveProperty('usage.cost');
  });
});

describe('claude is recognized', () => {
  it('by its version, with certainty', () => {
    expect(claudeEngine.detect(system('init', { claude_code_version: '2.1.325' }))).toBe(1);
  });

  it('by the cost in its result, wherever the type is', () => {
    expect(claudeEngine.detect({ total_cost_usd: 0, session_id: 's', subtype: 'success', type: 'result' })).toBe(0.9);
  });

  it.each([[{}], [[]], [[1]], [{ type: 'assistant' }], [{ type: 'constructor', session_id: 's' }]])(
    'not in %j',
    (value) => {
      expect(claudeEngine.detect(value)).toBe(0);
    },
  );

  it('reads the session of an array from its last record', () => {
    expect(claudeEngine.readSession([init('early'), result({}, 'late')])).toBe('late');
  });

  it('names no session for hooks and sub-agents', () => {
    expect(claudeEngine.readSession(system('hook_started'))).toBeNull();
    expect(claudeEngine.readSession(assistant([], { parent: 't1' }))).toBeNull();
  });
});
