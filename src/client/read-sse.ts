import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface SseEvent {
  /** `message` where none is given. */
  readonly name: string;
  readonly data: string;
  /** Undefined where the event itself has none. */
  readonly id: string | undefined;
}

/** Longer than any event of the server. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/**
 * The server-sent events of a body. An event cut off by the end of the body is dropped; one that is too long is a
 * `RangeError`.
 *
 * @example
 * for await (const { id, data } of readSse(response.body)) console.log(id, JSON.parse(data))
 */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  { onBytes, maxLength = MAX_EVENT_LENGTH }: { readonly onBytes?: () => void; readonly maxLength?: number } = {},
): AsyncGenerator<SseEvent, void> {
  let events: SseEvent[] = [];
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ event = 'message', data, id }) => events.push({ name: event, data, id }),
    onError({ type }) {
      // Unknown fields and invalid retry times are to be ignored, as the standard says.
      if (type === 'max-buffer-size-exceeded') {
        throw new RangeError(`An event is longer than ${maxLength} characters.`);
      }
    },
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes?.();
      parser.feed(decoder.decode(value, { stream: true }));
      const ready = events;
      events = [];
      yield* ready;
    }
  } finally {
    // The body may already be closed or broken: then there is nothing to cancel.
    await reader.cancel().catch(() => undefined);
  }
}
