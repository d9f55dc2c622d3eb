const OVERSCAN_ROWS = 2;
const END_TOLERANCE_PX = 40;
/** How long to correct the position after scrolling to a row: measuring rows can move it. */
const TARGET_CORRECTION_MS = 500;

/** Creates a viewport; `draw` is called whenever the rows need to be redrawn. */
export function createListViewport(estimate: number, draw: () => void) {
  const heights = createRowHeights(estimate);
  const rowElements = new Map<Element, number>();
  let observer: ResizeObserver | null = null;
  let scroller: HTMLElement | null = null;
  let view = 0;
  let count = 0;
  let follow = false;
  let atEnd = true;
  let scrollTarget: Readonly<{ index: number; until: number; isCentred: boolean }> | null = null;
  let targetRow = 0;
  /** Identifies what was drawn last; if it has not changed, nothing is drawn. */
  let drawnKey = '';
  let drawnRows: ReadonlySet<number> = new Set();

  const scale = () => createListScale(heights.top(count), view);
  const scrolled = (): number => scroller?.scrollTop ?? 0;
  const staysAtEnd = (): boolean => follow && atEnd && scrollTarget === null;
  /** The scroll position in the list; in follow mode the end, even before the page has scrolled to new rows. */
  const top = (): number => (staysAtEnd() ? Math.max(0, heights.top(count) - view) : scale().toList(scrolled()));

  function recordHeight(row: Element, height: number): number {
    const index = Number(row.getAttribute('data-index'));
    const wasAbove = heights.top(index + 1) <= top();
    const growth = heights.measure(index, height);
    return wasAbove ? growth : 0;
  }

  function isVisible(index: number): boolean {
    const offset = heights.top(index) - top();
    return offset >= 0 && offset + heights.height(index) <= view;
  }

  function settle(): void {
    if (scroller === null) return;
    if (scrollTarget !== null && performance.now() > scrollTarget.until) scrollTarget = null;
    if (scrollTarget !== null) {
      if (!scrollTarget.isCentred && isVisible(scrollTarget.index)) return;
      const leadingSpace = Math.max(0, view - heights.height(scrollTarget.index)) / 2;
      scroller.scrollTop = scale().toPage(heights.top(scrollTarget.index) - leadingSpace);
    } else if (follow && atEnd) scroller.scrollTop = scroller.scrollHeight;
  }

  /** Waits for the row budget: if multiple lists jump, each keeps its rows until it may create the new ones. */
  function scrollToTargetRow(): void {
    scrollTarget = { index: targetRow, until: performance.now() + TARGET_CORRECTION_MS, isCentred: true };
    atEnd = false;
    settle();
    draw();
  }

  function release(): void {
    scrollTarget = null;
    rowBudget.leave(scrollToTargetRow);
  }

  const visible = (): RowRange => [heights.at(top(), count), heights.at(top() + view, count)];
  const around = ([from, to]: RowRange): RowRange => [
    Math.max(0, from - OVERSCAN_ROWS),
    Math.min(count - 1, to + OVERSCAN_ROWS),
  ];
  /** At the end, all rows are created together; adding some of them later would flicker. */
  const grantRows = (requestedRows: number): number => (staysAtEnd() ? requestedRows : rowBudget.grant(requestedRows));

  function handleResize(entries: readonly ResizeObserverEntry[]): void {
    const previousLayout = `${view} ${heights.top(count)}`;
    let shift = 0;
    for (const { target, borderBoxSize } of entries) {
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (target === scroller) view = height;
      // The observer reports a removed row once more; ignore it.
      else if (rowElements.has(target) && target.isConnected) {
        rowElements.set(target, height);
        shift += recordHeight(target, height);
      }
    }
    // Growing content above must not move the visible rows.
    if (shift !== 0 && scroller !== null && scrollTarget?.isCentred !== true) scroller.scrollTop += shift;
    if (previousLayout !== `${view} ${heights.top(count)}`) draw();
  }

  return {
    attach(element: HTMLElement) {
      scroller = element;
      observer = new ResizeObserver(handleResize);
      for (const observed of [element, ...rowElements.keys()]) observer.observe(observed);
      return () => {
        observer?.disconnect();
        rowBudget.leave(draw);
        rowBudget.leave(scrollToTargetRow);
      };
    },
    addRow: (row: HTMLElement | null): void => {
      if (row === null || rowElements.has(row)) return;
      rowElements.set(row, 0);
      observer?.observe(row);
    },
    update(list: Readonly<{ count: number; follow: boolean }>) {
      ({ count, follow } = list);
    },
    settle() {
      for (const [row, height] of rowElements) {
        if (!row.isConnected) {
          rowElements.delete(row);
          observer?.unobserve(row);
          // The observer does not report an element that now shows another row of the same height, so the height is
          // recorded here.
        } else if (height > 0) recordHeight(row, height);
      }
      settle();
    },
    show(index: number) {
      targetRow = index;
      if (!isVisible(index)) return rowBudget.wait(scrollToTargetRow);
      // A visible row keeps its position, unless rows above it turn out to be taller than estimated.
      rowBudget.leave(scrollToTargetRow);
      scrollTarget = { index, until: performance.now() + TARGET_CORRECTION_MS, isCentred: false };
    },
    /** Stops automatic scrolling, because the user has started to scroll. */
    release,
    goToEnd: (): void => {
      release();
      atEnd = true;
      if (scroller !== null) scroller.scrollTop = scroller.scrollHeight;
    },
    onScroll: (): void => {
      if (scroller !== null) {
        atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < END_TOLERANCE_PX;
      }
      const isScaled = scale().pageHeight < heights.top(count);
      if (isScaled || drawnKey !== `${around(visible()).join(' ')} ${atEnd}`) draw();
    },
    isAtEnd: () => atEnd,
    first: () => heights.at(top(), count),
    rows(): readonly number[] {
      if (view === 0 || count === 0) return [];
      const nearby = around(visible());
      drawnKey = `${nearby.join(' ')} ${atEnd}`;
      const { rows, missing } = chooseRows({
        visible: visible(),
        around: nearby,
        isDrawn: (index) => drawnRows.has(index),
        grantRows,
      });
      drawnRows = new Set(rows);
      if (missing > 0) rowBudget.wait(draw);
      return rows;
    },
    position: (index: number) => scale().position(heights.top(index), scrolled()),
    pageHeight: () => scale().pageHeight,
  };
}

