/** Shares out the making of rows among the lists of a page, so that no task makes more than a few. */
export interface RowTurns {
  /** How many of this many rows may be created now. */
  readonly take: (wanted: number) => number;
  /** A list with rows left to make: it is drawn again when its turn comes. */
  readonly wait: (draw: () => void) => void;
  /** The list is gone. */
  readonly leave: (draw: () => void) => void;
}

/** Ways to continue later. */
export interface Pauses {
  /** After the next frame, in a separate task: the script cost of rows is not added to their layout cost. */
  readonly afterFrame: (run: () => void) => void;
  readonly afterTask: (run: () => void) => void;
}

/** A wheel scrolls three rows into view per frame; after a jump the last rows appear a frame later. */
const MAX_ROWS_PER_FRAME = 8;

/** Makes the turns; lists that wait are drawn one after the other. */
export function createRowTurns({ afterFrame, afterTask }: Pauses, most = MAX_ROWS_PER_FRAME): RowTurns {
  const waiting = new Set<() => void>();
  let left = most;
  let isDue = false;

  function fill(): void {
    left = most;
  }
  function ask(): void {
    if (isDue) return;
    isDue = true;
    afterFrame(next);
  }
  function next(): void {
    isDue = false;
    fill();
    const [draw] = waiting;
    if (draw === undefined) return;
    waiting.delete(draw);
    draw();
    // Scrolling in the next frame must not wait for the rows of this one.
    afterTask(fill);
    if (waiting.size > 0) ask();
  }

  return {
    take(wanted) {
      const taken = Math.min(wanted, left);
      left -= taken;
      if (taken > 0) ask();
      return taken;
    },
    wait(draw) {
      waiting.add(draw);
      ask();
    },
    leave(draw) {
      waiting.delete(draw);
    },
  };
}

/** The turns of the page. */
export const rowTurns = createRowTurns({
  afterFrame: (run) => void requestAnimationFrame(() => setTimeout(run, 0)),
  afterTask: (run) => void setTimeout(run, 0),
});
