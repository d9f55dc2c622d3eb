import { useCallback, useEffect, useRef, useState } from 'react';
import {
  createJsonStream,
  type DeepPartial,
  type JsonStreamOptions,
  type ModelChunk,
  type ParseResult,
  type StandardSchema,
} from '../index.js';

/** The value is copied for each render, so updates are limited to about one per frame. */
const FRAME_MS = 16;

/** A readable source; a response body can be null. */
type Source = AsyncIterable<ModelChunk> | ReadableStream<ModelChunk> | null;

/** The progress of reading a source, and its outcome. */
interface StreamReading<T, Input> {
  /** The value so far: an immutable snapshot. */
  readonly value: DeepPartial<Input> | undefined;
  /** The outcome, once the source has ended. */
  readonly result: ParseResult<T> | undefined;
  /** `failed`: the source threw. Input that the schema rejects is `done`, with its `result`. */
  readonly status: 'idle' | 'streaming' | 'done' | 'failed';
  readonly error: unknown;
}

/** The return value of {@link useJsonStream}. */
export interface JsonStreamState<T, Input = T> extends StreamReading<T, Input> {
  /** Reads a source, such as a response body or a model's stream, and stops reading the previous source. */
  readonly start: (source: Source) => Promise<void>;
  /** Stops reading and keeps the value. */
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
  const [reading, setReading] = useState<StreamReading<T, Input>>({
    value: undefined,
    result: undefined,
    status: 'idle',
    error: undefined,
  });
  // Callers can pass new objects on each render, but the identity of `start` must not change.
  const latest = useRef({ schema, options });
  latest.current = { schema, options };
  const activeController = useRef<AbortController | undefined>(undefined);

  const stop = useCallback(() => activeController.current?.abort(), []);
  useEffect(() => stop, [stop]);
  const start = useCallback(async (source: Source) => {
    activeController.current?.abort();
    const controller = new AbortController();
    activeController.current = controller;
    const { signal } = controller;
    const stream = createJsonStream(latest.current.schema, latest.current.options);
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A replaced stream must not update the state, which belongs to the new stream.
    const update = (state: Partial<StreamReading<T, Input>>): void => {
      clearTimeout(timer);
      timer = undefined;
      if (activeController.current !== controller) return;
      setReading((previous) => ({ ...previous, ...state }));
    };
    update({ value: undefined, result: undefined, status: 'streaming', error: undefined });
    try {
      await readUntil(signal, source, (chunk) => {
        const { changed, result } = stream.push(chunk);
        if (changed.length > 0) timer ??= setTimeout(() => update({ value: stream.copy() }), FRAME_MS);
        return result !== undefined;
      });
      if (signal.aborted) return update({ value: stream.copy(), status: 'idle' });
      update({ result: stream.end(), value: stream.copy(), status: 'done' });
    } catch (error) {
      update({ value: stream.copy(), status: 'failed', error });
    } finally {
      clearTimeout(timer);
    }
  }, []);
  return { ...reading, start, stop };
}

/** Reads until the end, until `onChunk` returns true, or until the signal aborts, even if the source sends nothing. */
async function readUntil(signal: AbortSignal, source: Source, onChunk: (chunk: ModelChunk) => boolean): Promise<void> {
  const { next, close } = openSource(source);
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    while (!signal.aborted) {
      const chunk = await Promise.race([next(), aborted]);
      if (chunk === undefined || onChunk(chunk)) return;
    }
  } finally {
    // Not awaited, because a generator that is waiting returns late.
    void close().catch(() => undefined);
  }
}

/**
 * Web streams are read with a reader: some browsers cannot iterate them, and only a reader can cancel an idle stream
 * immediately.
 */
function openSource(source: Source): { next: () => Promise<ModelChunk | undefined>; close: () => Promise<unknown> } {
  if (source === null) return { next: async () => undefined, close: async () => undefined };
  if ('getReader' in source) {
    const reader = source.getReader();
    return { next: async () => (await reader.read()).value, close: async () => reader.cancel() };
  }
  const iterator = source[Symbol.asyncIterator]();
  return {
    async next() {
      const next = await iterator.next();
      return next.done === true ? undefined : next.value;
    },
    close: async () => iterator.return?.(),
  };
}
