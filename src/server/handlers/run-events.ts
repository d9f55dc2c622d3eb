import type { Context } from 'hono';
import { RESPONSE_ALREADY_SENT } from '../http/hono.js';
import { readIncomingMessage, readOutgoingMessage } from '../http/read-request.js';
import { completeResponse } from '../http/responses.js';
import { findRun } from './run-view.js';
import type { CheckedRequest, Handlers } from '../http/request-checks.js';
import { RequestError } from '../http/problem.js';
import type { ServerContext } from '../server-context.js';
import { createHistory } from '../stream/read-history.js';
import { createSocketConnection, createWebStreamConnection } from '../stream/reader-connection.js';
import { limitReads } from '../stream/limit-reads.js';
import { createStreamHub } from '../stream/stream-hub.js';
import type { StartStream } from '../stream/stream-hub.js';
import { BOTH_PROTOCOLS, joinStreams } from '../stream/join-streams.js';
import { formatEnd, parseBothPositions, parsePosition, readProtocol } from '../stream/stream-protocol.js';
import type { RunRecord } from '../../store/records/index.js';
import type { ENDPOINTS } from '../api/index.js';

/** Creates the handlers for a run's events, live and past. */
export function createRunEventHandlers(
  server: ServerContext,
): Pick<Handlers, 'followRun' | 'followRunByPost' | 'readHistory'> {
  const { store, logger, shutdownSignal } = server;
  const log = limitReads(store);
  const hub = createStreamHub({ store, log, logger, shutdownSignal });
  const readHistory = createHistory(log);

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
    return send(context, start, requestId);
  }

  return {
    followRun: follow,
    followRunByPost: follow,
    async readHistory({ params, query }) {
      return readHistory(await findRun(store, params.id), query);
    },
  };
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  // Disables buffering in proxies.
  'x-accel-buffering': 'no',
} as const;

/** Starts the stream on the request's connection; without a connection, returns a web stream. */
function send(context: Context, start: StartStream, requestId: string): Response {
  const outgoing = readOutgoingMessage(context);
  if (outgoing === undefined || !('socket' in outgoing)) {
    const { connection, body } = createWebStreamConnection();
    start(connection);
    return new Response(body, { headers: STREAM_HEADERS });
  }
  // Discards the request body, which would otherwise block the connection.
  readIncomingMessage(context)?.resume();
  const head = completeResponse(new Response(null, { headers: STREAM_HEADERS }), requestId);
  // Headers for pages of other origins are already set.
  start(createSocketConnection(outgoing, Object.fromEntries([...head.headers, ...context.res.headers])));
  return RESPONSE_ALREADY_SENT;
}
