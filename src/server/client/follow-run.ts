import { createParser } from 'eventsource-parser';
import { ENDPOINTS } from '../api/index.js';
import type { AcpSessionNotification, AgUiEvent, FcmpEvent, RaspEvent } from '../../events/index.js';
import { ClientError, type SendRequest } from './send-request.js';

/** The events of each protocol. */
export interface ProtocolEvents {
  readonly fcmp: FcmpEvent;
  readonly rasp: RaspEvent;
  readonly agui: AgUiEvent;
  readonly acp: AcpSessionNotification;
  /** Both logs on one connection, each in its own order; only RASP events have an `attempt_number`. */
  readonly 'fcmp,rasp': LogEvent;
}

/** An event from either of a run's logs. */
type LogEvent = FcmpEvent | RaspEvent;

/** Events that the server has deleted; `to` is null if the last deleted event is unknown. */
export interface EventGap {
  readonly from: string;
  readonly to: string | null;
}

/** The events to follow, and the position to start after. */
export interface FollowInput<Protocol extends keyof ProtocolEvents> {
  readonly id: string;
  /** `fcmp` by default. */
  readonly protocol?: Protocol;
  /** The position of the last event received: `17`, for RASP `1:17`, for both `17,1:17`. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Called for deleted events. Without it a gap is an error, `EVENTS_MISSING`. */
  readonly onGap?: (gap: EventGap) => void;
  /** Called with each position that the stream can be resumed from, just before the events up to it are yielded. */
  readonly onPosition?: (position: string) => void;
  /** Called when a connection is opened or breaks. */
  readonly onConnection?: (state: 'open' | 'broken') => void;
}

/** After this many consecutive failures, an error is thrown. */
const MAX_FAILURES = 20;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** A connection without data for this long is dropped; the server sends three heartbeats in this time. */
const SILENCE_MS = 45_000;
/** If a connection still receives data after this time, failures are counted from 0 again, even if a proxy closes it next. */
const STABLE_MS = 10_000;

/**
 * Yields a run's events as they arrive, until it has ended. A broken connection is resumed where it broke, so each
 * event is delivered once and in order.
 */
export async function* followRun<Protocol extends keyof ProtocolEvents = 'fcmp'>(
  send: SendRequest,
  input: FollowInput<Protocol>,
): AsyncGenerator<ProtocolEvents[Protocol], void> {
  const { signal, onGap, onPosition, onConnection } = input;
  const cursor = createCursor(input);
  let failures = 0;
  const onStable = (): void => void (failures = 0);
  for (;;) {
    let broken: unknown;
    let endedLogs = 0;
    try {
      // The server is part of the same package, so its events have these types.
      let group: ProtocolEvents[Protocol][] = [];
      for await (const event of connect(send, input, cursor.read(), onStable)) {
        failures = 0;
        if (event.name === 'end') endedLogs += 1;
        if (endedLogs === cursor.logs) return;
        if (event.name === 'gap') reportGap(readData(event) as EventGap, onGap);
        if (event.name === 'message') {
          const received = readData(event) as ProtocolEvents[Protocol];
          group.push(received);
        }
        if (event.id === undefined) continue;
        // The events of one log entry are delivered together: an interrupted group is sent again from its start.
        const position = cursor.advance(event.id);
        onPosition?.(position);
        yield* group;
        group = [];
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTemporary(error)) throw error;
      broken = error;
    }
    failures += 1;
    if (failures >= MAX_FAILURES) {
      const message = `The stream failed ${MAX_FAILURES} times in a row. Check that the server is running, then resume after the last position.`;
      throw new ClientError('STREAM_LOST', message, { cause: broken });
    }
    onConnection?.('broken');
    await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal);
  }
}

/** Creates the cursor to resume from. Two logs on one connection have separate positions and ids. */
function createCursor({ protocol, after }: FollowInput<keyof ProtocolEvents>) {
  if (protocol !== 'fcmp,rasp') {
    let position = after;
    return { logs: 1, read: () => position, advance: (id: string) => (position = id) };
  }
  let [fcmp = '0', rasp = '0:0'] = after?.split(',') ?? [];
  const formatPositions = (): string => `${fcmp},${rasp}`;
  return {
    logs: 2,
    read: () => formatPositions(),
    advance(id: string) {
      if (id.includes(':')) rasp = id;
      else fcmp = id;
      return formatPositions();
    },
  };
}

/**
 * Yields the events of one connection, which is dropped after a long silence. The last event of a run is followed by
 * `end`. Calls `onStable` if the connection lasts.
 */
async function* connect(
  send: SendRequest,
  { id, protocol = 'fcmp', signal, onConnection }: FollowInput<keyof ProtocolEvents>,
  position: string | undefined,
  onStable: () => void,
): AsyncGenerator<SseEvent, void> {
  const silenceTimeout = new AbortController();
  const startTimer = (): ReturnType<typeof setTimeout> =>
    setTimeout(() => silenceTimeout.abort(new Error('no data received')), SILENCE_MS);
  let timer = startTimer();
  try {
    const response = await send(ENDPOINTS.followRun, {
      params: { id },
      query: { protocol },
      headers: position === undefined ? {} : { 'last-event-id': position },
      signal: signal === undefined ? silenceTimeout.signal : AbortSignal.any([signal, silenceTimeout.signal]),
    });
    onConnection?.('open');
    const openedAt = performance.now();
    if (response.status === 204 || response.body === null) {
      const end = { name: 'end', data: '{}', id: undefined };
      yield* protocol === 'fcmp,rasp' ? [end, end] : [end];
      return;
    }
    yield* readSse(response.body, {
      onBytes() {
        clearTimeout(timer);
        timer = startTimer();
        if (performance.now() - openedAt > STABLE_MS) onStable();
      },
    });
  } catch (error) {
    throw toClientError(error);
  } finally {
    clearTimeout(timer);
  }
}

function readData({ data }: SseEvent): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new ClientError(
      'ANSWER_UNREADABLE',
      'An event is not valid JSON. Check that the address belongs to a Sluice server.',
      {
        cause: error,
      },
    );
  }
}

function reportGap(gap: EventGap, onGap: ((gap: EventGap) => void) | undefined): void {
  if (onGap !== undefined) return onGap(gap);
  const message = `The events from ${gap.from} to ${gap.to ?? 'the end'} were deleted. Pass onGap to continue without them.`;
  throw new ClientError('EVENTS_MISSING', message);
}

/** Platforms throw different errors for a broken connection. */
function toClientError(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  if (error instanceof RangeError) {
    return new ClientError('ANSWER_UNREADABLE', `${error.message} Check that the address belongs to a Sluice server.`, {
      cause: error,
    });
  }
  return new ClientError('SERVER_UNREACHABLE', 'The connection broke. Check that the server is running.', {
    cause: error,
  });
}

/** Whether a retry can help: the server is busy, restarting or unreachable. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return error.code === 'SERVER_UNREACHABLE' || error.status === 429 || (error.status ?? 0) >= 500;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    function done(): void {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export interface SseEvent {
  /** `message` if the event has no name. */
  readonly name: string;
  readonly data: string;
  /** Undefined if the event has no id. */
  readonly id: string | undefined;
}

/** Longer than any event that the server sends. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/** Reads server-sent events. A cut-off event at the end is dropped; one that is too long throws a `RangeError`. */
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
