import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../api/endpoints.js';
import { createOpenApi } from '../api/index.js';
import { openServer } from '../fixtures/open-server.js';
import { escapeMarkup } from '../../base/index.js';
import { renderDocsPage } from './console.js';

describe('the endpoints page', () => {
  it('lists all endpoints', async () => {
    const { get } = await openServer();
    const response = await get('/docs');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    for (const [name, { path }] of Object.entries(ENDPOINTS)) {
      expect(html).toContain(`id="${name}"`);
      expect(html).toContain(escapeMarkup(path));
    }
  });

  it('describes query parameters and their limits', () => {
    const { html } = renderDocsPage(createOpenApi('1'));
    expect(html).toMatch(
      /<dt><code>limit<\/code><\/dt><dd>Maximum number of items[^<]* \(type integer, minimum 1, maximum 500\)<\/dd>/,
    );
  });

  it('runs no script and loads nothing', () => {
    const { html, policy } = renderDocsPage(createOpenApi('1'));
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+=*'; /);
    expect(html).not.toMatch(/<script|<img|<link|<iframe|@import|url\(| on\w+=/i);
    expect(html.match(/(?:href|src)="(?!#|\/)/g)).toBeNull();
  });

  it('escapes untrusted text', () => {
    const document = {
      ...createOpenApi('1'),
      info: { ...createOpenApi('1').info, title: '<b>', version: '"', description: "&'" },
    };
    expect(renderDocsPage(document).html).toContain('<h1>&lt;b&gt; &quot;</h1>\n<p>&amp;&#39;');
  });
});

describe('the description of the server', () => {
  it('is available as JSON without a token', async () => {
    const tokens = [{ name: 'ada', scopes: [], value: 'x' }] as const;
    const { get } = await openServer({ settings: { tokens } });
    expect(await (await get('/openapi.json')).json()).toMatchObject({ openapi: '3.1.0', paths: { '/v1/parse': {} } });
    expect((await get('/docs')).status).toBe(200);
  });

  it('is the redirect target of the root path', async () => {
    const { get } = await openServer();
    const response = await get('/');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });
});
