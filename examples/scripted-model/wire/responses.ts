import type { ServerSentEvent, Utterance } from './wire.js';

/** OpenAI's responses: the events with text, and the required ones around them. */
export async function* responses(model: string, utterances: AsyncIterable<Utterance>): AsyncGenerator<ServerSentEvent> {
  let sequence = 0;
  const event = (type: string, fields: object): ServerSentEvent => ({
    event: type,
    data: { type, sequence_number: sequence++, ...fields },
  });
  const response = { id: 'resp_1', object: 'response', created_at: 0, model, output: [] };
  yield event('response.created', { response: { ...response, status: 'in_progress' } });
  for await (const { kind, piece } of utterances) {
    switch (kind) {
      case 'thinking':
        yield event('response.reasoning_summary_text.delta', {
          item_id: 'rs_1',
          output_index: 0,
          summary_index: 0,
          delta: piece,
        });
        break;
      case 'text':
        yield event('response.output_text.delta', {
          item_id: 'msg_1',
          output_index: 1,
          content_index: 0,
          delta: piece,
          logprobs: [],
        });
        break;
      case 'error':
        yield event('error', { code: 'server_error', message: piece, param: null });
        return;
    }
  }
  yield event('response.completed', { response: { ...response, status: 'completed' } });
}
