/**
 * Returns the `code` of a thrown error (`ENOENT`), or undefined. Not exported from `sluice/json`: it is on this room
 * because every room may import it.
 *
 * @example
 * getErrorCode(error) === 'ENOENT'
 */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
