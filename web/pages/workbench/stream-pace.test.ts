import { expect, it } from 'vitest';
import { paceOf } from './stream-pace.js';

it('a slow text comes piece by piece', () => {
  expect(paceOf(100, 4)).toEqual({ everyMs: 40, pieces: 1 });
});

it('a fast one in several pieces at a time, not faster than a page is drawn', () => {
  expect(paceOf(1000, 1)).toEqual({ everyMs: 33, pieces: 33 });
});

it('a piece longer than what a moment takes stays one piece', () => {
  expect(paceOf(20_000, 512)).toEqual({ everyMs: 33, pieces: 1 });
});
