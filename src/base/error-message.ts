/**
 * What something that was thrown says to people, whatever it is. No part of what `sluice/json` offers: it stands here
 * because every floor may import it.
 *
 * @example
 * getErrorMessage(error) // 'EACCES: permission denied'
 */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
