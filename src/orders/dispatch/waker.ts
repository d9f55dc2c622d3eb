export type Waker = ReturnType<typeof createWaker>;

/** Creates a waker, which lets a loop sleep until something happens. */
export function createWaker() {
  let isWoken = false;
  let resume: (() => void) | undefined;
  let alarm: { readonly time: number; readonly timer: NodeJS.Timeout } | undefined;

  function wake(): void {
    isWoken = true;
    resume?.();
  }

  return {
    wake,
    /** Resolves when woken, even by an earlier call, or after this many milliseconds; returns whether it was woken. */
    sleep: async (longestMs: number): Promise<boolean> => {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, longestMs);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const wasWoken = isWoken;
      resume = undefined;
      isWoken = false;
      return wasWoken;
    },
    /** Wakes at a time of `performance.now()`, or earlier if an earlier time was set. */
    wakeAt: (time: number): void => {
      if (alarm !== undefined && alarm.time <= time) return;
      clearTimeout(alarm?.timer);
      const ring = (): void => {
        alarm = undefined;
        wake();
      };
      alarm = {
        time,
        timer: setTimeout(ring, Math.min(MAX_ALARM_MS, Math.max(0, time - performance.now()))).unref(),
      };
    },
  };
}

/** The maximum timer duration; a sleeper that is woken too early sets the alarm again. */
const MAX_ALARM_MS = 2 ** 31 - 1;
