import type { ServerSentEvent, Utterance } from './wire.js';

/** Anthropic's messages: a block of thoughts, then a block of text. */
export async function* messages(model: string, utterances: AsyncIterable<Utterance>): AsyncGenerator<ServerSentEvent> {
  let index = -1;
  let open: 'thinking' | 'text' | undefined;
  yield event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  });
  yield event('ping');
  for await (const { kind, piece } of utterances) {
    if (kind === 'error') {
      yield event('error', { error: { type: 'overloaded_error', message: piece } });
      return;
    }
    if (kind !== open) {
      if (open !== undefined) yield event('content_block_stop', { index });
      index++;
      open = kind;
      const block = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
      yield event('content_block_start', { index, content_block: block });
    }
    const delta = kind === 'text' ? { type: 'text_delta', text: piece } : { type: 'thinking_delta', thinking: piece };
    yield event('content_block_delta', { index, delta });
  }
  if (open !== undefined) yield event('content_block_stop', { index });
  yield event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: index },
  });
  yield event('message_stop');
}

function event(type: string, fields: object = {}): ServerSentEvent {
  return { event: type, data: { type, ...fields } };
}
