import { createRowHeights } from './row-heights.js';
import { rowTurns } from './row-turns.js';

/** The viewport of a long list: keeps heights, position and end, and moves the scroller accordingly. */
interface ListViewport {
  /** Starts observing a scroll container; returns a function that stops it. */
  readonly attach: (scroller: HTMLElement) => () => void;
  /** A row that came into the page. */
  readonly keep: (row: HTMLElement | null) => void;
  /** Updates count and follow mode before the rows are drawn. */
  readonly update: (list: { readonly count: number; readonly follow: boolean }) => void;
  /** To be called when rows have been drawn. */
  readonly settle: () => void;
  /** Brings a row into view, if it is not. */
  readonly show: (index: number) => void;
  /** From now on the person scrolls. */
  readonly release: () => void;
  readonly goToEnd: () => void;
  readonly onScroll: () => void;
  readonly isAtEnd: () => boolean;
  /** The first row that is seen. */
  readonly first: () => number;
  /** The rows to draw, and the position of each. Of many new rows some come later, with another draw. */
  readonly rows: () => readonly number[];
  readonly place: (index: number) => number;
  readonly pageHeight: () => number;
}

/** Rows around the visible ones, in each direction. */
const AROUND = 2;
/** Nearer to the end than this, one is at the end. */
const AT_END_PX = 40;
/** Rows that come into view are measured and move the one that was looked for; it is followed for so long. */
const AIM_MS = 500;

/** Makes a viewport; `draw` is called whenever the rows have to be drawn again. */
export function createListViewport(estimate: number, draw: () => void): ListViewport {
  const heights = createRowHeights(estimate);
  /** The rows in the page and how high they are; 0 is not measured yet. */
  const kept = new Map<Element, number>();
  let observer: ResizeObserver | null = null;
  let scroller: HTMLElement | null = null;
  let view = 0;
  let count = 0;
  let follow = false;
  let atEnd = true;
  let aim: { readonly index: number; readonly until: number; readonly isCentred: boolean } | null = null;
  /** The row that was to be shown last. */
  let targetRow = 0;
  /** A key of what was drawn last: if it has not changed, nothing is drawn. */
  let drawn = '';
  let drawnRows: ReadonlySet<number> = new Set();

  const scale = (): ListScale => createListScale(heights.top(count), view);
  const scrolled = (): number => scroller?.scrollTop ?? 0;
  const staysAtEnd = (): boolean => follow && atEnd && aim === null;
  /** The scroll position in the list; in follow mode that is the end, even before the page has scrolled to new rows. */
  const top = (): number => (staysAtEnd() ? Math.max(0, heights.top(count) - view) : scale().toList(scrolled()));

  /** Notes a height; returns how far what is seen would move by it. */
  function note(row: Element, height: number): number {
    const index = Number(row.getAttribute('data-index'));
    const wasAbove = heights.top(index + 1) <= top();
    const growth = heights.measure(index, height);
    return wasAbove ? growth : 0;
  }

  function isSeen(index: number): boolean {
    const offset = heights.top(index) - top();
    return offset >= 0 && offset + heights.height(index) <= view;
  }

  function settle(): void {
    if (scroller === null) return;
    if (aim !== null && performance.now() > aim.until) aim = null;
    if (aim !== null) {
      if (!aim.isCentred && isSeen(aim.index)) return;
      const before = Math.max(0, view - heights.height(aim.index)) / 2;
      scroller.scrollTop = scale().toPage(heights.top(aim.index) - before);
    } else if (follow && atEnd) scroller.scrollTop = scroller.scrollHeight;
  }

  /** In a separate turn: when several lists jump to a row, each stays unchanged until its new rows can be created. */
  function scrollToTargetRow(): void {
    aim = { index: targetRow, until: performance.now() + AIM_MS, isCentred: true };
    atEnd = false;
    settle();
    draw();
  }

  function release(): void {
    aim = null;
    rowTurns.leave(scrollToTargetRow);
  }

  const seen = (): RowRange => [heights.at(top(), count), heights.at(top() + view, count)];
  const around = ([from, to]: RowRange): RowRange => [Math.max(0, from - AROUND), Math.min(count - 1, to + AROUND)];
  /** The end would flicker for a person who watches it if some of its rows came later. */
  const take = (wanted: number): number => (staysAtEnd() ? wanted : rowTurns.take(wanted));

  function takeSizes(entries: readonly ResizeObserverEntry[]): void {
    const before = `${view} ${heights.top(count)}`;
    let moved = 0;
    for (const { target, borderBoxSize } of entries) {
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (target === scroller) view = height;
      // A removed row is reported again.
      else if (kept.has(target) && target.isConnected) {
        kept.set(target, height);
        moved += note(target, height);
      }
    }
    // Content that grows above must not move what the person reads.
    if (moved !== 0 && scroller !== null && aim?.isCentred !== true) scroller.scrollTop += moved;
    if (before !== `${view} ${heights.top(count)}`) draw();
  }

  return {
    attach(element) {
      scroller = element;
      observer = new ResizeObserver(takeSizes);
      for (const one of [element, ...kept.keys()]) observer.observe(one);
      return () => {
        observer?.disconnect();
        rowTurns.leave(draw);
        rowTurns.leave(scrollToTargetRow);
      };
    },
    keep(row) {
      if (row === null || kept.has(row)) return;
      kept.set(row, 0);
      observer?.observe(row);
    },
    update(list) {
      ({ count, follow } = list);
    },
    settle() {
      for (const [row, height] of kept) {
        if (!row.isConnected) {
          kept.delete(row);
          observer?.unobserve(row);
          // An element that now shows another row is not measured again if its height is the same.
        } else if (height > 0) note(row, height);
      }
      settle();
    },
    show(index) {
      targetRow = index;
      if (!isSeen(index)) return rowTurns.wait(scrollToTargetRow);
      // A visible row stays where it is, unless rows above it are higher than estimated.
      rowTurns.leave(scrollToTargetRow);
      aim = { index, until: performance.now() + AIM_MS, isCentred: false };
    },
    release,
    goToEnd() {
      release();
      atEnd = true;
      if (scroller !== null) scroller.scrollTop = scroller.scrollHeight;
    },
    onScroll() {
      if (scroller !== null) {
        atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_END_PX;
      }
      const isScaled = scale().pageHeight < heights.top(count);
      if (isScaled || drawn !== `${around(seen()).join(' ')} ${atEnd}`) draw();
    },
    isAtEnd: () => atEnd,
    first: () => heights.at(top(), count),
    rows() {
      if (view === 0 || count === 0) return [];
      const nearby = around(seen());
      drawn = `${nearby.join(' ')} ${atEnd}`;
      const { rows, missing } = chooseRows({
        seen: seen(),
        around: nearby,
        isThere: (index) => drawnRows.has(index),
        take,
      });
      drawnRows = new Set(rows);
      if (missing > 0) rowTurns.wait(draw);
      return rows;
    },
    place: (index) => scale().place(heights.top(index), scrolled()),
    pageHeight: () => scale().pageHeight,
  };
}

