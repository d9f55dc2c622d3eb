/** More often than this nobody sees a difference, and drawing costs. */
const EVERY_MS = 80;

/** Makes what asks for a beat soon: however often it is called, there is one a frame at most, and not every frame. */
export function createPulse(beat: () => void): () => void {
  let isDue = false;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(
      () =>
        requestAnimationFrame((now) => {
          isDue = false;
          last = now;
          beat();
        }),
      Math.max(0, last + EVERY_MS - performance.now()),
    );
  };
}