type RowRange = readonly [from: number, to: number];

/** Chooses the rows to draw: those already in the page, and as many others as granted, visible ones first. */
export function chooseRows(list: {
  readonly visible: RowRange;
  readonly around: RowRange;
  readonly isDrawn: (index: number) => boolean;
  readonly grantRows: (requestedRows: number) => number;
}) {
  const [[firstVisible, lastVisible], [from, to]] = [list.visible, list.around];
  const indexes = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const isVisible = (index: number): boolean => index >= firstVisible && index <= lastVisible;
  const newRows = indexes.filter((index) => !list.isDrawn(index));
  const requestedRows = [...newRows.filter(isVisible), ...newRows.filter((index) => !isVisible(index))];
  const grantedRows = new Set(requestedRows.slice(0, list.grantRows(requestedRows.length)));
  return {
    rows: indexes.filter((index) => list.isDrawn(index) || grantedRows.has(index)),
    missing: requestedRows.length - grantedRows.size,
  };
}

/** The maximum height of the scrolled element. Browsers cannot draw elements much taller than twice this. */
const MAX_HEIGHT_PX = 15_000_000;

/** Creates a list's scale: in a list taller than a browser can draw, a pixel of the scroll bar stands for many. */
export function createListScale(total: number, view: number, maxHeight = MAX_HEIGHT_PX) {
  const ratio = total <= maxHeight ? 1 : (total - view) / (maxHeight - view);
  const toList = (scrollTop: number): number => scrollTop * ratio;
  return {
    pageHeight: Math.min(total, maxHeight),
    toList,
    toPage: (offset: number) => Math.max(0, offset / ratio),
    // Exactly the offset at a ratio of 1, so rows do not move while the list scrolls.
    position: (offset: number, scrollTop: number) => offset + (scrollTop - toList(scrollTop)),
  };
}

