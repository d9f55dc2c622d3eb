import type { StandardSchema } from '../schema.js';
import type { ModelChunk } from './model-chunk.js';
import { createJsonStream, type JsonSnapshot, type JsonStream, type JsonStreamOptions } from './json-stream.js';

/**
 * {@link createJsonStream} over any async iterable: a Node `Readable`, a `ReadableStream`, a generator, a stream from
 * OpenAI's or Anthropic's client, the AI SDK's `fullStream`. Stops, and closes the source, as soon as the outcome is
 * known; the last snapshot has a `result`.
 *
 * @example
 * for await (const { value, result } of streamJson(response.body, schema)) {
 *   render(value)
 *   if (result) finish(result)
 * }
 */
export async function* streamJson<T, Input = T>(
  source: AsyncIterable<ModelChunk> | Iterable<ModelChunk>,
  schema?: StandardSchema<Input, T>,
  options: JsonStreamOptions = {},
): AsyncGenerator<JsonSnapshot<T, Input>, void, undefined> {
  const stream = createJsonStream(schema, options);
  let complete = false;
  for await (const chunk of source) {
    const snapshot = stream.push(chunk);
    yield snapshot;
    if (snapshot.result !== undefined) return;
    complete = snapshot.complete;
    if (complete && options.stopWhenComplete === true) break;
  }
  yield createLastSnapshot(stream, complete);
}

/**
 * {@link createJsonStream} as a Web Streams transform: text or bytes in, snapshots out, the last one with `result`.
 *
 * @example
 * response.body.pipeThrough(createJsonTransform(schema)).pipeTo(new WritableStream({ write: ({ value }) => render(value) }))
 */
export function createJsonTransform<T, Input = T>(
  schema?: StandardSchema<Input, T>,
  options: JsonStreamOptions = {},
): TransformStream<ModelChunk, JsonSnapshot<T, Input>> {
  const stream = createJsonStream(schema, options);
  let complete = false;
  return new TransformStream({
    transform(chunk, controller) {
      const snapshot = stream.push(chunk);
      complete = snapshot.complete;
      controller.enqueue(snapshot);
      if (snapshot.result === undefined) {
        if (!complete || options.stopWhenComplete !== true) return;
        controller.enqueue(createLastSnapshot(stream, complete));
      }
      controller.terminate();
    },
    flush(controller) {
      controller.enqueue(createLastSnapshot(stream, complete));
    },
  });
}

function createLastSnapshot<T, Input>(stream: JsonStream<T, Input>, complete: boolean): JsonSnapshot<T, Input> {
  const { value } = stream.push('');
  const result = stream.end();
  return { value, changed: [], complete: complete || result.ok, result };
}
