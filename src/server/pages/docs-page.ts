import { createHash } from 'node:crypto';
import { ENDPOINTS } from '../../api/index.js';
import type { Endpoint, OpenApi } from '../../api/index.js';

/** A page and its content security policy. */
interface Page {
  readonly html: string;
  /** The `Content-Security-Policy` header. */
  readonly policy: string;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; font-size: 1.05rem; font-family: ui-monospace, monospace; border-top: 1px solid var(--line); padding-top: 1rem; }
h2 b { display: inline-block; min-width: 3.5rem; }
nav { columns: 2; font-family: ui-monospace, monospace; font-size: .85rem; }
nav a { display: block; text-decoration: none; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
pre { background: var(--soft); padding: .8rem; overflow: auto; font-size: .8rem; max-height: 30rem; }
code { font-family: ui-monospace, monospace; } summary { cursor: pointer; }
`;

/** The list of endpoints as one page, without scripts or external files. */
export function renderDocsPage({ info }: OpenApi): Page {
  const endpoints = Object.entries<Endpoint>(ENDPOINTS);
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(info.title)}: HTTP</title><style>${STYLE}</style></head>
<body>
<h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1>
<p>${escapeHtml(info.description)} The same for programs: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Where tokens are configured, send one as <code>Authorization: Bearer …</code>. Problems are <code>application/problem+json</code> with a <code>code</code> and a sentence that says what to do; every answer has an <code>x-request-id</code>.</p>
<nav>${endpoints.map(([name, { method, path }]) => `<a href="#${name}">${method} ${escapeHtml(path)}</a>`).join('')}</nav>
${endpoints.map(([name, endpoint]) => renderEndpoint(name, endpoint)).join('\n')}
</body>
</html>
`;
  const digest = createHash('sha256').update(STYLE).digest('base64');
  return {
    html,
    policy: `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function renderEndpoint(
  name: string,
  { method, path, scope, summary, query, body, answer, problems }: Endpoint,
): string {
  const parameters = Object.entries(query ?? {}).map(
    ([parameter, schema]) =>
      `<tr><td><code>${escapeHtml(parameter)}</code></td><td><code>${escapeHtml(JSON.stringify(schema))}</code></td></tr>`,
  );
  return [
    `<h2 id="${name}"><b>${method}</b>${escapeHtml(path)}</h2>`,
    `<p>${escapeHtml(summary)} ${scope === 'none' ? 'No token needed.' : `Needs the scope <code>${scope}</code>.`}</p>`,
    ...(parameters.length === 0 ? [] : [`<table><tr><th>query</th><th></th></tr>${parameters.join('')}</table>`]),
    ...(body === undefined ? [] : [renderSchema('The body', body)]),
    answer.schema === undefined
      ? `<p>Answers with <code>${[answer.media, answer.alternative].filter(Boolean).join('</code> or <code>')}</code>.</p>`
      : renderSchema(`Response ${answer.status}`, answer.schema),
    ...(problems === undefined ? [] : [`<p>Specific problem codes: <code>${problems.join(', ')}</code>.</p>`]),
  ].join('\n');
}

function renderSchema(title: string, schema: object): string {
  const text = escapeHtml(JSON.stringify(schema, null, 2));
  return `<details><summary>${escapeHtml(title)}</summary><pre>${text}</pre></details>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
