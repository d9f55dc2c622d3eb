/**
 * What every answer carries. Answers are data: nothing in them is to be run, framed, guessed at, kept by others or read by
 * other sites. Few headers, because each costs every answer.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** What a page carries beside its own policy: it is opened and left by people, and by old browsers. */
export const PAGE_HEADERS = {
  ...SECURITY_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/**
 * What the files of the console carry. Its scripts are its own files, nothing is evaluated, and nothing can be made of a
 * text but text: no sink of HTML takes a string. The one policy that may be made lets through the address of the
 * workbench's worker, which reads long texts without holding up the page (`web/pages/workbench/start-worker.ts`).
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
