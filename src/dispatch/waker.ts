/** Lets a loop sleep until something happens. */
export interface Waker {
  readonly wake: () => void;
  /** Resolves when woken, also by a call that came before, or after so many milliseconds. */
  readonly sleep: (longestMs: number) => Promise<void>;
}

/**
 * Makes a waker for one sleeper.
 *
 * @example
 * const waker = createWaker()
 * while (isRunning) { await takeWork(); await waker.sleep(1000) }
 */
export function createWaker(): Waker {
  let isWoken = false;
  let rouse: (() => void) | undefined;
  return {
    wake: () => {
      isWoken = true;
      rouse?.();
    },
    sleep: async (longestMs) => {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, longestMs);
          rouse = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rouse = undefined;
      isWoken = false;
    },
  };
}
