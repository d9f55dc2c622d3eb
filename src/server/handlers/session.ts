import type { ResponseOf, ENDPOINTS } from '../../api/index.js';
import { createJsonResponse } from '../http/responses.js';
import type { Handlers } from '../http/request-checks.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';

type SessionView = ResponseOf<typeof ENDPOINTS.getSession>;

/** Creates the session handlers. In a session, pages use a cookie instead of a token. */
export function createSessionHandlers({
  guard,
  logger,
  settings,
}: ServerContext): Pick<Handlers, 'openSession' | 'getSession' | 'closeSession'> {
  const describeSession = ({ name, scopes }: Caller): SessionView => ({
    name,
    scopes: [...scopes].filter((scope) => scope !== 'none'),
    needs_token: settings.tokens.length > 0,
  });
  return {
    async openSession({ body, context, requestId }) {
      const { caller, cookie } = guard.openSession(context, body.token);
      logger.info('session opened', { caller: caller.name, request_id: requestId });
      return setCookie(createJsonResponse(describeSession(caller), 200, requestId), cookie);
    },
    getSession: async ({ caller }) => describeSession(caller),
    closeSession: async ({ requestId }) =>
      setCookie(createJsonResponse({ status: 'closed' }, 200, requestId), guard.closeSession()),
  };
}

function setCookie(response: Response, cookie: string): Response {
  response.headers.set('set-cookie', cookie);
  return response;
}
