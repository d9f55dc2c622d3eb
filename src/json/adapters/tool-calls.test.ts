import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { streamToolCalls, type ToolCallSnapshot } from './tool-calls.js';

const Query = z.object({ query: z.string(), limit: z.int() });

async function* streamEvents(events: readonly object[]): AsyncGenerator<object> {
  for (const event of events) yield event;
}

async function collect(events: readonly object[]): Promise<ToolCallSnapshot[]> {
  const snapshots: ToolCallSnapshot[] = [];
  for await (const snapshot of streamToolCalls(streamEvents(events), { schemas: { search: Query } }))
    snapshots.push({ ...snapshot, value: structuredClone(snapshot.value) });
  return snapshots;
}

const createChatChunk = (index: number, rest: object) => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index, ...rest }] } }],
});

/** The same two calls, interleaved where a protocol allows it. */
const STREAMS = {
  'chat completions': [
    createChatChunk(0, { id: 'c1', function: { name: 'search', arguments: '' } }),
    createChatChunk(0, { function: { name: '', arguments: '{"query": "te' } }),
    createChatChunk(1, { id: 'c2', function: { name: 'other', arguments: "{a: 'b'" } }),
    createChatChunk(0, { function: { arguments: 'a", "limit": 5,}' } }),
    createChatChunk(1, { function: { arguments: '}' } }),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: {} },
  ],
  responses: [
    { type: 'response.output_item.added', item: { type: 'function_call', id: 'i1', call_id: 'c1', name: 'search' } },
    { type: 'response.output_item.added', item: { type: 'function_call', id: 'i2', call_id: 'c2', name: 'other' } },
    { type: 'response.function_call_arguments.delta', item_id: 'i1', delta: '{"query": "te' },
    { type: 'response.function_call_arguments.delta', item_id: 'i2', delta: "{a: 'b'}" },
    { type: 'response.function_call_arguments.delta', item_id: 'i1', delta: 'a", "limit": 5,}' },
    { type: 'response.function_call_arguments.done', item_id: 'i1' },
    { type: 'response.completed' },
  ],
  messages: [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me look: {"query": 1}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'search', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"query": "te' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: 'a", "limit": 5,}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'c2', name: 'other', input: {} } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: "{a: 'b'}" } },
    { type: 'content_block_stop', index: 2 },
  ],
  'the AI SDK': [
    { type: 'tool-input-start', id: 'c1', toolName: 'search' },
    { type: 'tool-input-delta', id: 'c1', delta: '{"query": "te' },
    { type: 'tool-input-delta', id: 'c1', delta: 'a", "limit": 5,}' },
    { type: 'tool-input-end', id: 'c1' },
    { type: 'tool-input-start', id: 'c2', toolName: 'other' },
    { type: 'tool-input-delta', id: 'c2', delta: "{a: 'b'}" },
    { type: 'finish' },
  ],
};

describe('streamToolCalls', () => {
  it.each(Object.entries(STREAMS))('yields one growing value for each call in a stream of %s', async (_, events) => {
    const snapshots = await collect(events);
    const listSnapshots = (id: string) => snapshots.filter((snapshot) => snapshot.id === id);
    expect(listSnapshots('c1').map(({ value }) => value)).toEqual([
      { query: 'te' },
      { query: 'tea', limit: 5 },
      { query: 'tea', limit: 5 },
    ]);
    expect(listSnapshots('c1').at(-1)).toMatchObject({ name: 'search', complete: true, result: { ok: true } });
    expect(listSnapshots('c2').at(-1)).toMatchObject({
      name: 'other',
      value: { a: 'b' },
      result: { ok: true, value: { a: 'b' } },
    });
    expect(snapshots.filter(({ result }) => result !== undefined)).toHaveLength(2);
  });

  it('separates calls that a server sends with the same index', async () => {
    const snapshots = await collect([
      createChatChunk(0, { id: 'c1', function: { name: 'search', arguments: '{"query": "tea", "limit": 1}' } }),
      createChatChunk(0, { id: 'c2', function: { name: 'search', arguments: '{"query": "milk", ' } }),
      createChatChunk(0, { id: 'c2', function: { name: 'search', arguments: '"limit"' } }),
      createChatChunk(0, { id: '', function: { name: 'search', arguments: ': 2}' } }),
    ]);
    expect(snapshots.flatMap(({ id, result }) => (result?.ok === true ? [[id, result.value]] : []))).toEqual([
      ['c1', { query: 'tea', limit: 1 }],
      ['c2', { query: 'milk', limit: 2 }],
    ]);
  });

  it('reads a call in a chunk that also has text', async () => {
    const toolCalls = { tool_calls: [{ index: 0, id: 'c1', function: { name: 'other', arguments: '{"a": 1}' } }] };
    const snapshots = await collect([{ choices: [{ index: 0, delta: { content: 'Let me look.', ...toolCalls } }] }]);
    expect(snapshots.at(-1)).toMatchObject({ name: 'other', result: { ok: true, value: { a: 1 } } });
  });

  it('does not complete truncated arguments', async () => {
    const snapshots = await collect(STREAMS.messages.slice(0, 5));
    expect(snapshots.at(-1)).toMatchObject({ complete: false, result: { ok: false, error: { code: 'TRUNCATED' } } });
  });

  it("reports arguments that their tool's schema rejects", async () => {
    const events = [
      { type: 'tool-input-start', id: 'c1', toolName: 'search' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"query": 1}' },
    ];
    expect((await collect(events)).at(-1)?.result).toMatchObject({ ok: false, error: { code: 'SCHEMA_MISMATCH' } });
  });

  it('ignores parts of a call that never started, and finds no schema for a tool named like an object method', async () => {
    const events = [
      { type: 'tool-input-delta', id: 'unknown', delta: '{}' },
      { type: 'tool-input-start', id: 'c1', toolName: 'constructor' },
      { type: 'tool-input-delta', id: 'c1', delta: '{}' },
    ];
    expect((await collect(events)).at(-1)).toMatchObject({ name: 'constructor', result: { ok: true } });
  });

  it('throws if the stream reports a failure', async () => {
    const events = [{ type: 'error', error: { message: 'overloaded' } }];
    await expect(collect(events)).rejects.toMatchObject({ code: 'MODEL_FAILED', message: /overloaded/ });
  });

  it('rejects more than 256 calls in one answer', async () => {
    const events = Array.from({ length: 300 }, (_, id) => ({
      type: 'tool-input-start',
      id: String(id),
      toolName: 'a',
    }));
    await expect(collect(events)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
