import { ENDPOINTS } from '../api/index.js';
import type { AcpSessionNotification, AgUiEvent, FcmpEvent, RaspEvent } from '../events/index.js';
import { ClientError } from './client-error.js';
import { readSse } from './read-sse.js';
import type { SseEvent } from './read-sse.js';
import type { SendRequest } from './send-request.js';

/** The events of each protocol. */
export interface ProtocolEvents {
  readonly fcmp: FcmpEvent;
  readonly rasp: RaspEvent;
  readonly agui: AgUiEvent;
  readonly acp: AcpSessionNotification;
}

/** Events that the server does not have any more; `to` is null where nobody knows how many there were. */
export interface Gap {
  readonly from: string;
  readonly to: string | null;
}

/** Which events to follow, and from where. */
export interface FollowInput<Protocol extends keyof ProtocolEvents> {
  readonly id: string;
  /** `fcmp` by default. */
  readonly protocol?: Protocol;
  /** The position of the last event that is known already; `17`, for RASP `1:17`. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Told of events that are gone. Without it a gap is an error, `EVENTS_MISSING`. */
  readonly onGap?: (gap: Gap) => void;
  /** Told of the position that was reached, with the last event of each group: where to begin next time. */
  readonly onPosition?: (position: string) => void;
  /** Told when the server has answered and when a connection has broken, for those who show it. */
  readonly onConnection?: (state: 'open' | 'broken') => void;
}

/** Tries in a row that may come to nothing. */
const MOST_FAILURES = 20;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** The server gives a sign of life three times as often. */
const SILENCE_MS = 45_000;

/**
 * The events of a run, as they come, until it has ended. A connection that breaks is opened again where it broke, so each
 * event comes once and in order.
 */
export async function* followRun<Protocol extends keyof ProtocolEvents = 'fcmp'>(
  send: SendRequest,
  input: FollowInput<Protocol>,
): AsyncGenerator<ProtocolEvents[Protocol], void> {
  const { signal, onGap, onPosition, onConnection } = input;
  let position = input.after;
  for (let failures = 0; ; failures += 1) {
    let broken: unknown;
    try {
      // What the server sends is of these types: it is of the same package.
      let group: ProtocolEvents[Protocol][] = [];
      for await (const event of connect(send, input, position)) {
        failures = 0;
        if (event.name === 'end') return;
        if (event.name === 'gap') tellGap(readData(event) as Gap, onGap);
        if (event.name === 'message') group.push(readData(event) as ProtocolEvents[Protocol]);
        if (event.id === undefined) continue;
        // What one event of the log became is handed on together: a group that broke off comes again from its beginning.
        position = event.id;
        onPosition?.(position);
        yield* group;
        group = [];
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      broken = error;
    }
    if (failures >= MOST_FAILURES) {
      const message = `No connection lasts after ${MOST_FAILURES} tries. Look whether the server runs, then go on after the last position.`;
      throw new ClientError('STREAM_LOST', message, { cause: broken });
    }
    onConnection?.('broken');
    await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
  }
}

/** The events of one connection; one that has fallen silent breaks off. After the last event of a run there is an `end`. */
async function* connect(
  send: SendRequest,
  { id, protocol = 'fcmp', signal, onConnection }: FollowInput<keyof ProtocolEvents>,
  position: string | undefined,
): AsyncGenerator<SseEvent, void> {
  const silence = new AbortController();
  const guard = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(new Error('silence')), SILENCE_MS);
  let timer = guard();
  try {
    const answer = await send(ENDPOINTS.followRun, {
      params: { id },
      query: { protocol },
      headers: position === undefined ? {} : { 'last-event-id': position },
      signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
    });
    onConnection?.('open');
    if (answer.status === 204 || answer.body === null) {
      yield { name: 'end', data: '{}', id: undefined };
      return;
    }
    yield* readSse(answer.body, {
      onBytes() {
        clearTimeout(timer);
        timer = guard();
      },
    });
  } catch (error) {
    throw asClientError(error);
  } finally {
    clearTimeout(timer);
  }
}

function readData({ data }: SseEvent): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new ClientError('ANSWER_UNREADABLE', 'An event is not JSON. Look whether the address is that of Sluice.', {
      cause: error,
    });
  }
}

function tellGap(gap: Gap, onGap: ((gap: Gap) => void) | undefined): void {
  if (onGap !== undefined) return onGap(gap);
  const message = `The events from ${gap.from} to ${gap.to ?? 'the end'} are gone. Pass onGap to go on without them.`;
  throw new ClientError('EVENTS_MISSING', message);
}

/** A connection that breaks does so with whatever the platform throws. */
function asClientError(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  if (error instanceof RangeError) {
    return new ClientError('ANSWER_UNREADABLE', `${error.message} Look whether the address is that of Sluice.`, {
      cause: error,
    });
  }
  return new ClientError('SERVER_UNREACHABLE', 'The connection broke. Look whether the server runs, and where.', {
    cause: error,
  });
}

/** A server that is busy, starts anew or cannot be reached; what it refuses it would refuse again. */
function isPassing(error: unknown): boolean {
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
