import { RESPONSE_ALREADY_SENT } from '../http/hono.js';
import { readIncomingMessage, readOutgoingMessage } from '../http/read-request.js';
import { completeResponse } from '../http/responses.js';
import { findRun } from './run-view.js';
import type { CheckedRequest, Handlers } from '../http/request-checks.js';
import { RequestError } from '../http/problem.js';
import type { ServerContext } from '../server-context.js';
import { createSocketConnection, createWebStreamConnection, keepOpen } from '../stream/reader-connection.js';
import { createStreamHub, type StartStream } from '../stream/stream-hub.js';
import {
  formatEnd,
  parseBothPositions,
  parsePosition,
  readProtocol,
  nextPosition,
  chooseSourceLog,
  previousPosition,
  formatPosition,
  createEventEncoder,
} from '../stream/stream-protocol.js';
import type { RunRecord } from '../../store/records/index.js';
import type { Endpoint, ENDPOINTS, ResponseOf } from '../api/index.js';
import type { EventLog } from '../../store/ports/index.js';
import { LOG_START, comparePositions, getPosition, type LogPosition } from '../../events/index.js';

export function createRunEventHandlers(
  server: ServerContext,
): Pick<Handlers, 'followRun' | 'followRunByPost' | 'readHistory'> {
  const { store, logger, shutdownSignal } = server;
  const log = limitReads(store);
  const hub = createStreamHub({ store, log, logger });

  async function prepare(run: RunRecord, protocolName: string | undefined, position: string | undefined) {
    if (protocolName !== BOTH_PROTOCOLS) {
      const protocol = readProtocol(protocolName);
      return hub.prepare({ run, protocol, after: parsePosition(protocol, position) });
    }
    const after = parseBothPositions(position);
    const starts = await Promise.all([
      hub.prepare({ run, protocol: 'fcmp', after: after.fcmp }),
      hub.prepare({ run, protocol: 'rasp', after: after.rasp }),
    ]);
    return joinStreams(starts, formatEnd('fcmp', run.result?.status ?? null));
  }

  async function follow({
    params,
    query,
    context,
    requestId,
  }: CheckedRequest<typeof ENDPOINTS.followRun | typeof ENDPOINTS.followRunByPost>): Promise<Response> {
    if (shutdownSignal.aborted)
      throw new RequestError('SHUTTING_DOWN', 'The server is shutting down. Try again in a few seconds.');
    const run = await findRun(store, params.id);
    const start = await prepare(run, query['protocol'], context.req.header('last-event-id') ?? query['after']);
    if (start === undefined) return new Response(null, { status: 204 });
    if (context.req.method === 'HEAD') return new Response(null, { headers: STREAM_HEADERS });
    return sendStream({ context, requestId, shutdownSignal }, start);
  }

  return {
    followRun: follow,
    followRunByPost: follow,
    async readHistory({ params, query }) {
      return readHistory(log, await findRun(store, params.id), query);
    },
  };
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  // Disables buffering in proxies.
  'x-accel-buffering': 'no',
} as const;

/** Starts the stream on the request's connection; without a connection, returns a web stream. */
export function sendStream(
  {
    context,
    requestId,
    shutdownSignal,
  }: Pick<CheckedRequest<Endpoint>, 'context' | 'requestId'> & Pick<ServerContext, 'shutdownSignal'>,
  start: StartStream,
): Response {
  const outgoing = readOutgoingMessage(context);
  if (outgoing === undefined || !('socket' in outgoing)) {
    const { connection, body } = createWebStreamConnection();
    keepOpen(connection, shutdownSignal);
    start(connection);
    return new Response(body, { headers: STREAM_HEADERS });
  }
  // Discards the request body, which would otherwise block the connection.
  readIncomingMessage(context)?.resume();
  const head = completeResponse(new Response(null, { headers: STREAM_HEADERS }), requestId);
  // Headers for pages of other origins are already set.
  const headers = Object.fromEntries([...head.headers, ...context.res.headers]);
  const connection = createSocketConnection(outgoing, headers);
  keepOpen(connection, shutdownSignal);
  start(connection);
  return RESPONSE_ALREADY_SENT;
}

/** Limits log reads to one page per turn of the event loop: many readers of long runs would block other requests. */
export function limitReads(log: Pick<EventLog, 'read'>): Pick<EventLog, 'read'> {
  const waiting: (() => void)[] = [];

  function next(): void {
    const resolve = waiting.shift();
    if (waiting.length > 0) setImmediate(next);
    resolve?.();
  }

  return {
    async read(query) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(next);
      });
      return log.read(query);
    },
  };
}

/** Both logs on one connection: a browser opens at most six connections per server, across all windows. */
const BOTH_PROTOCOLS = 'fcmp,rasp';

/**
 * Sends multiple streams over one connection, which closes when the last of them ends. A stream with nothing to send
 * also gets an end event, so a reader can count the ends. Undefined if no stream has anything to send.
 */
function joinStreams(starts: readonly (StartStream | undefined)[], end: string): StartStream | undefined {
  if (starts.every((start) => start === undefined)) return undefined;
  return (connection, endAll = () => connection.end()) => {
    const open = new Set(starts.keys());
    for (const [index, start] of starts.entries()) {
      const endOne = (): void => {
        open.delete(index);
        if (open.size === 0) endAll();
      };
      if (start !== undefined) {
        start(connection, endOne);
        continue;
      }
      connection.write(Buffer.from(end));
      endOne();
    }
  };
}

type HistoryQuery = Readonly<Record<string, string>>;

/** Events, and the position of the next one if there are more. */
type History = ResponseOf<typeof ENDPOINTS.readHistory>;

const DEFAULT_LIMIT = 1000;
const PAGE = 256;
/** A response stops after this many bytes, even if it has only a few events. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Reads a range of past events, both ends included. `limit` counts events of the log; in a
 * projection, each can become multiple events or none. A projection gets all earlier events first, because its output
 * depends on them.
 */
async function readHistory(log: Pick<EventLog, 'read'>, run: RunRecord, query: HistoryQuery): Promise<History> {
  const protocol = readProtocol(query['protocol']);
  const encoder = createEventEncoder(protocol);
  const from = previousPosition(parsePosition(protocol, query['from']));
  const to = query['to'] === undefined ? undefined : parsePosition(protocol, query['to']);
  const limit = query['limit'] === undefined ? DEFAULT_LIMIT : Number(query['limit']);
  const events: object[] = [];
  let last: LogPosition = encoder.isStateful ? LOG_START : from;
  let count = 0;
  let bytes = 0;
  for (;;) {
    const range = {
      after: formatPosition(protocol, last),
      ...(to === undefined ? {} : { to: formatPosition(protocol, to) }),
    };
    const page = await log.read({ runId: run.id, protocol: chooseSourceLog(protocol), ...range, limit: PAGE });
    if (page.length === 0) break;
    for (const emitted of page) {
      const position = getPosition(emitted);
      if (count >= limit || bytes >= MAX_BYTES) return { events, next_from: formatPosition(protocol, position) };
      const encoded = encoder.encode(emitted);
      last = position;
      if (comparePositions(position, from) <= 0) continue;
      events.push(...encoded);
      count += 1;
      bytes += JSON.stringify(encoded).length;
    }
  }
  // The final events of a projection follow the last event, as in the stream.
  const isComplete =
    run.state === 'ended' && (to === undefined || comparePositions(nextPosition(protocol, last), to) <= 0);
  return { events: isComplete ? [...events, ...encoder.finish()] : events, next_from: null };
}
