import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { resolve, join } from 'node:path';
import { rm, writeFile } from 'node:fs/promises';
import { Hono, RESPONSE_ALREADY_SENT } from './http/hono.js';
import { SluiceError, createUlidGenerator, silentLogger, omitUndefined } from '../base/index.js';
import { compileSecrets, listSensitiveValues } from '../runs/index.js';
import type { Store } from '../store/index.js';
import { readConsole, addPages } from './console/console.js';
import { RequestError } from './http/problem.js';
import { isLoopback } from './security/origin.js';
import { createGuard } from './security/guard.js';
import type { ServerContext } from './server-context.js';
import { createMetrics } from './metrics/create-metrics.js';
import { DEFAULT_SETTINGS, type ServerSettings, type TokenSettings } from './server-settings.js';
import { makeFolder } from '../base/files/index.js';
import type { Context } from 'hono';
import { ENDPOINTS, type Endpoint, type EndpointName } from './api/index.js';
import { allowOrigins, completeResponse, createProblemResponse } from './http/responses.js';
import { readOutgoingMessage } from './http/read-request.js';
import { createRoute, MCP_ENDPOINT, createMcpRoute } from './http/route.js';
import { createGate, createBodyAdmission, type Gate } from './http/admission.js';
import type { Handler, Handlers } from './http/request-checks.js';
import { createInboxHandlers, createOrderHandlers } from './handlers/orders.js';
import { createScheduleHandlers, createTriggerHandlers } from './handlers/triggers.js';
import { createRecordHandlers, createServiceHandlers } from './handlers/records.js';
import { createRunEventHandlers } from './handlers/run-events.js';
import { createRunFileHandlers } from './handlers/run-files.js';
import { createRunHandlers, createRunIssueList } from './handlers/runs.js';
import { createWorkerHandlers, withProtocol } from './handlers/worker.js';
import { createParsing, INLINE_BYTES, type Parsing } from './parse/create-parsing.js';

type Replaceable = 'wrappers' | 'archive' | 'secrets' | 'clock' | 'newId' | 'logger' | 'meter' | 'work';

/** The parts of the context that the caller has; by default, secrets are the sensitive variables of this process. */
export interface ServerOptions
  extends Pick<ServerContext, 'store' | 'lead' | 'data'>, Partial<Pick<ServerContext, Replaceable>> {
  /** The address it will listen on; loopback by default. Any other address needs tokens. */
  readonly host?: string;
  readonly settings?: Partial<ServerSettings>;
  /** Whether runs execute in this process. If so, it is ready only while the data folder is writable. */
  readonly hasWorker?: boolean;
  /** The console's build folder; without it, `/docs` is the only page. */
  readonly web?: string;
}

/** A server without a port. */
export interface SluiceServer {
  /** The server as a function from request to response. */
  readonly app: Hono;
  readonly context: ServerContext;
  /** Refuses new work and reports not ready; reading still works. */
  readonly drain: () => void;
  /** Replaces the accepted tokens, and whether reading needs one. Sessions of removed tokens end. */
  readonly replaceTokens: (settings: TokenSettings) => void;
  readonly end: () => void;
}

export const DEFAULT_HOST = '127.0.0.1';

/** Creates a server without a port. Throws `TOKENS_NEEDED` if other hosts could reach it and there are no tokens. */
export function createServer(options: ServerOptions): SluiceServer {
  const { store, lead, host = DEFAULT_HOST, clock = () => store.now() } = options;
  const settings: ServerSettings = { ...DEFAULT_SETTINGS, ...options.settings };
  if (!isLoopback(host) && (settings.tokens.length === 0 || settings.openRead === true)) {
    throw new SluiceError(
      'TOKENS_NEEDED',
      `Cannot listen on "${host}" without tokens, because other hosts could reach the server. Configure tokens (SLUICE_TOKENS), or listen on ${DEFAULT_HOST}.`,
    );
  }
  const shutdown = new AbortController();
  // Every open stream listens.
  setMaxListeners(0, shutdown.signal);
  let isDraining = false;
  const checkAcceptsWork = (): void => {
    if (isDraining) throw new RequestError('SHUTTING_DOWN', 'The server is shutting down. Try again in a few seconds.');
  };

  const data = resolve(options.data);
  const checkStoreAndData = createReadyCheck(store, options.hasWorker === true ? data : undefined);
  const context: ServerContext = {
    store,
    lead,
    wrappers: options.wrappers ?? {},
    data,
    archive: options.archive,
    settings,
    secrets: options.secrets ?? compileSecrets({ values: listSensitiveValues(process.env) }),
    guard: createGuard({ settings, host, clock }),
    console: options.web === undefined ? undefined : readConsole(options.web),
    clock,
    newId: options.newId ?? createUlidGenerator(clock),
    newRequestId: createRequestIds(),
    logger: options.logger ?? silentLogger,
    meter:
      options.meter ??
      createMetrics({ store, data: options.data, clock, ...omitUndefined({ logger: options.logger }) }),
    work: options.work ?? {},
    checkAcceptsWork,
    async checkReady() {
      checkAcceptsWork();
      await checkStoreAndData();
    },
    shutdownSignal: shutdown.signal,
  };
  return {
    app: createApp(context),
    context,
    replaceTokens: (replacement) => context.guard.replaceTokens(replacement),
    drain() {
      isDraining = true;
    },
    end() {
      isDraining = true;
      shutdown.abort();
    },
  };
}

/** Creates request ids that are unique across servers. Counting is cheaper than random bytes for every request. */
function createRequestIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** The size of the test file: as much as a short run writes. */
const TEST_BYTES = 64 * 1024;
/** How long a result is reused, because every check writes a file and anyone can request one. */
const VALID_MS = 1000;

