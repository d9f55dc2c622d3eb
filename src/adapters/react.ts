import { useCallback, useEffect, useRef, useState } from 'react';
import {
  createJsonStream,
  type DeepPartial,
  type JsonStreamOptions,
  type ModelChunk,
  type ParseResult,
  type StandardSchema,
} from '../json/index.js';

/** The value is copied for each render, so updates are limited to about one per frame. */
const FRAME_MS = 16;

/** A readable source; the body of a response may be null. */
type Source = AsyncIterable<ModelChunk> | ReadableStream<ModelChunk> | null;

/** The state of reading a source, and its outcome. */
interface Reading<T, Input> {
  /** The value so far: a snapshot that does not change. */
  readonly value: DeepPartial<Input> | undefined;
  /** The outcome, once the text has ended. */
  readonly result: ParseResult<T> | undefined;
  /** `failed`: the source threw; a text that does not pass the schema is `done`, with its `result`. */
  readonly status: 'idle' | 'streaming' | 'done' | 'failed';
  readonly error: unknown;
}

/** The return value of {@link useJsonStream}. */
export interface JsonStreamState<T, Input = T> extends Reading<T, Input> {
  /** Reads a source: the body of a response, a model's stream. Ends the one being read. */
  readonly start: (source: Source) => Promise<void>;
  /** Stops reading; the value stays. */
  readonly stop: () => void;
}

/**
 * A React hook that shows a value while a model writes it.
 *
 * @example
 * const { value, result, status, start } = useJsonStream(Recipe)
 * const onClick = async () => start((await fetch('/recipe')).body)
 */
export function useJsonStream<T, Input = T>(
  schema?: StandardSchema<Input, T>,
  options?: JsonStreamOptions,
): JsonStreamState<T, Input> {
  const [reading, setReading] = useState<Reading<T, Input>>({
    value: undefined,
    result: undefined,
    status: 'idle',
    error: undefined,
  });
  // A caller with an inline object literal passes a new one on each render; `start` must keep its identity.
  const latest = useRef({ schema, options });
  latest.current = { schema, options };
  const current = useRef<AbortController | undefined>(undefined);

  const stop = useCallback(() => current.current?.abort(), []);
  useEffect(() => stop, [stop]);
  const start = useCallback(async (source: Source) => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    const { signal } = controller;
    const stream = createJsonStream(latest.current.schema, latest.current.options);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (state: Partial<Reading<T, Input>>): void => {
      clearTimeout(timer);
      timer = undefined;
      setReading((before) => ({ ...before, ...state }));
    };
    show({ value: undefined, result: undefined, status: 'streaming', error: undefined });
    try {
      await readUntil(signal, source, (chunk) => {
        const { changed, result } = stream.push(chunk);
        if (changed.length > 0) timer ??= setTimeout(() => show({ value: stream.copy() }), FRAME_MS);
        return result !== undefined;
      });
      if (signal.aborted) return show({ value: stream.copy(), status: 'idle' });
      show({ result: stream.end(), value: stream.copy(), status: 'done' });
    } catch (error) {
      if (current.current === controller) show({ value: stream.copy(), status: 'failed', error });
    } finally {
      clearTimeout(timer);
    }
  }, []);
  return { ...reading, start, stop };
}

/** Reads until the end, until `take` returns true, or until the signal aborts, which also stops a source that sends nothing. */
async function readUntil(signal: AbortSignal, source: Source, take: (chunk: ModelChunk) => boolean): Promise<void> {
  const { next, leave } = openSource(source);
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    while (!signal.aborted) {
      const chunk = await Promise.race([next(), aborted]);
      if (chunk === undefined || take(chunk)) return;
    }
  } finally {
    // Not awaited: the return value is not needed, and a generator that is waiting returns late.
    void leave().catch(() => undefined);
  }
}

/** Web streams are read with a reader: some browsers cannot iterate them, and only a reader can cancel an idle one at once. */
function openSource(source: Source): { next: () => Promise<ModelChunk | undefined>; leave: () => Promise<unknown> } {
  if (source === null) return { next: async () => undefined, leave: async () => undefined };
  if ('getReader' in source) {
    const reader = source.getReader();
    return { next: async () => (await reader.read()).value, leave: async () => reader.cancel() };
  }
  const iterator = source[Symbol.asyncIterator]();
  return {
    async next() {
      const next = await iterator.next();
      return next.done === true ? undefined : next.value;
    },
    leave: async () => iterator.return?.(),
  };
}
