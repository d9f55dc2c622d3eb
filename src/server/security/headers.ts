/**
 * The headers of every response. Responses are data: never executed, framed, sniffed, cached or read by other sites. Few
 * headers, because each costs every response.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** The headers of a page, besides its own policy. */
export const PAGE_HEADERS = {
  ...SECURITY_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/**
 * The headers of the console's files. Scripts come from its own files, nothing is evaluated, and no HTML sink accepts a
 * string. The one allowed policy creates the URL of the workbench's worker, which parses long texts without blocking the
 * page (`web/pages/workbench/start-worker.ts`).
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
