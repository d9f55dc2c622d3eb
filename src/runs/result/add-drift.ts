import type { DriftSummary } from '../../events/index.js';
import type { RunDrift } from '../../records/index.js';

/** What a run has met so far that no reader knows, with one more attempt; undefined as long as there is nothing. */
export function addDrift(before: RunDrift | undefined, attempt: DriftSummary | null): RunDrift | undefined {
  if (attempt === null) return before;
  return {
    unknown_types: (before?.unknown_types ?? 0) + sum(attempt.unknown_types),
    unknown_fields: (before?.unknown_fields ?? 0) + sum(attempt.unknown_fields),
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
