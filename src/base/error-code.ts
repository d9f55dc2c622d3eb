/**
 * The code of an error of the system or of a package (`ENOENT`); undefined for what has none. No part of what
 * `sluice/json` offers: it stands here because every floor may import it.
 *
 * @example
 * getErrorCode(error) === 'ENOENT'
 */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
