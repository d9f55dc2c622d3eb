import type { AnswerOf, ENDPOINTS } from '../../api/index.js';
import { answerJson } from '../http/answer.js';
import type { Handlers } from '../http/request-checks.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';

type SessionView = AnswerOf<typeof ENDPOINTS.getSession>;

/** Sessions: a cookie instead of a token, for pages. */
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
      return withCookie(answerJson(describeSession(caller), 200, requestId), cookie);
    },
    getSession: async ({ caller }) => describeSession(caller),
    closeSession: async ({ requestId }) =>
      withCookie(answerJson({ status: 'closed' }, 200, requestId), guard.closeSession()),
  };
}

function withCookie(answer: Response, cookie: string): Response {
  answer.headers.set('set-cookie', cookie);
  return answer;
}
