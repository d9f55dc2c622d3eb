import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';

/**
 * The text of a streamed message, piece by piece, for `streamJson` or `createJsonStream`; thoughts and tool calls are
 * left out. Whoever stops reading ends the request: the client aborts it when its stream is left, and throws when the
 * provider fails.
 *
 * @example
 * const message = await client.messages.create({ model, messages, max_tokens: 1024, stream: true })
 * for await (const { value } of streamJson(readText(message), schema)) render(value)
 */
export async function* readText(stream: AsyncIterable<RawMessageStreamEvent>): AsyncGenerator<string> {
  for await (const event of stream) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
  }
}
