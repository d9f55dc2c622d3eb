import type { Context, Hono } from 'hono';
import { createOpenApi } from '../../api/index.js';
import { VERSION } from '../../files/index.js';
import { answerJson, answerProblem } from '../http/answer.js';
import { addConsole } from '../console/add-console.js';
import { PAGE_HEADERS, SECURITY_HEADERS } from '../security/headers.js';
import type { ServerContext } from '../server-context.js';
import { renderDocsPage } from './docs-page.js';

/**
 * Adds `/docs` and `/openapi.json`. They contain no data, so they need no token. `/` redirects to the console, or to `/docs`
 * where there is none.
 */
export function addPages(app: Hono, server: ServerContext): void {
  const { guard, newRequestId, settings, console } = server;
  const document = createOpenApi(VERSION, { https: settings.https, url: '/' });
  const docs = renderDocsPage(document);

  const show = (path: string, answer: (requestId: string) => Response): void => {
    app.get(path, (context: Context) => {
      const requestId = newRequestId();
      try {
        guard.checkHost(context);
        return answer(requestId);
      } catch (error) {
        return answerProblem(error, requestId);
      }
    });
  };
  show('/openapi.json', (requestId) => answerJson(document, 200, requestId));
  show('/docs', (requestId) => {
    const headers = { ...PAGE_HEADERS, 'content-security-policy': docs.policy, 'x-request-id': requestId };
    return new Response(docs.html, { headers });
  });
  if (console !== undefined) {
    addConsole(app, server, console);
    return;
  }
  show('/', (requestId) => {
    const headers = { ...SECURITY_HEADERS, location: '/docs', 'x-request-id': requestId };
    return new Response(null, { status: 302, headers });
  });
}
