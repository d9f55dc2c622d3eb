import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface SseEvent {
  /** `message` if the event has no name. */
  readonly name: string;
  readonly data: string;
  /** Undefined if the event has no id. */
  readonly id: string | undefined;
}

/** Longer than any event that the server sends. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/**
 * Reads server-sent events from a body. An event cut off by the end of the body is dropped; an event that is too long
 * throws a `RangeError`.
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
      // The standard requires unknown fields and invalid retry times to be ignored.
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
      const complete = events;
      events = [];
      yield* complete;
    }
  } finally {
    // Fails if the body is already closed or broken, so there is nothing to cancel.
    await reader.cancel().catch(() => undefined);
  }
}
