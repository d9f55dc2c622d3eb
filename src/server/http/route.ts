import type { Context } from 'hono';
import type { Endpoint, EndpointName } from '../../api/index.js';
import { answerJson, answerJsonText, answerProblem, completeAnswer, allowOrigin } from './answer.js';
import type { Deadlines, Gate } from './admission.js';
import { readHeader, readBody, readJson } from './read-request.js';
import { RequestError } from './problem.js';
import { createRequestChecks } from './request-checks.js';
import type { Handler, RequestChecks } from './request-checks.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';

/** One endpoint and its handler. */
interface Route {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  readonly handler: Handler<Endpoint>;
  /** Limits how many requests are handled at once. */
  readonly gate: Gate;
  readonly deadlines: Deadlines;
  /** Answers bodies of more than `above` bytes without parsing them here. */
  readonly largeBody?: LargeBody | undefined;
}

/** How an endpoint answers large bodies. */
export interface LargeBody {
  readonly above: number;
  /** The answer as JSON. */
  answer(body: Uint8Array, caller: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** What every request goes through: admission, validation, the handler within its time limit, the response, metrics and log. */
export function createRoute(server: ServerContext, { name, endpoint, handler, gate, deadlines, largeBody }: Route) {
  const { guard, settings, newRequestId, clock } = server;
  const { limits, origins } = settings;
  // Compiled on first use: the server starts sooner, and most callers use few endpoints.
  let checks: RequestChecks | undefined;
  const isJson = endpoint.answer.media === 'application/json';

  async function handle(context: Context, caller: Caller, requestId: string): Promise<Response> {
    checks ??= createRequestChecks(endpoint);
    const query = context.req.query();
    checks.query(query);
    const bytes = endpoint.body === undefined ? undefined : await readBody(context, limits.bodyBytes);
    if (largeBody !== undefined && bytes !== undefined && bytes.length > largeBody.above)
      return answerJsonText(await largeBody.answer(bytes, caller.name), endpoint.answer.status, requestId);
    const body = bytes === undefined ? undefined : readJson(bytes);
    checks.body(body);
    // Validated above against the endpoint's schemas.
    const params = context.req.param() as never;
    const answer: unknown = await handler({ params, query, body: body as never, caller, requestId, context });
    if (answer instanceof Response) return completeAnswer(answer, requestId);
    return answerJson(answer, endpoint.answer.status, requestId);
  }

  return async (context: Context): Promise<Response> => {
    const began = clock();
    const requestId = newRequestId();
    let caller: Caller | undefined;
    let leave: (() => void) | undefined;
    let answer: Response;
    let fault: unknown;
    try {
      const admitted = guard.admit(context, endpoint);
      caller = admitted;
      leave = gate.enter();
      if (leave === undefined)
        throw new RequestError('SERVER_BUSY', 'The server is handling too many requests. Try again in a few seconds.');
      const work = handle(context, admitted, requestId);
      answer = await (isJson ? deadlines.within(work) : work);
    } catch (error) {
      fault = error;
      answer = answerProblem(error, requestId);
    }
    if (leave !== undefined) leaveWhenSent(context, isJson, leave);
    const traceparent = readHeader(context, 'traceparent');
    report(server, { name, caller, requestId, status: answer.status, ms: clock() - began, traceparent, fault });
    return allowOrigin(context, answer, origins);
  };
}

/** A stream holds its place as long as its connection; without a connection, as long as its handler runs. */
function leaveWhenSent(context: Context, isJson: boolean, leave: () => void): void {
  const { outgoing } = (context.env ?? {}) as {
    outgoing?: { readonly closed: boolean; once(event: 'close', then: () => void): void };
  };
  // The connection may have closed while the response was prepared: it does not emit 'close' again.
  if (isJson || outgoing === undefined || outgoing.closed) leave();
  else outgoing.once('close', leave);
}

interface HandledRequest {
  readonly name: EndpointName;
  readonly caller: Caller | undefined;
  readonly requestId: string;
  readonly status: number;
  readonly ms: number;
  readonly traceparent: string | undefined;
  readonly fault: unknown;
}

/** Bodies, queries and headers are not logged: they may hold secrets. */
function report(
  { logger, meter }: ServerContext,
  { name, caller, requestId, status, ms, traceparent, fault }: HandledRequest,
): void {
  meter.answered({ endpoint: name, status, ms, traceparent });
  const fields = { request_id: requestId, endpoint: name, caller: caller?.name ?? null, status, ms };
  if (status >= 500) logger.error('request failed', { ...fields, error: fault });
  else if (status >= 400) logger.info('request refused', { ...fields, error: readCode(fault) });
  else logger.debug('request answered', fields);
}

function readCode(fault: unknown): unknown {
  return typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : undefined;
}
