import { expect, it } from 'vitest';
import type { DriftSummary } from '../../events/index.js';
import { addDrift } from './run-findings.js';

const createDrift = (unknown_types: Record<string, number>, unknown_fields: Record<string, number>): DriftSummary => ({
  summary: 'drift',
  run_id: 'r',
  attempt_number: 1,
  engine: 'codex',
  engine_version: '1',
  unknown_types,
  unknown_fields,
});

it('drift is counted across all attempts', () => {
  const first = addDrift(undefined, createDrift({ 'a.b': 2, c: 1 }, {}));
  expect(first).toEqual({ unknown_types: 3, unknown_fields: 0 });
  expect(addDrift(first, null)).toEqual(first);
  expect(addDrift(first, createDrift({}, { x: 4 }))).toEqual({ unknown_types: 3, unknown_fields: 4 });
});

it('a run without unknown types or fields has no drift', () => {
  expect(addDrift(undefined, null)).toBeUndefined();
});
