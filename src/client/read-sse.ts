import { createLineSplitter } from './split-lines.js';

/** One server-sent event. */
export interface SseEvent {
  /** `message` where none is given. */
  readonly name: string;
  readonly data: string;
  /** Undefined where the event has none of its own. */
  readonly id: string | undefined;
}

/** Longer than any event of the server. */
const LONGEST = 64 * 1024 * 1024;

/**
 * The server-sent events of a body, as the HTML standard reads them. An event that was cut off by the end is not one.
 *
 * @example
 * for await (const { id, data } of readSse(response.body)) console.log(id, JSON.parse(data))
 */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<SseEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const split = createLineSplitter(LONGEST);
  const take = createAssembler();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes();
      for (const line of split(decoder.decode(value, { stream: true }))) {
        const event = take(line);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    // Already closed or broken is as good as canceled.
    await reader.cancel().catch(() => undefined);
  }
}

/** Takes lines; gives an event where one ends. */
function createAssembler(): (line: string) => SseEvent | undefined {
  let name = '';
  let data: string[] = [];
  let length = 0;
  let id: string | undefined;

  function finish(): SseEvent | undefined {
    const event = data.length === 0 ? undefined : { name: name === '' ? 'message' : name, data: data.join('\n'), id };
    name = '';
    data = [];
    length = 0;
    id = undefined;
    return event;
  }

  return (line) => {
    if (line === '') return finish();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') name = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'data') {
      length += value.length;
      if (length > LONGEST) throw new RangeError(`An event has more than ${LONGEST} characters.`);
      data.push(value);
    }
    return undefined;
  };
}
