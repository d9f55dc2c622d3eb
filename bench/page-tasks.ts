import type { Browser, Page } from 'playwright-core';

/** Tasks of a page's main thread. */
export interface PageTasks {
  /** Processor time of the longest task after the first paint, in milliseconds. */
  readonly longest: number;
  /** The same as elapsed time, which includes other processes. */
  readonly longestOnWall: number;
  /** The number of tasks after the first paint. */
  readonly count: number;
}

/** One line of a Chromium trace; times in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string; readonly data?: { readonly url?: string } };
}

const CATEGORIES = [
  '-*',
  'toplevel',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'loading',
  '__metadata',
];

/** Traces a page while `act` uses it. */
export async function traceTasks(browser: Browser, page: Page, act: () => Promise<void>): Promise<PageTasks> {
  await browser.startTracing(page, { categories: CATEGORIES });
  await act();
  const trace = await browser.stopTracing();
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { readonly traceEvents: readonly TraceEvent[] };
  return readTasks(traceEvents, new URL(page.url()).origin);
}

/** Finds the main thread that painted a page of `origin`, and measures its tasks after that. */
export function readTasks(events: readonly TraceEvent[], origin: string): PageTasks {
  const commit = events.findLast(({ args }) => args?.data?.url?.startsWith(origin) === true);
  const isMainThread = ({ pid }: TraceEvent): boolean => pid === commit?.pid;
  const thread = events.find(
    (event) => event.name === 'thread_name' && event.args?.name === 'CrRendererMain' && isMainThread(event),
  );
  const paint = events.findLast((event) => event.name === 'firstPaint' && isMainThread(event));
  if (thread === undefined) throw new Error('The trace does not contain the page.');
  const tasks = events.filter(
    ({ name, pid, tid, ts }) =>
      name === 'RunTask' && pid === thread.pid && tid === thread.tid && ts >= (paint?.ts ?? 0),
  );
  return {
    longest: findLongest(tasks.map(({ tdur, dur }) => tdur ?? dur)),
    longestOnWall: findLongest(tasks.map(({ dur }) => dur)),
    count: tasks.length,
  };
}

/** Returns the longest time in milliseconds. */
function findLongest(times: readonly (number | undefined)[]): number {
  return times.reduce<number>((longest, time) => Math.max(longest, (time ?? 0) / 1000), 0);
}
