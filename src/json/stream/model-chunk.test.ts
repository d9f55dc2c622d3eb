import { describe, expect, expectTypeOf, it } from 'vitest';
import type { MessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { AIMessageChunk } from '@langchain/core/messages';
import type { TextStreamPart, ToolSet } from 'ai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { ModelChunk } from './model-chunk.js';
import { streamJson } from './stream-json.js';

const STREAMS: Readonly<Record<string, readonly object[]>> = {
  'chat completions': [
    { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    { choices: [{ index: 1, delta: { content: '{"b": 2}' } }] },
    { choices: [{ index: 0, delta: { content: 'Sure: {"a"' } }] },
    { choices: [{ index: 0, delta: { content: ': 1}' } }] },
    { choices: [], usage: { total_tokens: 3 } },
  ],
  responses: [
    { type: 'response.created', response: { id: 'r' } },
    { type: 'response.reasoning_text.delta', delta: '{"b": 2}' },
    { type: 'response.output_text.delta', delta: 'Sure: {"a"' },
    { type: 'response.output_text.delta', delta: ': 1}' },
    { type: 'response.completed', response: {} },
  ],
  messages: [
    { type: 'message_start', message: {} },
    { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: '{"b": 2}' } },
    { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"b": 2}' } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Sure: {"a"' } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: ': 1}' } },
    { type: 'message_stop' },
  ],
  'the AI SDK': [
    { type: 'start' },
    { type: 'reasoning-delta', id: '0', text: '{"b": 2}' },
    { type: 'text-delta', id: '1', text: 'Sure: {"a"' },
    { type: 'text-delta', id: '1', text: ': 1}' },
    { type: 'finish', finishReason: 'stop' },
  ],
  Gemini: [
    { candidates: [{ content: { parts: [{ thought: true, text: '{"b": 2}' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'Sure: ' }, { text: '{"a"' }] } }] },
    { candidates: [{ content: { parts: [{ text: ': 1}' }] }, finishReason: 'STOP' }] },
    { usageMetadata: { totalTokenCount: 3 } },
  ],
  Mistral: [
    { data: { choices: [{ index: 0, delta: { content: [{ type: 'text', text: 'Sure: {"a"' }] } }] } },
    { data: { choices: [{ index: 0, delta: { content: ': 1}' }, finishReason: 'stop' }] } },
  ],
  'Ollama, chat': [
    { message: { role: 'assistant', content: 'Sure: {"a"' }, done: false },
    { message: { role: 'assistant', content: ': 1}' }, done: false },
    { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' },
  ],
  'Ollama, generate': [
    { response: 'Sure: {"a"', done: false },
    { response: ': 1}', done: true },
  ],
  Cohere: [
    { type: 'message-start' },
    { type: 'content-delta', delta: { message: { content: { text: 'Sure: {"a"' } } } },
    { type: 'content-delta', delta: { message: { content: { text: ': 1}' } } } },
    { type: 'message-end', delta: { finishReason: 'COMPLETE' } },
  ],
  Bedrock: [
    { messageStart: { role: 'assistant' } },
    { contentBlockDelta: { delta: { text: 'Sure: {"a"' } } },
    { contentBlockDelta: { delta: { text: ': 1}' } } },
    { contentBlockStop: {} },
    { messageStop: { stopReason: 'end_turn' } },
    { metadata: {} },
  ],
  LangChain: [
    { content: 'Sure: {"a"', response_metadata: {} },
    { content: [{ type: 'text', text: ': 1}' }], response_metadata: { finish_reason: 'stop' } },
  ],
  'objects with text': [{ text: 'Sure: {"a"' }, { text: ': 1}' }],
};

async function readLast(source: readonly object[]) {
  let last;
  for await (const snapshot of streamJson(source as readonly ModelChunk[])) last = snapshot;
  return last;
}

describe("streamJson over a client's stream", () => {
  it.each(Object.entries(STREAMS))('reads the text of %s, and only the text', async (_, events) => {
    expect(await readLast(events)).toMatchObject({ result: { ok: true, value: { a: 1 } } });
  });

  it.each([
    [{ type: 'error', error: new Error('overloaded') }],
    [{ type: 'error', message: 'overloaded' }],
    [{ type: 'error', error: 'overloaded' }],
    [{ type: 'response.failed', response: { error: { message: 'overloaded' } } }],
  ])('throws the failure that a stream reports: %j', async (failure) => {
    const events = [{ type: 'text-delta', text: '{"a": 1}' }, failure];
    await expect(readLast(events)).rejects.toMatchObject({ code: 'MODEL_FAILED', message: /overloaded/ });
  });

  const whole = { text: '{"a": 1}' };

  it.each<[object]>([
    [{ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }],
    [{ type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } }],
    [{ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }],
    [{ type: 'finish', finishReason: 'length' }],
    [{ candidates: [{ finishReason: 'MAX_TOKENS' }] }],
    [{ message: { content: '' }, done: true, done_reason: 'length' }],
    [{ type: 'message-end', delta: { finishReason: 'MAX_TOKENS' } }],
    [{ messageStop: { stopReason: 'max_tokens' } }],
    [{ content: '', response_metadata: { stop_reason: 'max_tokens' } }],
    [{ content: '', additional_kwargs: { stop_reason: 'max_tokens' }, response_metadata: {} }],
  ])('an answer that was cut is TRUNCATED: %j', async (last) => {
    expect(await readLast([whole, last])).toMatchObject({
      result: {
        error: {
          code: 'TRUNCATED',
          value: { a: 1 },
          message:
            'The model stopped at its output limit. Raise the output limit, ask for less, or set allowPartial (--allow-partial).',
        },
      },
    });
  });

  it.each<[object, string]>([
    [{ choices: [{ index: 0, delta: { refusal: 'I cannot help.' } }] }, 'I cannot help.'],
    [{ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] }, 'content_filter'],
    [{ type: 'response.refusal.done', refusal: 'I cannot help.' }, 'I cannot help.'],
    [{ type: 'message_delta', delta: { stop_reason: 'refusal' } }, 'refusal'],
    [{ candidates: [{ finishReason: 'SAFETY' }] }, 'SAFETY'],
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'SAFETY'],
    [{ messageStop: { stopReason: 'guardrail_intervened' } }, 'guardrail_intervened'],
  ])('a refusal is REFUSED, with the reason: %j', async (event, reason) => {
    const last = await readLast([whole, event]);
    expect(last).toMatchObject({ result: { error: { code: 'REFUSED', message: expect.stringContaining(reason) } } });
  });

  it.each([[{}], [{ answer: 'x', id: 1 }], [[]]])('an object of another shape is refused: %j', async (chunk) => {
    await expect(readLast([chunk])).rejects.toMatchObject({
      code: 'INVALID_CHUNK',
      message: expect.stringContaining(Object.keys(chunk).join(', ')),
    });
  });

  it('accepts the types of the clients, and no other object', () => {
    expectTypeOf<
      ChatCompletionChunk | ResponseStreamEvent | MessageStreamEvent | TextStreamPart<ToolSet> | AIMessageChunk
    >().toExtend<ModelChunk>();
    expectTypeOf<{ answer: string }>().not.toExtend<ModelChunk>();
    expectTypeOf<number>().not.toExtend<ModelChunk>();
  });
});
