/** A page is not drawn more often than this, however fast the text comes. */
const FASTEST_MS = 33;

/**
 * How often to go on, and with how many pieces at a time, to read so many characters a second.
 *
 * @example
 * paceOf(100, 4) // { everyMs: 40, pieces: 1 }
 */
export function paceOf(
  charactersPerSecond: number,
  piece: number,
): { readonly everyMs: number; readonly pieces: number } {
  const everyMs = (piece / charactersPerSecond) * 1000;
  if (everyMs >= FASTEST_MS) return { everyMs, pieces: 1 };
  return { everyMs: FASTEST_MS, pieces: Math.max(1, Math.round(FASTEST_MS / everyMs)) };
}
