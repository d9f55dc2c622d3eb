import type { DriftSummary, Emitted } from '../../events/index.js';
import type { RunLog } from '../file-names.js';

/** A line of a run's log, before it is text. */
export interface Row {
  readonly log: RunLog;
  readonly value: object;
}

const FCMP_ONLY: readonly RunLog[] = ['fcmp'];
const RASP_ONLY: readonly RunLog[] = ['rasp'];
const RASP_AND_DIAGNOSTICS: readonly RunLog[] = ['rasp', 'diagnostics'];

/** Where an event is kept: RASP and FCMP each in its log, diagnostics once more in theirs. */
export function logsOf({ protocol, event }: Emitted): readonly RunLog[] {
  if (protocol === 'fcmp') return FCMP_ONLY;
  return event.event.category === 'diagnostic' ? RASP_AND_DIAGNOSTICS : RASP_ONLY;
}

/** An event as the rows it is kept in. */
export function rowsOf(emitted: Emitted): Row[] {
  return logsOf(emitted).map((log) => ({ log, value: emitted.event }));
}

/** Where the count of an attempt's drift is kept. */
export function rowOfDrift(summary: DriftSummary): Row {
  return { log: 'diagnostics', value: summary };
}
