import { describe, expect, it } from 'vitest';
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
    { type: 'finish' },
  ],
};

async function readLast(source: readonly object[]) {
  let last;
  for await (const snapshot of streamJson(source)) last = snapshot;
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
});
