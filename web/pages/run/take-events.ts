/** Work in one go; a frame has 16 ms, and drawing needs its share. */
const SLICE_MS = 6;

/**
 * Takes events as they come, and lets the page draw and listen in between: fifty thousand that are there at once are taken in
 * slices. Ends when `take` has had enough.
 */
export async function takeEvents<Event>(
  events: AsyncIterable<Event>,
  take: (event: Event) => 'more' | 'enough',
): Promise<'ended' | 'enough'> {
  let began = performance.now();
  for await (const event of events) {
    if (take(event) === 'enough') return 'enough';
    if (performance.now() - began < SLICE_MS) continue;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    began = performance.now();
  }
  return 'ended';
}
