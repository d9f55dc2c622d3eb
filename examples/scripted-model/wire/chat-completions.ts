import type { ServerSentEvent, Utterance } from './wire.js';

/** OpenAI's chat completions, with `reasoning_content`, as most compatible servers send it. */
export async function* chatCompletions(
  model: string,
  utterances: AsyncIterable<Utterance>,
): AsyncGenerator<ServerSentEvent> {
  const chunk = (delta: object, finishReason: 'stop' | null): ServerSentEvent => ({
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    },
  });
  yield chunk({ role: 'assistant', content: '' }, null);
  for await (const { kind, piece } of utterances) {
    switch (kind) {
      case 'thinking':
        yield chunk({ reasoning_content: piece }, null);
        break;
      case 'text':
        yield chunk({ content: piece }, null);
        break;
      case 'error':
        yield { data: { error: { message: piece, type: 'server_error', code: null, param: null } } };
        return;
    }
  }
  yield chunk({}, 'stop');
  yield { data: '[DONE]' };
}
