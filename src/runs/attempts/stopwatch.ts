import type { RunControl } from './run-control.js';

/** Measures a run's working time, excluding time spent waiting for a user. Starting it twice has no effect. */
export interface Stopwatch {
  start(): void;
  pause(): void;
}

/** Creates a stopwatch that stops the run at its time limit. */
export function createStopwatch(seconds: number, control: RunControl): Stopwatch {
  let left = seconds * 1000;
  let since: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (since !== null) return;
      since = performance.now();
      const reason = `The run worked longer than limits.time_s (${seconds} s).`;
      const hint = 'Raise the limit, or give the agent a smaller task.';
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
