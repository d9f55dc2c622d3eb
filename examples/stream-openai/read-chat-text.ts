import type { ChatCompletionChunk } from 'openai/resources/chat/completions';

/**
 * The text of a streamed chat completion, piece by piece, for `streamJson` or `createJsonStream`. Whoever stops reading
 * ends the request: the client aborts it when its stream is left.
 *
 * @example
 * const chat = await client.chat.completions.create({ model, messages, stream: true })
 * for await (const { value } of streamJson(readChatText(chat), schema)) render(value)
 */
export async function* readChatText(stream: AsyncIterable<ChatCompletionChunk>): AsyncGenerator<string> {
  for await (const { choices } of stream) {
    // With `n` above 1 the answers come interleaved; one of them is one text.
    const choice = choices.find(({ index }) => index === 0);
    const text = choice?.delta.content;
    if (text) yield text;
  }
}
