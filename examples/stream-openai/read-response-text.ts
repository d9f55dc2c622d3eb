import type { ResponseStreamEvent } from 'openai/resources/responses/responses';

/**
 * The text of a streamed response, piece by piece, for `streamJson` or `createJsonStream`. Whoever stops reading ends
 * the request. A response that fails throws: half an answer is not taken for one.
 *
 * @example
 * const response = await client.responses.create({ model, input, stream: true })
 * for await (const { value } of streamJson(readResponseText(response), schema)) render(value)
 */
export async function* readResponseText(stream: AsyncIterable<ResponseStreamEvent>): AsyncGenerator<string> {
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') yield event.delta;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'response.failed') throw new Error(event.response.error?.message ?? 'the response failed');
  }
}
