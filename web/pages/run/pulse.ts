/** More often than this nobody sees a difference, and drawing costs. */
const EVERY_MS = 80;

/**
 * Makes what asks for the beats to come soon. However often it is called, they come at most twelve times a second, one after
 * the other, each in a frame of its own: what three lenses draw would be long in one.
 */
export function createPulse(beats: readonly (() => void)[]): () => void {
  let isDue = false;
  let last = Number.NEGATIVE_INFINITY;
  function step(index: number): void {
    requestAnimationFrame((now) => {
      // What comes from now on is for the next round.
      if (index === 0) {
        isDue = false;
        last = now;
      }
      beats[index]?.();
      if (index + 1 < beats.length) step(index + 1);
    });
  }
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => step(0), Math.max(0, last + EVERY_MS - performance.now()));
  };
}
