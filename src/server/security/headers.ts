/**
 * Headers common to all responses. They prevent a response from being executed, framed, sniffed, cached, or read by
 * other sites. There are few of them, because each header slows down every response.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** The headers of a page. Each page replaces the content security policy with its own. */
export const PAGE_HEADERS = {
  ...SECURITY_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/**
 * The headers of the console's files. Scripts are loaded only from these files, no text is evaluated as code, and no
 * function that creates HTML accepts a string. The only Trusted Types policy creates the URL of the workbench's worker,
 * which parses long input without blocking the page (`web/pages/workbench/start-worker.ts`).
 */
export const CONSOLE_HEADERS = {
  ...SECURITY_HEADERS,
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types sluice-worker',
  ].join('; '),
} as const;
