import type { Context } from 'hono';
import type { Endpoint } from '../../api/index.js';
import { answerJson, answerJsonText, answerProblem, completeAnswer, allowOrigin, JsonText } from './answer.js';
import type { Deadlines, Gate } from './admission.js';
import type { BodyAdmission } from './body-admission.js';
import { readHeader, readIncomingMessage, readJson, readOutgoingMessage } from './read-request.js';
import { RequestError } from './problem.js';
import { createRequestChecks } from './request-checks.js';
import type { Handler, RequestChecks } from './request-checks.js';
import type { Caller } from '../security/tokens.js';
import type { RouteName, ServerContext } from '../server-context.js';

/** An endpoint as a route needs it. */
type RouteEndpoint = Endpoint & { readonly checksOrigin?: boolean };

/** One endpoint and its handler. */
interface Route {
  readonly name: RouteName;
  readonly endpoint: RouteEndpoint;
  readonly handler: Handler<Endpoint>;
  /** Limits how many requests are handled at once; without it an endpoint always answers. */
  readonly gate: Gate | undefined;
  /** Limits what is received at once. */
  readonly bodies: BodyAdmission;
  readonly deadlines: Deadlines;
  /** Answers bodies of more than `above` bytes without parsing them here. */
  readonly largeBody?: LargeBody | undefined;
}

/** How an endpoint processes large bodies. */
export interface LargeBody {
  readonly above: number;
  /** The answer as JSON. */
  answer(body: Uint8Array, caller: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** Creates the pipeline of every request: admission, validation, the handler within its time limit, the response, metrics and log. */
export function createRoute(server: ServerContext, route: Route) {
  const { name, endpoint, handler, gate, bodies, deadlines, largeBody } = route;
  const { guard, newRequestId, clock } = server;
  const { origins } = server.settings;
  // Compiled on first use: the server starts sooner, and most callers use few endpoints.
  let checks: RequestChecks | undefined;
  const isJson = endpoint.answer.media === 'application/json';

  async function handle(context: Context, { caller, requestId, hold, keepUntilSent }: Admitted): Promise<Response> {
    checks ??= createRequestChecks(endpoint);
    const query = context.req.query();
    checks.query(query);
    const receiving = endpoint.body === undefined ? undefined : bodies.receive(context, endpoint, { caller, hold });
    const bytes = receiving === undefined ? undefined : await receiving.bytes;
    receiving?.leave();
    // A place is taken once the body is here: who sends one slowly keeps no place from others.
    if (gate !== undefined) hold(gate.enter(caller.name));
    if (largeBody !== undefined && bytes !== undefined && bytes.length > largeBody.above) {
      // The received bytes stay charged until the response, which may be as large, was read.
      keepUntilSent();
      return answerJsonText(await largeBody.answer(bytes, caller.name), endpoint.answer.status, requestId);
    }
    const body = bytes === undefined ? undefined : readJson(bytes);
    checks.body(body);
    // Validated above against the endpoint's schemas.
    const params = context.req.param() as never;
    const answer: unknown = await handler({
      params,
      query,
      body: body as never,
      bytes: bytes ?? NO_BYTES,
      caller,
      requestId,
      context,
    });
    if (answer instanceof JsonText) return answerJsonText(answer.json, endpoint.answer.status, requestId);
    if (answer instanceof Response) return completeAnswer(answer, requestId);
    return answerJson(answer, endpoint.answer.status, requestId);
  }

  return async (context: Context): Promise<Response> => {
    const began = clock();
    const requestId = newRequestId();
    let caller: Caller | undefined;
    const held: (() => void)[] = [];
    let isOver = false;
    let answer: Response;
    let fault: unknown;
    /** Keeps what is to be released after the answer; throws where there was nothing to take. */
    const hold = (release: (() => void) | undefined): void => {
      if (release === undefined)
        throw new RequestError('SERVER_BUSY', 'The server is handling too many requests. Try again in a few seconds.');
      if (isOver) release();
      else held.push(release);
    };
    let isLong = !isJson;
    const keepUntilSent = (): void => {
      isLong = true;
    };
    try {
      caller = guard.admit(context, endpoint);
      const work = handle(context, { caller, requestId, hold, keepUntilSent });
      answer = await (isJson ? deadlines.within(work) : work);
    } catch (error) {
      fault = error;
      answer = answerProblem(error, requestId);
      endUnread(context, error, answer);
    }
    releaseWhenSent(context, isLong, () => {
      isOver = true;
      for (const release of held) release();
    });
    const traceparent = readHeader(context, 'traceparent');
    report(server, { name, caller, requestId, status: answer.status, ms: clock() - began, traceparent, fault });
    return allowOrigin(context, answer, origins);
  };
}

const NO_BYTES = new Uint8Array();

interface Admitted {
  readonly caller: Caller;
  readonly requestId: string;
  readonly hold: (release: (() => void) | undefined) => void;
  readonly keepUntilSent: () => void;
}

/** A body that did not arrive in time is not waited for any longer: its connection ends with the answer. */
function endUnread(context: Context, error: unknown, answer: Response): void {
  if (readCode(error) === 'REQUEST_TIMED_OUT' && readIncomingMessage(context)?.complete === false)
    answer.headers.set('connection', 'close');
}

/** A long response holds its place until it is sent; without a connection, until its handler ends. */
function releaseWhenSent(context: Context, isLong: boolean, release: () => void): void {
  const outgoing = readOutgoingMessage(context);
  // The connection may have closed while the response was prepared: it does not emit 'close' again.
  if (!isLong || outgoing === undefined || outgoing.closed) release();
  else outgoing.once('close', release);
}

interface HandledRequest {
  readonly name: RouteName;
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
