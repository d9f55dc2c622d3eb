import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import type { ResponseOf, ENDPOINTS } from '../api/index.js';
import { createJsonResponse } from '../http/responses.js';
import type { Caller } from '../security/tokens.js';
import { WRAPPER_ENGINES, findAgentEngine } from '../../orders/index.js';
import type { Wrappers } from '../../orders/index.js';
import { listLaunchers } from '../../runs/index.js';

type SessionView = ResponseOf<typeof ENDPOINTS.getSession>;

/** Creates the handlers for liveness, readiness, metrics, sessions, and the values that requests may contain. */
export function createServiceHandlers({ checkReady, meter, guard, logger, settings, wrappers, lead }: ServerContext) {
  const describeSession = ({ name, scopes }: Caller): SessionView => ({
    name,
    scopes: [...scopes].filter((scope) => scope !== 'none'),
    needs_token: settings.tokens.length > 0,
  });
  const { commands, roots, env, allowBypass, agents } = settings;
  const engines = Object.values(listLaunchers(agents)).map(({ engine, canResume, canAsk }) => ({
    name: engine,
    takes: engine === 'command' ? ('command' as const) : ('prompt' as const),
    can_ask: canResume,
    asks_permission: canAsk === true,
  }));
  const permissions = ['safe', 'workspace', ...(allowBypass ? (['bypass'] as const) : []), 'ask'] as const;
  const workers = listWrappers(wrappers);
  const checks = Object.keys(lead.checks);
  const repos = lead.repos.map(({ url }) => url);
  return {
    health: async () => ({ status: 'ok' }),
    async ready() {
      await checkReady();
      return { status: 'ready' };
    },
    metrics: async () =>
      new Response(await meter.render(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
    // In a session, pages use a cookie instead of a token.
    async openSession({ body, context, requestId }) {
      const { caller, cookie } = guard.openSession(context, body.token);
      logger.info('session opened', { caller: caller.name, request_id: requestId });
      return setCookie(createJsonResponse(JSON.stringify(describeSession(caller)), 200, requestId), cookie);
    },
    getSession: async ({ caller }) => describeSession(caller),
    closeSession: async ({ requestId }) =>
      setCookie(createJsonResponse(JSON.stringify({ status: 'closed' }), 200, requestId), guard.closeSession()),
    // Forms offer these values as choices.
    listEngines: async () => ({ engines, commands, roots, repos, permissions, env, workers, checks }),
  } satisfies Partial<Handlers>;
}

function setCookie(response: Response, cookie: string): Response {
  response.headers.set('set-cookie', cookie);
  return response;
}

/** Lists the configured wrappers and the built-in agents: orders name one of them in their field `worker`. */
function listWrappers(wrappers: Wrappers): { name: string; type: string }[] {
  const configured = Object.entries(wrappers).map(([name, { type }]) => ({ name, type }));
  const agents = Object.keys(WRAPPER_ENGINES).filter(
    (type) => findAgentEngine(type) !== undefined && !Object.hasOwn(wrappers, type),
  );
  return [...configured, ...agents.map((type) => ({ name: type, type }))];
}
