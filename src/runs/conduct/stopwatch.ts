import type { RunControl } from './run-control.js';

/** Counts the time a run works; it rests while a person thinks. */
export interface Stopwatch {
  go(): void;
  rest(): void;
}

/** Stops the run when it has worked for longer than it may. */
export function startStopwatch(seconds: number, control: RunControl): Stopwatch {
  let left = seconds * 1000;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    go() {
      since = performance.now();
      const reason = `The run worked longer than limits.time_s, ${seconds} s; allow more or ask for less.`;
      timer = setTimeout(() => control.requestStop({ verdict: 'timed_out', reason }), Math.max(0, left));
    },
    rest() {
      clearTimeout(timer);
      left -= performance.now() - since;
    },
  };
}
