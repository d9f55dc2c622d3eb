/** Limits the number of rows that all lists on a page together create per frame. */
export interface RowBudget {
  /** Returns how many of the requested rows may be created now. */
  readonly grant: (requested: number) => number;
  /** Queues a list that has rows left to create; it is redrawn when its turn comes. */
  readonly wait: (draw: () => void) => void;
  /** Removes a list from the queue. */
  readonly leave: (draw: () => void) => void;
}

/** Functions that schedule work for later. */
export interface FrameScheduler {
  /**
   * Runs a function after the next frame, in a separate task: creating and laying out rows would take too long in one
   * task.
   */
  readonly afterFrame: (run: () => void) => void;
  readonly afterTask: (run: () => void) => void;
}

/** A mouse wheel scrolls about three rows into view per frame; after a jump, the last rows appear a frame later. */
const MAX_ROWS_PER_FRAME = 8;

/** Creates a row budget; waiting lists are drawn one after another. */
export function createRowBudget({ afterFrame, afterTask }: FrameScheduler, limit = MAX_ROWS_PER_FRAME): RowBudget {
  const waiting = new Set<() => void>();
  let remaining = limit;
  let isDue = false;

  function reset(): void {
    remaining = limit;
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
    grant(requested) {
      const granted = Math.min(requested, remaining);
      remaining -= granted;
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

/** The row budget of the page. */
export const rowBudget = createRowBudget({
  afterFrame: (run) => void requestAnimationFrame(() => setTimeout(run, 0)),
  afterTask: (run) => void setTimeout(run, 0),
});
