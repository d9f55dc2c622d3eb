/** Limits the number of rows that all lists on a page together create per frame. */
export interface RowTurns {
  /** Returns how many of the requested rows may be created now. */
  readonly grant: (wanted: number) => number;
  /** Queues a list that has rows left to create; it is redrawn when its turn comes. */
  readonly wait: (draw: () => void) => void;
  /** Removes a list from the queue. */
  readonly leave: (draw: () => void) => void;
}

/** Functions that schedule work for later. */
export interface Scheduler {
  /**
   * Runs a function after the next frame, in a separate task: creating and laying out rows would take too long in one
   * task.
   */
  readonly afterFrame: (run: () => void) => void;
  readonly afterTask: (run: () => void) => void;
}

/** A mouse wheel scrolls about three rows into view per frame; after a jump, the last rows appear a frame later. */
const MAX_ROWS_PER_FRAME = 8;

/** Creates the scheduler; waiting lists are drawn one after another. */
export function createRowTurns({ afterFrame, afterTask }: Scheduler, limit = MAX_ROWS_PER_FRAME): RowTurns {
  const waiting = new Set<() => void>();
  let left = limit;
  let isDue = false;

  function reset(): void {
    left = limit;
  }
  function schedule(): void {
    if (isDue) return;
    isDue = true;
    afterFrame(next);
  }
  function next(): void {
    isDue = false;
    reset();
    const [draw] = waiting;
    if (draw === undefined) return;
    waiting.delete(draw);
    draw();
    // Scrolling in the next frame must not wait for the rows of this one.
    afterTask(reset);
    if (waiting.size > 0) schedule();
  }

  return {
    grant(wanted) {
      const granted = Math.min(wanted, left);
      left -= granted;
      if (granted > 0) schedule();
      return granted;
    },
    wait(draw) {
      waiting.add(draw);
      schedule();
    },
    leave(draw) {
      waiting.delete(draw);
    },
  };
}

/** The page's scheduler. */
export const rowTurns = createRowTurns({
  afterFrame: (run) => void requestAnimationFrame(() => setTimeout(run, 0)),
  afterTask: (run) => void setTimeout(run, 0),
});
