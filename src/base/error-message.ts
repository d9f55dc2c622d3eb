/**
 * Returns the message of anything that was thrown. Not exported from `sluice/json`: it is on this room because every room
 * may import it.
 *
 * @example
 * getErrorMessage(error) // 'EACCES: permission denied'
 */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
