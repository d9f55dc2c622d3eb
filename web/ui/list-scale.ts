/** How far the bar of a long list goes, and how far its rows. */
export interface ListScale {
  /** How high the scrolled element is. */
  readonly pageHeight: number;
  /** Where in the list one is when the page is scrolled so far. */
  readonly toList: (scrollTop: number) => number;
  /** How far to scroll in order to be there. */
  readonly toPage: (offset: number) => number;
  /** Where in the scrolled element a row has to stand to be seen at its place. */
  readonly place: (offset: number, scrollTop: number) => number;
}

/** Browsers draw no element much higher than twice this. */
const HIGHEST_PX = 15_000_000;

/**
 * Of a list that is higher than a browser can draw, the bar moves over more than it shows; of every other one pixel is one
 * pixel.
 */
export function scaleOf(total: number, view: number, highest = HIGHEST_PX): ListScale {
  if (total <= highest) {
    return {
      pageHeight: total,
      toList: (scrollTop) => scrollTop,
      toPage: (offset) => Math.max(0, offset),
      place: (offset) => offset,
    };
  }
  const ratio = (total - view) / (highest - view);
  const toList = (scrollTop: number): number => scrollTop * ratio;
  return {
    pageHeight: highest,
    toList,
    toPage: (offset) => Math.max(0, offset / ratio),
    place: (offset, scrollTop) => scrollTop + offset - toList(scrollTop),
  };
}