/**
 * Creates the check for `/readyz`, which throws `NOT_READY` unless the store responds and the data folder is writable.
 * `writesTo` is the folder that this process writes runs to, if it runs a worker.
 */
export function createReadyCheck(store: Pick<Store, 'listRuns'>, writesTo?: string): () => Promise<void> {
  let pending: Promise<void> | undefined;

  async function checkWritable(folder: string): Promise<void> {
    pending ??= tryToWrite(folder).finally(() => {
      setTimeout(() => (pending = undefined), VALID_MS).unref();
    });
    return pending;
  }

  return async () => {
    await store.listRuns({ limit: 1 }).catch(refuse('The store does not respond.'));
    if (writesTo !== undefined) await checkWritable(writesTo).catch(refuse('Cannot write to the data folder.'));
  };
}

function refuse(problem: string): (cause: unknown) => never {
  return (cause) => {
    const advice = 'See the server log for the reason, fix it, then try again.';
    throw new RequestError('NOT_READY', `${problem} ${advice}`, { cause });
  };
}

/** Writes a test file. It must be a new file, because overwriting an existing one succeeds even on a full disk. */
async function tryToWrite(folder: string): Promise<void> {
  const file = join(folder, `.ready-${process.pid}`);
  await makeFolder(folder);
  await rm(file, { force: true });
  try {
    await writeFile(file, Buffer.alloc(TEST_BYTES), { flag: 'wx', flush: true });
  } finally {
    await rm(file, { force: true });
  }
}

/** Creates the server as a function from request to response, with all endpoints and pages; tests call it without a port. */
function createApp(server: ServerContext): Hono {
  const app = new Hono();
  const { limits, origins } = server.settings;
  const requests = createGate(limits.requestsAtOnce);
  const streams = createGate(limits.streamsAtOnce);
  const downloads = createGate(limits.requestsAtOnce);
  const bodies = createBodyAdmission(limits);
  const parsing = createParsing(server);
  const handlers = createHandlers(server, parsing);

  app.use(async (context, next) => {
    server.guard.checkHost(context);
    await next();
    if (readOutgoingMessage(context)?.headersSent !== true) return;
    // A stream has written to the connection itself. hono may have copied its response to add headers, and the adapter
    // recognizes only the original.
    context.res = undefined;
    context.res = RESPONSE_ALREADY_SENT;
  });
  if (origins.length > 0) app.use(allowOrigins(origins, server.newRequestId));
  for (const [key, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    const name = key as EndpointName;
    const ownHandler = handlers[name] as Handler<Endpoint>;
    const handler = endpoint.scope === 'worker' ? withProtocol(ownHandler) : ownHandler;
    const gate = ALWAYS_ADMITTED.has(name) ? undefined : chooseGate(endpoint.response.media);
    const largeBody = name === 'parse' ? { above: INLINE_BYTES, answer: parsing.parseInThread } : undefined;
    const listFurtherIssues = name === 'startRun' ? createRunIssueList(server) : undefined;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const { requestMs } = limits;
    const route = { name, endpoint, handler, gate, bodies, requestMs, largeBody, listFurtherIssues };
    app.on(endpoint.method, path, createRoute(server, route));
  }
  app.on(MCP_ENDPOINT.method, MCP_ENDPOINT.path, createMcpRoute(server, { app, gate: streams, bodies }));
  addPages(app, server);

  /**
   * Chooses the concurrency limit for an endpoint. A slow client can take a long time to download, so downloads must
   * not occupy the slots of other requests.
   */
  function chooseGate(media: string): Gate {
    if (media === 'text/event-stream') return streams;
    return media === 'application/json' ? requests : downloads;
  }

  app.notFound((context) => createUnmatchedResponse(context, server.newRequestId()));
  app.onError((error) => {
    const requestId = server.newRequestId();
    if (!(error instanceof RequestError)) server.logger.error('request failed', { request_id: requestId, error });
    return createProblemResponse(error, requestId);
  });
  return app;
}

/** The endpoints that respond even under load, so monitoring does not consider the server dead. */
const ALWAYS_ADMITTED: ReadonlySet<EndpointName> = new Set(['health', 'ready']);

/** Creates the handlers for all endpoints; each resource has its own file. */
function createHandlers(context: ServerContext, parsing: Parsing): Handlers {
  return {
    parse: ({ body, caller }) => parsing.answer(body, caller.name),
    ...createRunHandlers(context),
    ...createRunEventHandlers(context),
    ...createRunFileHandlers(context),
    ...createTriggerHandlers(context),
    ...createScheduleHandlers(context),
    ...createOrderHandlers(context),
    ...createInboxHandlers(context),
    ...createRecordHandlers(context),
    ...createServiceHandlers(context),
    ...createWorkerHandlers(context),
  };
}

/** Creates the response when no route matches: an unknown path, a wrong method, or a preflight that is granted nothing. */
function createUnmatchedResponse({ req: { path, method } }: Context, requestId: string): Response {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((known) => known.method);
  if (methods.length === 0)
    return createProblemResponse(
      new RequestError('NO_SUCH_PATH', 'No such path. See /docs for the list of endpoints.'),
      requestId,
    );
  const allow = methods.join(', ');
  if (method === 'OPTIONS')
    return completeResponse(new Response(null, { status: 204, headers: { allow: `${allow}, OPTIONS` } }), requestId);
  const message = `This path does not support this method. Use ${allow}.`;
  return createProblemResponse(new RequestError('METHOD_NOT_ALLOWED', message), requestId, { allow });
}

const PATTERNS = [...Object.values<Endpoint>(ENDPOINTS), MCP_ENDPOINT].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
