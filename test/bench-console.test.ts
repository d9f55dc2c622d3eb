import { expect, it } from 'vitest';
import { readTasks } from '../bench/page-tasks.js';
import type { TraceEvent } from '../bench/page-tasks.js';

const PAGE = 'http://127.0.0.1:7171';
const at = (ts: number, event: Partial<TraceEvent> & { readonly name: string }): TraceEvent => ({
  pid: 1,
  tid: 1,
  ts,
  ...event,
});
const TRACE = [
  at(0, { name: 'thread_name', args: { name: 'CrRendererMain' } }),
  at(0, { name: 'thread_name', pid: 2, args: { name: 'CrRendererMain' } }),
  at(1, { name: 'CommitLoad', args: { data: { url: `${PAGE}/runs` } } }),
  at(2, { name: 'RunTask', dur: 900_000, tdur: 900_000 }),
  at(3, { name: 'firstPaint' }),
  at(4, { name: 'RunTask', dur: 80_000, tdur: 20_000 }),
  at(5, { name: 'RunTask', dur: 60_000, tdur: 30_000 }),
  at(6, { name: 'RunTask', pid: 2, dur: 500_000, tdur: 500_000 }),
  at(7, { name: 'RunTask', tid: 9, dur: 500_000, tdur: 500_000 }),
];

it('measures the main thread of the page, from its first paint on', () => {
  expect(readTasks(TRACE, PAGE)).toEqual({ longest: 30, longestOnWall: 80, count: 2 });
});

it('refuses a trace that does not contain the page', () => {
  expect(() => readTasks(TRACE, 'http://127.0.0.1:1')).toThrow('does not contain the page');
});
