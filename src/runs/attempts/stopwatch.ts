import type { RunControl } from './run-control.js';

/** Measures the time a run works, without the time it waits for a person. Starting twice is starting once. */
export interface Stopwatch {
  start(): void;
  pause(): void;
}

/** Stops the run at its time limit. */
export function createStopwatch(seconds: number, control: RunControl): Stopwatch {
  let left = seconds * 1000;
  let since: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (since !== null) return;
      since = performance.now();
      const reason = `The run worked longer than limits.time_s (${seconds} s).`;
      const hint = 'Raise the limit, or ask for less.';
      timer = setTimeout(() => control.requestStop({ verdict: 'timed_out', reason, hint }), Math.max(0, left));
    },
    pause() {
      if (since === null) return;
      clearTimeout(timer);
      left -= performance.now() - since;
      since = null;
    },
  };
}