/** A mouse wheel scrolls about three rows into view per frame; after a jump, the last rows appear a frame later. */
const MAX_ROWS_PER_FRAME = 8;

/** Limits how many rows all lists on a page create per frame; waiting lists are drawn one after another. */
export function createRowBudget(
  scheduler: {
    /** Runs a function after the next frame, in a separate task: creating and laying out rows takes too long in one. */
    readonly afterFrame: (run: () => void) => void;
    readonly afterTask: (run: () => void) => void;
  },
  limit = MAX_ROWS_PER_FRAME,
) {
  const waiting = new Set<() => void>();
  let remaining = limit;
  let isDue = false;
  function reset(): void {
    remaining = limit;
  }
  function schedule(): void {
    if (isDue) return;
    isDue = true;
    scheduler.afterFrame(next);
  }
  function next(): void {
    isDue = false;
    reset();
    const [draw] = waiting;
    if (draw === undefined) return;
    waiting.delete(draw);
    draw();
    // Scrolling in the next frame must not wait for the rows of this one.
    scheduler.afterTask(reset);
    if (waiting.size > 0) schedule();
  }
  return {
    grant(requested: number) {
      const granted = Math.min(requested, remaining);
      remaining -= granted;
      if (granted > 0) schedule();
      return granted;
    },
    /** Queues a list that has rows left to create; it is redrawn when its turn comes. */
    wait(draw: () => void) {
      waiting.add(draw);
      schedule();
    },
    leave(draw: () => void) {
      waiting.delete(draw);
    },
  };
}

const rowBudget = createRowBudget({
  afterFrame: (run) => void requestAnimationFrame(() => setTimeout(run, 0)),
  afterTask: (run) => void setTimeout(run, 0),
});

/** Creates heights for any number of rows, with lookups in logarithmic time; unseen rows need no memory. */
export function createRowHeights(estimate: number) {
  // A Fenwick tree over how much each row differs from the estimate. Its size is a power of two.
  let size = 1024;
  let tree = new Float64Array(size + 1);
  let differences = new Float64Array(size);
  function makeRoom(index: number): void {
    while (index >= size) {
      const nextTree = new Float64Array(size * 2 + 1);
      nextTree.set(tree);
      // The new root covers all rows; rows in its second half have no difference yet.
      nextTree[size * 2] = tree[size] ?? 0;
      tree = nextTree;
      const nextDifferences = new Float64Array(size * 2);
      nextDifferences.set(differences);
      differences = nextDifferences;
      size *= 2;
    }
  }
  function top(index: number): number {
    let sum = index * estimate;
    for (let node = Math.min(index, size); node > 0; node -= node & -node) sum += tree[node] ?? 0;
    return sum;
  }
  return {
    top,
    height: (index: number) => estimate + (differences[index] ?? 0),
    /** Returns the row at an offset in pixels; beyond the end, the last of `count` rows. */
    at(offset: number, count: number) {
      let index = 0;
      let begin = 0;
      for (let step = size; step >= 1; step /= 2) {
        const next = index + step;
        if (next > size) continue;
        const end = begin + step * estimate + (tree[next] ?? 0);
        if (end > offset) continue;
        index = next;
        begin = end;
      }
      // Every row after the last measured one has the estimated height.
      if (index === size) index += Math.floor((offset - begin) / estimate);
      return Math.max(0, Math.min(index, count - 1));
    },
    /** Records a measured height; returns how much the row has grown. */
    measure(index: number, height: number) {
      makeRoom(index);
      const growth = height - estimate - (differences[index] ?? 0);
      if (growth === 0) return 0;
      differences[index] = height - estimate;
      for (let node = index + 1; node <= size; node += node & -node) tree[node] = (tree[node] ?? 0) + growth;
      return growth;
    },
  };
}
