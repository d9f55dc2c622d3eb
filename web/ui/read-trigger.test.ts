import { expect, test } from 'vitest';
import { readTrigger } from './facts.js';

test('reads a run, a decision or an unknown trigger', () => {
  expect(readTrigger('workrun:2026-11-15-dev-0001')).toEqual({ kind: 'run', runId: '2026-11-15-dev-0001' });
  expect(readTrigger('resolve:01ABC')).toEqual({ kind: 'item', itemId: '01ABC' });
  expect(readTrigger('resolve:')).toEqual({ kind: 'other', text: 'resolve:' });
  expect(readTrigger('later:1')).toEqual({ kind: 'other', text: 'later:1' });
});
