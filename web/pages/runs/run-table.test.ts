import { expect, test } from 'vitest';
import type { RunSummary } from '../../../src/server/api/shapes/run.js';
import { chooseTone } from '../../ui/parts.js';
import { describeRun } from './run-table.js';

const run: RunSummary = {
  id: '01',
  engine: 'codex',
  state: 'running',
  order: null,
  title: 'Fix the test.',
  cancel_requested: false,
  waiting_for: null,
  created_at: '2026-11-15T09:00:00.000Z',
  started_at: '2026-11-15T09:00:01.000Z',
  ended_at: null,
  spec: { prompt: 'Fix the test.\nIt fails.' },
  result: null,
};
const NOW = Date.parse('2026-11-15T09:00:05.000Z');

test('the duration of a running run is the time until now', () => {
  expect(describeRun(run, NOW)).toEqual({
    state: 'running',
    isLive: true,
    title: 'Fix the test.',
    failure: null,
    durationMs: 4000,
  });
});

test('a run that has ended shows its outcome', () => {
  const ended: RunSummary = {
    ...run,
    state: 'ended',
    ended_at: '2026-11-15T09:00:03.500Z',
    result: {
      status: 'failed',
      repair_level: 'none',
      attempts: 1,
      error: { category: 'output', code: 'OUTPUT_NOT_VALIDATED', message: 'No\nJSON.' },
    },
  };
  expect(describeRun(ended, NOW)).toMatchObject({
    state: 'failed',
    isLive: false,
    failure: 'No JSON.',
    durationMs: 2500,
  });
});

test('a run whose cancellation was requested is shown as canceling until it has ended', () => {
  expect(describeRun({ ...run, cancel_requested: true }, NOW).state).toBe('canceling');
});

test("a queued run has no duration, and no duration is negative if the browser's clock is slow", () => {
  expect(describeRun({ ...run, state: 'queued', started_at: null }, NOW).durationMs).toBeNull();
  expect(describeRun(run, NOW - 60_000).durationMs).toBe(0);
});

test('a run without a prompt says so', () => {
  expect(describeRun({ ...run, title: '' }, NOW).title).toBe('No prompt');
});

test('a run whose result waits for a decision is not shown as a success', () => {
  const result = { status: 'success', repair_level: 'none', attempts: 1 } as const;
  const ended: RunSummary = { ...run, state: 'ended', ended_at: '2026-11-15T09:00:03.500Z', result };
  expect(describeRun(ended, NOW).state).toBe('success');
  expect(describeRun(ended, NOW, true).state).toBe('needs-human');
  expect(chooseTone('needs-human')).toBe('warn');
});
