import type { Hono } from 'hono';
import { createOpenApi } from '../api/index.js';
import { VERSION } from '../../base/files/index.js';
import { createJsonResponse } from '../http/responses.js';
import { addConsole } from '../console/add-console.js';
import { PAGE_HEADERS, SECURITY_HEADERS } from '../security/headers.js';
import type { ServerContext } from '../server-context.js';
import { renderDocsPage } from './docs-page.js';

/**
 * Adds `/docs` and `/openapi.json`. They contain no data, so they need no token. `/` is the console, or redirects to
 * `/docs` if the console is not built.
 */
export function addPages(app: Hono, server: ServerContext): void {
  const { newRequestId, settings, console } = server;
  const document = createOpenApi(VERSION, { https: settings.https, url: '/' });
  const docs = renderDocsPage(document);

  const addPage = (path: string, createResponse: (requestId: string) => Response): void => {
    app.get(path, () => createResponse(newRequestId()));
  };
  addPage('/openapi.json', (requestId) => createJsonResponse(JSON.stringify(document), 200, requestId));
  addPage('/docs', (requestId) => {
    const headers = { ...PAGE_HEADERS, 'content-security-policy': docs.policy, 'x-request-id': requestId };
    return new Response(docs.html, { headers });
  });
  if (console !== undefined) {
    addConsole(app, server, console);
    return;
  }
  addPage('/', (requestId) => {
    const headers = { ...SECURITY_HEADERS, location: '/docs', 'x-request-id': requestId };
    return new Response(null, { status: 302, headers });
  });
}
