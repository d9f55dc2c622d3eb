import type { DriftSummary } from '../events/protocol/drift-summary.js';
import type { Emitted } from '../events/protocol/emitted.js';
import type { RunLog } from './file-names.js';

/** A line of a run's log, before it is text. */
export interface Row {
  readonly log: RunLog;
  readonly value: object;
}

/** Where an event is kept: RASP and FCMP each in its log, diagnostics once more in theirs. */
export function rowsOf(emitted: Emitted): Row[] {
  if (emitted.protocol === 'fcmp') return [{ log: 'fcmp', value: emitted.event }];
  const rows: Row[] = [{ log: 'rasp', value: emitted.event }];
  if (emitted.event.event.category === 'diagnostic') rows.push({ log: 'diagnostics', value: emitted.event });
  return rows;
}

/** Where the count of an attempt's drift is kept. */
export function rowOfDrift(summary: DriftSummary): Row {
  return { log: 'diagnostics', value: summary };
}
