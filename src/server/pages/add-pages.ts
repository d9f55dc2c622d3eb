import type { Context, Hono } from 'hono';
import { createOpenApi } from '../../api/index.js';
import { VERSION } from '../../files/index.js';
import { answerJson, answerProblem } from '../answer.js';
import { addConsole } from '../console/add-console.js';
import { PAGE_HEADERS, SECURITY_HEADERS } from '../security/headers.js';
import type { ServerContext } from '../server-context.js';
import { renderDocsPage } from './docs-page.js';

/**
 * Adds what describes the server to those who have found it. It holds nothing of anyone's, so no token is needed. The bare
 * address leads to the console, or where there is none to the description.
 */
export function addPages(app: Hono, server: ServerContext): void {
  const { guard, newRequestId, settings, console } = server;
  const document = createOpenApi(VERSION, { https: settings.https });
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