/** Rows from one to another, both included. */
type RowRange = readonly [from: number, to: number];

/** The rows to draw, in order, and how many are left for later. */
interface ChosenRows {
  readonly rows: readonly number[];
  readonly missing: number;
}

/**
 * Chooses the rows to draw: those of `around` that are in the page already, and of the others as many as `take` grants,
 * visible ones first.
 *
 * @example
 * chooseRows({ seen: [10, 12], around: [8, 14], isThere: () => false, take: () => 4 })
 * // { rows: [8, 10, 11, 12], missing: 3 }
 */
export function chooseRows({
  seen,
  around,
  isThere,
  take,
}: {
  readonly seen: RowRange;
  readonly around: RowRange;
  readonly isThere: (index: number) => boolean;
  readonly take: (wanted: number) => number;
}): ChosenRows {
  const all = listIndexes(around);
  const isSeen = (index: number): boolean => index >= seen[0] && index <= seen[1];
  const fresh = all.filter((index) => !isThere(index));
  const wanted = [...fresh.filter(isSeen), ...fresh.filter((index) => !isSeen(index))];
  const granted = new Set(wanted.slice(0, take(wanted.length)));
  return {
    rows: all.filter((index) => isThere(index) || granted.has(index)),
    missing: wanted.length - granted.size,
  };
}

function listIndexes([from, to]: RowRange): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** How far the bar of a long list goes, and how far its rows. */
interface ListScale {
  /** How high the scrolled element is. */
  readonly pageHeight: number;
  /** Where in the list one is when the page is scrolled so far. */
  readonly toList: (scrollTop: number) => number;
  /** How far to scroll in order to be there. */
  readonly toPage: (offset: number) => number;
  /** The offset in the scrolled element at which a row appears in its place. */
  readonly place: (offset: number, scrollTop: number) => number;
}

/** Browsers draw no element much higher than twice this. */
const MAX_HEIGHT_PX = 15_000_000;

/**
 * In a list that is higher than a browser can draw, the scroll bar covers more than it shows; in every other list one pixel
 * is one pixel.
 */
export function createListScale(total: number, view: number, highest = MAX_HEIGHT_PX): ListScale {
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
