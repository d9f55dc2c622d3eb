import type { Superseded } from '../records/index.js';

/** How what waited for a person is settled when a new order takes the place of the run it was about. */
export function supersededBy(runId: string, now: number): Superseded {
  return {
    action: 'superseded',
    who: 'lead',
    why: `Run ${runId} was ordered instead.`,
    new_run_id: runId,
    at: new Date(now).toISOString(),
  };
}
