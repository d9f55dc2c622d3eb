/** Lets so many in at once. */
export interface Gate {
  /** Returns what is to be called on leaving, once or more; undefined if it is full. */
  enter(): (() => void) | undefined;
}

/** Makes a gate for `most` at once. */
export function createGate(most: number): Gate {
  let inside = 0;
  return {
    enter() {
      if (inside >= most) return undefined;
      inside += 1;
      let hasLeft = false;
      return () => {
        if (!hasLeft) inside -= 1;
        hasLeft = true;
      };
    },
  };
}
