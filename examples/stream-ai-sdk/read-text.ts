import type { TextStreamPart, ToolSet } from 'ai';

/**
 * Yields the text of an AI SDK call in chunks, for `streamJson` or `createJsonStream`, without reasoning and tool calls.
 * Abandoning `fullStream` does not end the request, so the call is started here, with a signal that ends it. A failure
 * is thrown, which `textStream` would hide; pass `onError` to `streamText` to keep it from being printed.
 *
 * @example
 * const text = readText((abortSignal) => streamText({ model, prompt, abortSignal }))
 * for await (const { value } of streamJson(text, schema)) render(value)
 */
export async function* readText<Tools extends ToolSet>(
  start: (abortSignal: AbortSignal) => { readonly fullStream: AsyncIterable<TextStreamPart<Tools>> },
): AsyncGenerator<string> {
  const abort = new AbortController();
  try {
    for await (const part of start(abort.signal).fullStream) {
      if (part.type === 'text-delta') yield part.text;
      if (part.type === 'error') throw toError(part.error);
    }
  } finally {
    abort.abort();
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(JSON.stringify(error), { cause: error });
}
