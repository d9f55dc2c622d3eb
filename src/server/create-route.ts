import type { Context } from 'hono';
import type { Endpoint, EndpointName } from '../api/index.js';
import { answerJson, answerProblem, completeAnswer } from './answer.js';
import { allowOrigin } from './cross-origin.js';
import type { Deadlines } from './deadlines.js';
import type { Gate } from './gate.js';
import { headerOf } from './header-of.js';
import { readBody } from './read-body.js';
import { RequestError } from './request-error.js';
import { createRequestChecks } from './route.js';
import type { Handler, RequestChecks } from './route.js';
import type { Caller } from './security/tokens.js';
import type { ServerContext } from './server-context.js';

/** One endpoint of the table and who answers it. */
export interface Route {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  readonly handler: Handler<Endpoint>;
  /** How many are answered at once. */
  readonly gate: Gate;
  readonly deadlines: Deadlines;
}

/** What every request to an endpoint goes through: let in, checked, done in time, answered, told. */
export function createRoute(server: ServerContext, { name, endpoint, handler, gate, deadlines }: Route) {
  const { guard, settings, newRequestId, clock } = server;
  const { limits, origins } = settings;
  // Compiled when first needed: a server is there sooner, and most callers use a few endpoints.
  let checks: RequestChecks | undefined;
  const isJson = endpoint.answer.media === 'application/json';

  async function carryOut(context: Context, caller: Caller, requestId: string): Promise<Response> {
    checks ??= createRequestChecks(endpoint);
    const query = context.req.query();
    checks.query(query);
    const body = endpoint.body === undefined ? undefined : await readBody(context, limits.bodyBytes);
    checks.body(body);
    // The types of the table's entries are checked above, against the table itself.
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
        throw new RequestError('SERVER_BUSY', 'Too many requests are being answered. Try again.');
      const work = carryOut(context, admitted, requestId);
      answer = await (isJson ? deadlines.within(work) : work);
    } catch (error) {
      fault = error;
      answer = answerProblem(error, requestId);
    }
    if (leave !== undefined) leaveWhenSent(context, isJson, leave);
    const traceparent = headerOf(context, 'traceparent');
    tell(server, { name, caller, requestId, status: answer.status, ms: clock() - began, traceparent, fault });
    return allowOrigin(context, answer, origins);
  };
}

/** A stream is inside as long as its connection; without a connection, as long as its handler. */
function leaveWhenSent(context: Context, isJson: boolean, leave: () => void): void {
  const { outgoing } = (context.env ?? {}) as {
    outgoing?: { readonly closed: boolean; once(event: 'close', then: () => void): void };
  };
  // A reader that went away while its answer was prepared closes no second time.
  if (isJson || outgoing === undefined || outgoing.closed) leave();
  else outgoing.once('close', leave);
}

interface Told {
  readonly name: EndpointName;
  readonly caller: Caller | undefined;
  readonly requestId: string;
  readonly status: number;
  readonly ms: number;
  readonly traceparent: string | undefined;
  readonly fault: unknown;
}

/** The log has neither bodies nor queries nor headers: whatever secrets they hold are not in it. */
function tell(
  { logger, meter }: ServerContext,
  { name, caller, requestId, status, ms, traceparent, fault }: Told,
): void {
  meter.answered({ endpoint: name, status, ms, traceparent });
  const fields = { request_id: requestId, endpoint: name, caller: caller?.name ?? null, status, ms };
  if (status >= 500) logger.error('request failed', { ...fields, error: fault });
  else if (status >= 400) logger.info('request refused', { ...fields, error: codeOf(fault) });
  else logger.debug('request answered', fields);
}

function codeOf(fault: unknown): unknown {
  return typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : undefined;
}
