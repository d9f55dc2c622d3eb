import type { Context } from 'hono';
import { ENDPOINTS } from '../api/index.js';
import type { Endpoint } from '../api/index.js';
import { answerProblem } from './answer.js';
import { answerPreflight } from './cross-origin.js';
import { RequestError } from './request-error.js';
import type { ServerContext } from './server-context.js';

/**
 * The answer to what no endpoint takes: a browser that asks beforehand, a wrong method, a path that is none. Routes that
 * took any method beside the right one would cost every request that goes right.
 */
export function answerStray(context: Context, { settings, newRequestId }: ServerContext): Response {
  const { path, method } = context.req;
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((known) => known.method);
  if (methods.length === 0) {
    return answerProblem(
      new RequestError('NO_SUCH_PATH', 'There is nothing here; /docs lists what there is.'),
      newRequestId(),
    );
  }
  if (method === 'OPTIONS') return answerPreflight(context, methods, settings.origins);
  const allowed = methods.join(', ');
  const answer = answerProblem(
    new RequestError('METHOD_NOT_ALLOWED', `This path can be asked with ${allowed} only.`),
    newRequestId(),
  );
  answer.headers.set('allow', allowed);
  return answer;
}

const PATTERNS = Object.values<Endpoint>(ENDPOINTS).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
